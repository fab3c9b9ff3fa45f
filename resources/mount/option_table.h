// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include "resources/mount/options.h"

// Between the rows (options_*.cpp) and the look-up (options.cpp): nobody else includes this.
namespace storpol::option_table {

struct FilesystemTable {
    std::span<const OptionSpec> options;
    std::span<const PropertySpec> properties;
};

// Flags of the VFS and words of mount(8) and systemd; every filesystem has them.
FilesystemTable vfs();
FilesystemTable ext4();  // ext2 and ext3 too: one driver mounts all three
FilesystemTable xfs();
FilesystemTable btrfs();
FilesystemTable f2fs();
FilesystemTable vfat();  // msdos too

// How rows are written.
constexpr OptionSpec flag(std::string_view word, std::string_view property, std::string_view value) {
    OptionSpec spec;
    spec.word = word;
    spec.property = property;
    spec.bare = value;
    return spec;
}

constexpr OptionSpec on(std::string_view word) {
    return flag(word, word, "on");
}

constexpr OptionSpec off(std::string_view word, std::string_view property) {
    return flag(word, property, "off");
}

constexpr OptionSpec number(std::string_view word, std::int64_t min, std::int64_t max) {
    OptionSpec spec;
    spec.word = word;
    spec.property = word;
    spec.form = ValueForm::number;
    spec.min = min;
    spec.max = max;
    return spec;
}

constexpr OptionSpec choice(std::string_view word, std::string_view choices) {
    OptionSpec spec;
    spec.word = word;
    spec.property = word;
    spec.form = ValueForm::choice;
    spec.choices = choices;
    return spec;
}

constexpr OptionSpec text(std::string_view word) {
    OptionSpec spec;
    spec.word = word;
    spec.property = word;
    spec.form = ValueForm::text;
    return spec;
}

constexpr OptionSpec of_class(std::string_view word, OptionClass kind) {
    OptionSpec spec;
    spec.word = word;
    spec.kind = kind;
    spec.form = ValueForm::text;
    return spec;
}

constexpr OptionSpec userspace(std::string_view word) {
    return of_class(word, OptionClass::userspace);
}

constexpr OptionSpec selector(std::string_view word) {
    return of_class(word, OptionClass::selector);
}

constexpr OptionSpec ignored(std::string_view word) {
    return of_class(word, OptionClass::ignored);
}

constexpr OptionSpec of_property(OptionSpec spec, std::string_view property) {
    spec.property = property;
    return spec;
}

constexpr OptionSpec implying(OptionSpec spec, std::string_view implies) {
    spec.implies = implies;
    return spec;
}

constexpr OptionSpec conflicting(OptionSpec spec, std::string_view conflicts) {
    spec.conflicts = conflicts;
    return spec;
}

constexpr OptionSpec since(OptionSpec spec, KernelVersion version) {
    spec.since = version;
    return spec;
}

constexpr OptionSpec removed(OptionSpec spec, KernelVersion version) {
    spec.removed = version;
    return spec;
}

constexpr OptionSpec with_zero(OptionSpec spec, std::string_view zero) {
    spec.zero = zero;
    return spec;
}

constexpr OptionSpec noting(OptionSpec spec, std::string_view note) {
    spec.note = note;
    return spec;
}

// A property that is printed when it is on and off otherwise, with off for its default.
constexpr PropertySpec plain(std::string_view name, AtRemount remount) {
    PropertySpec spec;
    spec.name = name;
    spec.default_value = "off";
    spec.hidden = "off";
    spec.remount = remount;
    return spec;
}

// One that is printed when it differs from `value`, on every kernel and device the same.
constexpr PropertySpec fixed(std::string_view name,
                             std::string_view value,
                             AtRemount remount,
                             std::string_view unit = {}) {
    PropertySpec spec;
    spec.name = name;
    spec.default_value = value;
    spec.hidden = value;
    spec.remount = remount;
    spec.unit = unit;
    return spec;
}

constexpr PropertySpec by(PropertySpec spec, DefaultFrom from, Shown shown) {
    spec.from = from;
    spec.shown = shown;
    return spec;
}

// What absence means now, where that is not what the default is.
constexpr PropertySpec hiding(PropertySpec spec, std::string_view hidden) {
    spec.hidden = hidden;
    return spec;
}

constexpr PropertySpec noting(PropertySpec spec, std::string_view note) {
    spec.note = note;
    return spec;
}

}  // namespace storpol::option_table
