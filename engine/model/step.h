// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// Effects as data: what can be printed, compared, stored and undone. Performing them is engine/host's.
namespace storpol {

// The lines of one address in a file that storpol owns (engine/text/own_file.h): set, or taken out when `lines` is
// empty.
struct OwnLines {
    std::string address;
    std::string section;  // "[Timer]" in unit files; empty elsewhere
    std::vector<std::string> lines;
    bool operator==(const OwnLines&) const = default;
};

// Words of one comma-separated field on one line of a file that others also edit (fstab, crypttab); all else keeps its
// bytes.
struct FieldWords {
    int line = 0;   // from 1
    int field = 0;  // from 1
    std::vector<std::string> take_out;
    std::vector<std::string> put_in;
    bool operator==(const FieldWords&) const = default;
};

// A line behind all others of a file that others also edit, or of one that is not there yet.
struct NewLine {
    std::string text;
    bool operator==(const NewLine&) const = default;
};

// One edit as a resource makes it. The planner folds all edits of a file into one ReplaceFile or DeleteFile.
struct EditFile {
    std::string path;
    std::string digest;  // of the bytes the edit was made from; no_file_digest where there was none
    std::variant<OwnLines, FieldWords, NewLine> edit;
    bool operator==(const EditFile&) const = default;
};

// A file made or replaced atomically (facts: same directory, owner, mode, xattrs, fsync, rename). Refuses on another
// digest.
struct ReplaceFile {
    std::string path;
    std::string before;    // digest
    std::string bytes;     // the whole new content
    unsigned mode = 0644;  // for a new file; an old one keeps owner, mode and xattrs
    bool operator==(const ReplaceFile&) const = default;
};

struct DeleteFile {
    std::string path;
    std::string before;  // digest
    bool operator==(const DeleteFile&) const = default;
};

// A symbolic link made, replaced or, where `target` is empty, removed: how units are enabled and masked. Its state is
// where the link leads, or no_file_digest. Refuses when that is not `before`, and what is no link.
struct SetLink {
    std::string path;
    std::string before;  // where it led; no_file_digest where there was none
    std::string target;
    bool operator==(const SetLink&) const = default;
};

// One value of the running kernel below /proc/sys or /sys, read back after writing.
struct WriteAttribute {
    std::string path;
    std::string value;
    bool operator==(const WriteAttribute&) const = default;
};

// Options of a mounted filesystem changed in place, naming only what changes. Its state is the mount's id, flags and
// options as mountinfo shows them. Another mount than the plan saw is ErrorKind::changed.
struct Remount {
    std::string target;
    std::string mount_id;                 // mountinfo field 1
    std::vector<std::string> flags;       // of the mount: "noatime", "nodev", ...; what mount_setattr(2) sets
    std::vector<std::string> parameters;  // of the superblock, as fsconfig(2) takes them: "commit=300", "nodiscard"
    bool operator==(const Remount&) const = default;
};

// The service manager reads its unit files (and what its generators make of fstab) anew.
struct DaemonReload {
    bool operator==(const DaemonReload&) const = default;
};

// A unit started, or stopped, by the service manager. Its state is the unit's ActiveState.
struct StartUnit {
    std::string unit;
    bool stop = false;
    bool operator==(const StartUnit&) const = default;
};

// Persistent activation flags of a LUKS2 header, as `cryptsetup luksDump` names them ("allow-discards"): those named
// change, the others stay. Needs no secret. Its state is the header's flags, sorted, with commas.
struct SetLuksFlags {
    std::string mapping;  // the name it is opened by: what plans and people call it
    std::string device;   // that holds the header
    std::string uuid;     // of the header; another one there is ErrorKind::changed
    std::vector<std::string> put_in;
    std::vector<std::string> take_out;
    bool operator==(const SetLuksFlags&) const = default;
};

// Where the key for a refresh comes from. Never the key itself.
struct KeyFile {
    std::string path;
    std::uint64_t offset = 0;  // bytes; crypttab's keyfile-offset= and keyfile-size= (0: to its end)
    std::uint64_t size = 0;
    bool operator==(const KeyFile&) const = default;
};

struct LuksToken {  // any token of the header that asks for no PIN
    bool operator==(const LuksToken&) const = default;
};

struct LinkedVolumeKey {
    std::string description;  // "%logon:cryptsetup:root", as crypttab's link-volume-key= names it
    bool operator==(const LinkedVolumeKey&) const = default;
};

struct AskedPassphrase {  // typed at the terminal (apply --ask-passphrase)
    bool operator==(const AskedPassphrase&) const = default;
};

using KeySource = std::variant<KeyFile, LuksToken, LinkedVolumeKey, AskedPassphrase>;

// Flags of an open dm-crypt mapping, changed while it is in use (cryptsetup refresh). In SetLuksFlags' words; those
// that are not named stay as they are. Its state is the mapping's flags, sorted, with commas.
struct RefreshMapping {
    std::string mapping;
    std::string dm_uuid;  // "CRYPT-LUKS2-..."; another one is ErrorKind::changed
    std::vector<std::string> put_in;
    std::vector<std::string> take_out;
    KeySource key;
    bool operator==(const RefreshMapping&) const = default;
};

// The same device-mapper table loaded once more, so that the device takes up the limits of what lies below it. What the
// kernel resets with it (read_ahead_kb) is put right. Its state is the device's discard_max_bytes.
struct ReloadTable {
    std::string mapping;
    std::string dm_uuid;  // "LVM-..."; another one is ErrorKind::changed
    bool operator==(const ReloadTable&) const = default;
};

// How a thin pool treats discards: "passdown", "nopassdown" or "ignore", now and in LVM's metadata.
struct ChangeThinPool {
    std::string pool;  // "vg0/pool"
    std::string discards;
    bool operator==(const ChangeThinPool&) const = default;
};

// A zram device reset and set up as this says, in the order the kernel asks for, and in use as swap where it is to be.
// One that is swapped on is taken out first, if the memory for what is in it is there. Where it fails behind that, what
// was there before is made again. Its state is what the kernel shows of it; of one that is not set up or not there,
// "not set up".
struct SetUpZram {
    std::string device;                // "/dev/zram0"; added where there is none
    std::uint64_t size = 0;            // bytes before compression; 0: out of use, and reset
    std::string algorithm;             // empty: the kernel's default
    std::string parameters;            // of the algorithm, as the kernel takes them: "level=3"
    std::uint64_t resident_limit = 0;  // bytes; 0: none
    bool is_swap = true;
    int priority = -1;    // of the swap; negative: none given
    std::string discard;  // of the swap: "" (none), "on", "once", "pages"
    std::string unit;     // of the service manager that sets it up, started anew instead; empty: none does
    bool operator==(const SetUpZram&) const = default;
};

// A swap area taken into use with these flags, or (off) out of it. One that is in use otherwise is taken out first: the
// kernel changes no flags of an area in use. Its state is "off", "on" or "on priority=N".
struct UseSwap {
    std::string device;
    bool off = false;
    int priority = -1;    // negative: none given
    std::string discard;  // "" (none), "on", "once", "pages"
    bool operator==(const UseSwap&) const = default;
};

// A program of the distribution that makes boot artefacts from files. Only those of a closed list run
// (engine/host/generators.h). It has no state: run once more it makes the same.
struct RunGenerator {
    std::string program;               // "/usr/sbin/update-initramfs"
    std::vector<std::string> options;  // "-u", "-k", "all"
    std::string target;                // the artefact or program people know: "/boot/initrd.img-6.1.0-18-amd64"
    bool operator==(const RunGenerator&) const = default;
};

using Step = std::variant<EditFile,
                          ReplaceFile,
                          DeleteFile,
                          SetLink,
                          WriteAttribute,
                          Remount,
                          DaemonReload,
                          StartUnit,
                          SetLuksFlags,
                          RefreshMapping,
                          ReloadTable,
                          ChangeThinPool,
                          SetUpZram,
                          UseSwap,
                          RunGenerator>;

// DESIGN "Verbs, closed within a format". One per kind of effect.
enum class Verb {
    write,
    edit,
    create,
    remove,
    drop_in,
    enable_unit,
    disable_unit,
    start_unit,
    remount,
    set_luks2_flag,
    clear_luks2_flag,
    refresh_mapping,
    reload_table,
    change_thin_pool,
    set_up_zram,
    swap_off,
    swap_on,
    daemon_reload,
    reload_udev,
    rebuild_initramfs,
    update_bootloader,
    set_kernel_argument,
};
std::string_view to_text(Verb verb);  // "drop-in", "delete" for remove, ...
std::optional<Verb> parse_verb(std::string_view text);

// What a step touches: the path, device, mount point or unit, "systemd" for a daemon-reload. Two steps with the same
// target are of one thing.
std::string target_of(const Step& step);
// True for the steps an image (--root) can take: files and links.
bool is_file_step(const Step& step);

}  // namespace storpol
