// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/topology/kernel_version.h"

// What is known of mount options, as data: per filesystem the words that may be written, and the settings
// ("properties") that they set. Words that exclude each other set one property: noatime, relatime and strictatime set
// "atime"; barrier and nobarrier set "barrier"; compress and compress-force set "compress". Meaning on top of it is
// option_set.h.
//
// Values are text in one spelling: "on"/"off" for flags, decimal numbers in the property's unit, sizes in bytes, words
// as the kernel shows them ("zstd:3", "force-zstd:3", "remount-ro").
namespace storpol {

enum class OptionClass {
    setting,    // sets a property of this table
    userspace,  // for mount(8), systemd or a desktop; never reaches the kernel: nofail, noauto, user, _netdev, x-*, ...
    selector,  // chooses what is mounted or how it is opened: subvol=, bind, loop, device=, context=; no policy sets it
    ignored,   // accepted and without effect: defaults, ext4 oldalloc, nobh, ...
    removed,   // this kernel refuses it, so that the mount fails: xfs barrier since 4.19
    unknown,   // not in this table: opaque, never an error
};

enum class ValueForm {
    flag,     // a bare word
    number,   // the kernel's own reading: decimal, 0x hexadecimal, leading 0 octal
    size,     // number with k, m or g; the value is in bytes
    truth,    // a number; 0 is off, any other on
    octal,    // permission bits
    choice,   // one of a closed list
    special,  // a rule of its own (btrfs compress)
    text,     // opaque
};

enum class Power {
    any,
    required,    // 0 or a power of two
    lowest_bit,  // the kernel takes the lowest bit that is set for the whole: 12k is 4k
};

// One word as it may stand in an options list, without "=value".
struct OptionSpec {
    std::string_view word;
    OptionClass kind = OptionClass::setting;
    std::string_view property;  // the setting it belongs to; empty unless `kind` is setting
    ValueForm form = ValueForm::flag;
    std::string_view bare;     // the property's value when the word stands alone; empty: it needs a value
    std::string_view choices;  // "ordered|writeback|journal"; "a=b" means b where a is written
    std::int64_t min = 0;      // number and size
    std::int64_t max = 0;
    bool clamps = false;  // what lies outside becomes the nearest bound, without an error
    Power power = Power::any;
    std::string_view zero;       // what 0 stands for: commit=0 is the default
    std::string_view implies;    // set along with it, in the order of the list: "datasum=off compress=off"
    std::string_view conflicts;  // properties that the kernel refuses together with it: "data=ordered"
    KernelVersion since{};       // first kernel that knows it; {} for long ago
    KernelVersion removed{};     // first kernel that refuses it; {} for none
    std::string_view note;
};

enum class Scope { per_mount, superblock };

enum class DefaultFrom {
    constant,    // the same on every kernel the table covers
    kernel,      // differs by kernel version or build
    superblock,  // written in the filesystem (tune2fs -o, mkfs)
    device,      // by what the device can do
};

enum class Shown {
    always,        // /proc/self/mountinfo has it whatever it is
    when_on,       // absent means `hidden`, which is a fact about now
    when_changed,  // absent means the default, which may come from the superblock
    never,
};

enum class AtRemount {
    yes,      // every change takes effect
    only_on,  // can be switched on; off has no word and needs a new mount
    refused,  // the kernel refuses a change: next-mount
    ignored,  // success is returned and nothing changes: next-mount
};

// One setting of a filesystem.
struct PropertySpec {
    std::string_view name;
    Scope scope = Scope::superblock;
    std::string_view unit;           // "s", "us", "bytes", "KiB"; empty for words
    std::string_view default_value;  // without any word; empty where `from` alone decides
    DefaultFrom from = DefaultFrom::constant;
    Shown shown = Shown::when_on;
    std::string_view hidden;  // Shown::when_on: what absence means
    AtRemount remount = AtRemount::yes;
    std::string_view note;
};

// The word's row for a filesystem, the flags that every filesystem knows included. `word` may have a "=value", which is
// passed over. Null for a word the table does not know: unknown, to be left alone. Of several rows of a word (barrier
// and barrier=N) it is the one that fits `word`. "x-anything" finds the row "x-*".
const OptionSpec* find_option(std::string_view fstype, std::string_view word);

const PropertySpec* find_property(std::string_view fstype, std::string_view property);

// Own rows first, then those every filesystem knows.
std::vector<const OptionSpec*> options_of(std::string_view fstype);
const std::vector<const PropertySpec*>& properties_of(std::string_view fstype);

// True where the table knows this filesystem's own options (ext2, ext3, ext4, xfs, btrfs, f2fs, vfat, msdos); else only
// the words every filesystem knows mean anything, and all others are unknown.
bool is_known_filesystem(std::string_view fstype);

// OptionClass of a word on a kernel: `removed` and a word that is newer than the kernel (unknown) included. Without a
// kernel the table's newest kernel is assumed.
OptionClass classify_option(std::string_view fstype, std::string_view word, std::optional<KernelVersion> kernel = {});

std::string_view to_text(OptionClass kind);
std::string_view to_text(AtRemount remount);

}  // namespace storpol
