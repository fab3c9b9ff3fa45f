// SPDX-License-Identifier: GPL-3.0-or-later
// What holds where no word says so, and what the running kernel shows: the implicit made explicit.
#include <algorithm>

#include "engine/base/text.h"
#include "resources/mount/option_set.h"
#include "resources/mount/option_value.h"

namespace storpol {
namespace {

constexpr KernelVersion btrfs_async_by_default{6, 2};  // commit 63a7cb130718
constexpr KernelVersion ext4_dioread_nolock{5, 6};
constexpr KernelVersion ext4_block_validity{5, 11};  // not later than that; older ones took it from the superblock
constexpr KernelVersion ext4_drops_discard{6, 18};   // older ones warn and keep the option (6.12 does)

OptionDefault known(std::string_view value, std::string_view from) {
    return OptionDefault{std::string(value), std::string(from)};
}

OptionDefault not_known(std::string why) {
    return OptionDefault{std::nullopt, std::move(why)};
}

OptionDefault btrfs_discard_default(const MountFacts& facts) {
    if (!facts.kernel) return not_known("depends on the kernel version");
    if (*facts.kernel < btrfs_async_by_default) return known("off", "kernel default before 6.2");
    if (!facts.device_discards) return not_known("depends on whether the device has discard");
    return *facts.device_discards ? known("async", "kernel default since 6.2 on a device with discard")
                                  : known("off", "device without discard");
}

OptionDefault device_default(std::string_view fstype, const PropertySpec& spec, const MountFacts& facts) {
    if (fstype == "btrfs" && spec.name == "discard") return btrfs_discard_default(facts);
    if (spec.name == "discard") {
        if (!facts.device_discards) return not_known("depends on whether the device has discard");
        return known(*facts.device_discards ? "on" : "off", "device default");
    }
    if (spec.name == "ssd") {
        if (!facts.rotational) return not_known("depends on whether the device is rotational");
        return known(*facts.rotational ? "off" : "on", "device default");
    }
    return known(spec.default_value, "device default");
}

OptionDefault kernel_default(std::string_view fstype, const PropertySpec& spec, const MountFacts& facts) {
    if (fstype == "ext4" && facts.kernel) {
        if (spec.name == "dioread_nolock")
            return known(*facts.kernel >= ext4_dioread_nolock ? "on" : "off", "kernel default");
        if (spec.name == "block_validity" && *facts.kernel >= ext4_block_validity) return known("on", "kernel default");
    }
    return not_known("depends on the kernel's version or build");
}

OptionDefault superblock_default(std::string_view fstype, const PropertySpec& spec, const MountFacts& facts) {
    if (!facts.superblock_options) return not_known("the filesystem holds the default, which was not read");
    const OptionSet set = parse_options(fstype, *facts.superblock_options, facts.kernel);
    if (const OptionValue* const value = set.find(spec.name)) return known(value->value, "superblock default");
    if (spec.default_value.empty()) return not_known("the filesystem decides");
    return known(spec.default_value, "kernel default");
}

// ext2 and ext3 are mounted by the ext4 driver with one difference (ext4_set_def_opts): no delayed allocation.
bool is_old_ext(std::string_view fstype) {
    return fstype == "ext2" || fstype == "ext3";
}

std::string_view default_class(std::string_view fstype) {
    return is_old_ext(fstype) ? "ext4" : fstype;
}

std::vector<std::string_view> live_words(std::string_view fstype, std::string_view text) {
    // btrfs prints subvol= last and its path may hold commas: nothing after it is a word of its own.
    if (fstype == "btrfs") text = text.substr(0, text.find(",subvol="));
    return split_options(text);
}

// What absence from the text means for a property that the kernel did not show.
OptionDefault hidden_value(std::string_view fstype,
                           const PropertySpec& spec,
                           const MountFacts& facts,
                           bool complete_list) {
    if (spec.shown == Shown::never) return not_known("the kernel does not show it");
    if (complete_list && spec.shown == Shown::when_changed) {
        // The whole list leaves out only flags that have no off word, and a data mode where there is no journal.
        if (spec.default_value == "on" || spec.default_value == "off") return known("off", "not in effect");
        if (spec.name == "data") return known("none", "no journal");
    }
    if (spec.shown == Shown::when_on) {
        if (spec.hidden.empty()) return not_known("the kernel does not show it");
        return known(spec.hidden, "not shown");
    }
    return default_of(fstype, spec.name, facts);
}

// "ssd_spread" alone is shown where both it and ssd are on.
void add_shown_implied(OptionSet& set, const OptionSpec& spec, std::string_view word) {
    for (const std::string_view implied : split_words(spec.implies)) {
        const std::size_t equals = implied.find('=');
        set.settings.try_emplace(
            std::string(implied.substr(0, equals)),
            OptionValue{std::string(implied.substr(equals + 1)), Origin::shown, std::string(word)});
    }
}

void add_shown(OptionSet& set, std::string_view fstype, const std::vector<std::string_view>& words) {
    for (const std::string_view word : words) {
        const OptionSpec* const spec = find_option(fstype, word);
        if (spec == nullptr) {
            set.unknown.emplace_back(word);
        } else if (spec->kind == OptionClass::selector) {
            set.selectors.emplace_back(word);
        } else if (spec->kind == OptionClass::setting) {
            // A kernel never shows what it does not hold: a value that does not parse is one this table does not know.
            const auto value = value_of_word(*spec, word);
            if (value)
                set.settings[std::string(spec->property)] = OptionValue{*value, Origin::shown, std::string(word)};
            else
                set.unknown.emplace_back(word);
        }
    }
    for (const std::string_view word : words) {
        const OptionSpec* const spec = find_option(fstype, word);
        if (spec != nullptr && spec->kind == OptionClass::setting) add_shown_implied(set, *spec, word);
    }
}

}  // namespace

OptionDefault default_of(std::string_view fstype, std::string_view property, const MountFacts& facts) {
    const PropertySpec* const spec = find_property(fstype, property);
    if (spec == nullptr) return not_known("no such option on this filesystem");
    if (is_old_ext(fstype) && property == "delalloc") return known("off", "kernel default");
    switch (spec->from) {
        case DefaultFrom::constant:
            break;
        case DefaultFrom::kernel:
            return kernel_default(default_class(fstype), *spec, facts);
        case DefaultFrom::superblock:
            return superblock_default(fstype, *spec, facts);
        case DefaultFrom::device:
            return device_default(fstype, *spec, facts);
    }
    if (spec->default_value.empty()) return not_known("not known");
    return known(spec->default_value, "kernel default");
}

void add_defaults(OptionSet& set, std::string_view fstype, const MountFacts& facts) {
    for (const PropertySpec* const spec : properties_of(fstype)) {
        if (set.find(spec->name) != nullptr) continue;
        OptionDefault value = default_of(fstype, spec->name, facts);
        const std::string name(spec->name);
        if (value.value)
            set.settings[name] = OptionValue{*value.value, Origin::default_value, value.from};
        else
            set.unknown_settings[name] = value.from;
    }
}

OptionSet expected_live(std::string_view fstype, std::string_view list, const MountFacts& facts) {
    // The superblock's words come first, as if they stood at the front of the list.
    std::string all = facts.superblock_options.value_or("");
    all += ",";
    all += list;
    OptionSet set = parse_options(fstype, all, facts.kernel);
    add_defaults(set, fstype, facts);
    for (const std::string_view word : split_options(list)) {
        const OptionSpec* const spec = find_option(fstype, word);
        const OptionValue* const own = spec == nullptr ? nullptr : set.find(spec->property);
        if (own == nullptr || own->word != word || !set.problems.empty()) continue;
        std::string why = conflict_with(set, fstype, word);
        if (!why.empty()) set.problems.push_back({std::string(word), std::move(why)});
    }
    const bool drops = fstype == "xfs" || fstype == "f2fs" ||
                       (fstype == "ext4" && facts.kernel && *facts.kernel >= ext4_drops_discard);
    if (drops && facts.device_discards == false && set.find("discard") != nullptr) {
        set.settings["discard"] = OptionValue{"off", Origin::implied, "device without discard"};
    }
    return set;
}

OptionSet live_options(std::string_view fstype, const LiveText& text, const MountFacts& facts) {
    OptionSet set;
    std::vector<std::string_view> per_mount = split_options(text.mount_options);
    const bool read_only = std::find(per_mount.begin(), per_mount.end(), "ro") != per_mount.end();
    add_shown(set, fstype, live_words(fstype, text.super_options));
    if (text.ext4_options) {
        std::vector<std::string_view> lines;
        for (const std::string_view line : split_lines(*text.ext4_options)) {
            if (!trim(line).empty() && line != "rw" && line != "ro") lines.push_back(trim(line));
        }
        set.unknown.clear();  // the list repeats them
        add_shown(set, fstype, lines);
    }
    add_shown(set, fstype, per_mount);
    const std::vector<std::string_view> super = live_words(fstype, text.super_options);
    const bool super_read_only = std::find(super.begin(), super.end(), "ro") != super.end();
    set.settings["ro"] = OptionValue{read_only || super_read_only ? "on" : "off", Origin::shown,
                                     read_only || super_read_only ? "ro" : "rw"};
    // Not a flag of its own at the superblock: "lazytime" and the like are shown there, atime modes at the mount.
    for (const PropertySpec* const spec : properties_of(fstype)) {
        if (set.find(spec->name) != nullptr) continue;
        const OptionDefault value = hidden_value(fstype, *spec, facts, text.ext4_options.has_value());
        const std::string name(spec->name);
        if (value.value)
            set.settings[name] = OptionValue{*value.value, Origin::default_value, value.from};
        else
            set.unknown_settings[name] = value.from;
    }
    // ext4 prints journal_async_commit only together with the checksum bit that it implies (_ext4_show_options).
    const OptionValue* const checksum = set.find("journal_checksum");
    const OptionValue* const async = set.find("journal_async_commit");
    if (async != nullptr && async->origin != Origin::shown && (checksum == nullptr || checksum->value == "off")) {
        set.settings.erase("journal_async_commit");
        set.unknown_settings["journal_async_commit"] = "not shown while journal_checksum is off";
    }
    return set;
}

std::string ext4_superblock_options(std::string_view default_mount_opts, std::string_view mount_opts) {
    // tune2fs(8) -o: its names, where they are not those of the mount options.
    static constexpr std::pair<std::string_view, std::string_view> other_names[] = {
        {"journal_data", "data=journal"},
        {"journal_data_ordered", "data=ordered"},
        {"journal_data_writeback", "data=writeback"},
        {"uid16", "nouid32"},
        {"(none)", ""},
    };
    std::vector<std::string> words;
    for (const std::string_view name : split_words(default_mount_opts)) {
        std::string word(name);
        for (const auto& [theirs, ours] : other_names) {
            if (name == theirs) word = ours;
        }
        if (!word.empty()) words.push_back(word);
    }
    for (const std::string_view word : split_options(mount_opts)) words.emplace_back(word);
    return join(words, ",");
}

}  // namespace storpol
