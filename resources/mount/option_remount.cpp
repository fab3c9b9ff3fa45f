// SPDX-License-Identifier: GPL-3.0-or-later
// What a running mount can be told, and what it then holds (facts: mount_setattr(2) for flags of one mount, fsconfig(2)
// reconfigure for the superblock; neither touches what it does not name, but for xfs and f2fs).
#include <algorithm>

#include "engine/base/text.h"
#include "resources/mount/option_change.h"
#include "resources/mount/option_value.h"

namespace storpol {
namespace {

SuperParameter parameter_of(std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return {std::string(word), std::nullopt};
    return {std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))};
}

void change_attribute(RemountPlan& plan, const WantedValue& wanted) {
    if (wanted.property == "atime")
        plan.set_attributes.push_back(wanted.value);
    else if (wanted.value == "on")
        plan.set_attributes.push_back(wanted.property);
    else
        plan.clear_attributes.push_back(wanted.property);
}

// Why a running superblock cannot be brought there; empty where it can.
std::string why_next_mount(std::string_view fstype, const PropertySpec& spec, const WantedValue& wanted) {
    switch (spec.remount) {
        case AtRemount::yes:
            return {};
        case AtRemount::only_on:
            return wanted.value == "off" ? std::string(fstype) + " has no word that turns " + wanted.property + " off"
                                         : "";
        case AtRemount::refused:
            return std::string(fstype) + " refuses to change " + wanted.property + " by remount";
        case AtRemount::ignored:
            return std::string(fstype) + " ignores " + wanted.property + " in a remount";
    }
    return {};
}

// A mount takes dioread_nolock back silently beside data=journal; a remount refuses it (kernel fs/ext4/super.c).
bool excluded_while_live(std::string_view fstype, const OptionSet& live, const WantedValue& wanted) {
    if (fstype != "ext4" || wanted.property != "dioread_nolock" || wanted.value != "on") return false;
    const OptionValue* const data = live.find("data");
    return data != nullptr && data->value == "journal";
}

void change_super(RemountPlan& plan,
                  std::string_view fstype,
                  const OptionSet& live,
                  const WantedValue& wanted,
                  std::optional<KernelVersion> kernel) {
    std::string why = why_next_mount(fstype, *find_property(fstype, wanted.property), wanted);
    const auto word = word_for(fstype, wanted.property, wanted.value, kernel);
    if (why.empty() && !word)
        why = std::string(fstype) + " has no word that sets " + wanted.property + " to " + wanted.value;
    if (why.empty()) why = conflict_with(live, fstype, *word);
    if (why.empty() && excluded_while_live(fstype, live, wanted)) why = *word + " excludes data=journal";
    if (why.empty())
        plan.super.push_back(parameter_of(*word));
    else
        plan.next_mount[wanted.property] = why;
}

bool names(const std::vector<SuperParameter>& parameters, std::string_view fstype, std::string_view property) {
    return std::any_of(parameters.begin(), parameters.end(), [&](const SuperParameter& parameter) {
        const OptionSpec* const spec = find_option(fstype, to_text(parameter));
        return spec != nullptr && spec->property == property;
    });
}

// What this table has no setting for is said again as it was shown (a list such as compress_extension, an option of a
// newer kernel): a refusal is better than a loss. Words of the mount and of security modules are no business of f2fs.
bool repeats_as_shown(std::string_view fstype, const std::string& word) {
    const OptionSpec* const own = find_option(fstype, word);
    return own == nullptr || own != find_option("", word);
}

// f2fs starts a remount from its defaults (default_options(sbi, true)), so all that is live is said again.
void repeat_all(RemountPlan& plan,
                std::string_view fstype,
                const OptionSet& live,
                std::optional<KernelVersion> kernel) {
    std::vector<SuperParameter> repeated;
    for (const auto& entry : live.settings) {
        const PropertySpec* const spec = find_property(fstype, entry.first);
        if (spec == nullptr || spec->scope == Scope::per_mount) continue;
        // Not shown is as by default, or off where the kernel has no word for off (flush_merge).
        if (entry.second.origin != Origin::shown && spec->hidden == spec->default_value) continue;
        if (entry.first == "ro" || names(plan.super, fstype, entry.first)) continue;
        if (const auto word = word_for(fstype, entry.first, entry.second.value, kernel))
            repeated.push_back(parameter_of(*word));
    }
    for (const auto* words : {&live.selectors, &live.unknown}) {
        for (const std::string& word : *words) {
            if (repeats_as_shown(fstype, word)) repeated.push_back(parameter_of(word));
        }
    }
    plan.super.insert(plan.super.begin(), repeated.begin(), repeated.end());
}

// One word that the filesystem forgets when a remount does not name it.
struct Forgotten {
    std::string_view fstype;
    std::string_view property;
    std::string_view value;
    std::string_view word;
    std::string_view otherwise;  // what it falls back to
};

constexpr Forgotten forgotten[] = {
    {"xfs", "inode-size", "32", "inode32", "64"},  // xfs_fs_reconfigure
    {"btrfs", "acl", "off", "noacl", "on"},        // seen on 6.18
};

void repeat_forgotten(RemountPlan& plan, std::string_view fstype, const OptionSet& live) {
    for (const Forgotten& one : forgotten) {
        const OptionValue* const now = live.find(one.property);
        if (one.fstype != fstype || now == nullptr || now->value != one.value ||
            names(plan.super, fstype, one.property))
            continue;
        plan.super.insert(plan.super.begin(), {std::string(one.word), std::nullopt});
    }
}

}  // namespace

std::string to_text(const SuperParameter& parameter) {
    return parameter.value ? parameter.key + "=" + *parameter.value : parameter.key;
}

OptionSet after_reconfigure(std::string_view fstype,
                            const OptionSet& live,
                            std::span<const SuperParameter> parameters,
                            std::optional<KernelVersion> kernel) {
    OptionSet before = live;
    std::vector<std::string> words;
    for (const SuperParameter& parameter : parameters) words.push_back(to_text(parameter));
    for (const Forgotten& one : forgotten) {
        if (one.fstype == fstype) before.settings[std::string(one.property)].value = one.otherwise;
    }
    OptionSet set = apply_options(before, fstype, join(words, ","), kernel);
    for (const PropertySpec* const spec : properties_of(fstype)) {
        const OptionValue* const old = live.find(spec->name);
        if (spec->remount == AtRemount::ignored && old != nullptr) set.settings[std::string(spec->name)] = *old;
    }
    return set;
}

RemountPlan plan_remount(std::string_view fstype,
                         const OptionSet& live,
                         std::span<const WantedValue> wanted,
                         const MountFacts& facts) {
    RemountPlan plan;
    std::vector<std::string> asked;
    for (const WantedValue& one : wanted) {
        const PropertySpec* const spec = find_property(fstype, one.property);
        const OptionValue* const now = live.find(one.property);
        if (spec == nullptr || (now != nullptr && now->value == one.value)) continue;
        asked.push_back(one.property);
        if (spec->scope == Scope::per_mount || one.property == "ro") change_attribute(plan, one);
        if (spec->scope != Scope::per_mount) change_super(plan, fstype, live, one, facts.kernel);
    }
    if (plan.super.empty()) return plan;
    repeat_forgotten(plan, fstype, live);
    if (fstype == "f2fs") repeat_all(plan, fstype, live, facts.kernel);
    const OptionSet after = after_reconfigure(fstype, live, plan.super, facts.kernel);
    for (const auto& entry : after.settings) {
        const OptionValue* const old = live.find(entry.first);
        const bool was_asked = std::find(asked.begin(), asked.end(), entry.first) != asked.end();
        if (old == nullptr || old->value == entry.second.value || was_asked) continue;
        plan.side_effects.push_back(entry.first + ": " + old->value + " to " + entry.second.value);
    }
    return plan;
}

}  // namespace storpol
