// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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

// One edit as a resource makes it. The planner folds all edits of a file into one ReplaceFile or DeleteFile.
struct EditFile {
    std::string path;
    std::string digest;  // of the bytes the edit was made from; no_file_digest where there was none
    std::variant<OwnLines, FieldWords> edit;
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

using Step = std::variant<EditFile, ReplaceFile, DeleteFile, WriteAttribute, Remount, DaemonReload>;

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
