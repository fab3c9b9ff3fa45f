// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/options.h"

#include <array>
#include <charconv>
#include <map>

#include "engine/base/text.h"
#include "resources/mount/option_table.h"

namespace storpol {
namespace {

using option_table::FilesystemTable;

FilesystemTable own_table(std::string_view fstype) {
    if (fstype == "ext4" || fstype == "ext3" || fstype == "ext2") return option_table::ext4();
    if (fstype == "xfs") return option_table::xfs();
    if (fstype == "btrfs") return option_table::btrfs();
    if (fstype == "f2fs") return option_table::f2fs();
    if (fstype == "vfat" || fstype == "msdos") return option_table::vfat();
    return {};
}

std::array<FilesystemTable, 2> tables_for(std::string_view fstype) {
    return {own_table(fstype), option_table::vfs()};
}

// "x-*" is a row for every word with that beginning.
bool names(std::string_view row, std::string_view key) {
    if (!row.empty() && row.back() == '*') return key.starts_with(row.substr(0, row.size() - 1));
    return row == key;
}

bool takes(const OptionSpec& spec, bool with_value) {
    if (spec.kind != OptionClass::setting) return true;
    return with_value ? spec.form != ValueForm::flag : spec.form == ValueForm::flag || !spec.bare.empty();
}

}  // namespace

const OptionSpec* find_option(std::string_view fstype, std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const bool with_value = equals != std::string_view::npos;
    for (const FilesystemTable& table : tables_for(fstype)) {
        const OptionSpec* near_miss = nullptr;
        for (const OptionSpec& spec : table.options) {
            if (!names(spec.word, key)) continue;
            if (takes(spec, with_value)) return &spec;
            if (near_miss == nullptr) near_miss = &spec;
        }
        if (near_miss != nullptr) return near_miss;
    }
    return nullptr;
}

const PropertySpec* find_property(std::string_view fstype, std::string_view property) {
    for (const FilesystemTable& table : tables_for(fstype)) {
        for (const PropertySpec& spec : table.properties) {
            if (spec.name == property) return &spec;
        }
    }
    return nullptr;
}

std::vector<const OptionSpec*> options_of(std::string_view fstype) {
    std::vector<const OptionSpec*> all;
    for (const FilesystemTable& table : tables_for(fstype)) {
        for (const OptionSpec& spec : table.options) all.push_back(&spec);
    }
    return all;
}

const std::vector<const PropertySpec*>& properties_of(std::string_view fstype) {
    // Asked for each mount of a host: worked out once for each of the few tables.
    static std::map<const OptionSpec*, std::vector<const PropertySpec*>> by_table;
    const auto [at, is_new] = by_table.try_emplace(own_table(fstype).options.data());
    if (!is_new) return at->second;
    for (const FilesystemTable& table : tables_for(fstype)) {
        for (const PropertySpec& spec : table.properties) {
            if (find_property(fstype, spec.name) == &spec) at->second.push_back(&spec);
        }
    }
    return at->second;
}

bool is_known_filesystem(std::string_view fstype) {
    return !own_table(fstype).options.empty();
}

OptionClass classify_option(std::string_view fstype, std::string_view word, std::optional<KernelVersion> kernel) {
    const OptionSpec* const spec = find_option(fstype, word);
    if (spec == nullptr) return OptionClass::unknown;
    const bool gone = spec->removed != KernelVersion{} && (!kernel || *kernel >= spec->removed);
    if (gone) return OptionClass::removed;
    if (kernel && *kernel < spec->since) return OptionClass::unknown;
    return spec->kind;
}

std::string_view to_text(OptionClass kind) {
    switch (kind) {
        case OptionClass::setting:
            return "setting";
        case OptionClass::userspace:
            return "userspace";
        case OptionClass::selector:
            return "selector";
        case OptionClass::ignored:
            return "ignored";
        case OptionClass::removed:
            return "removed";
        case OptionClass::unknown:
            return "unknown";
    }
    return "";
}

std::string_view to_text(AtRemount remount) {
    switch (remount) {
        case AtRemount::yes:
            return "by remount";
        case AtRemount::only_on:
            return "on by remount, off by a new mount";
        case AtRemount::refused:
            return "by a new mount; a remount is refused";
        case AtRemount::ignored:
            return "by a new mount; a remount is ignored";
    }
    return "";
}

}  // namespace storpol
