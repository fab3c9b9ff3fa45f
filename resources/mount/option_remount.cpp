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
    if (wanted.property == "atime") plan.set_attributes.push_back(wanted.value);
    else if (wanted.value == "on") plan.set_attributes.push_back(wanted.property);
    else plan.clear_attributes.push_back(wanted.property);
}

// Why a running superblock cannot be brought there; empty where it can.
std::string why_next_mount(std::string_view fstype, const PropertySpec& spec, const WantedValue& wanted) {
    switch (spec.remount) {
        case AtRemount::yes: return {};
        case AtRemount::only_on:
            return wanted.value == "off" ? std::string(fstype) + " has no word that turns " + wanted.property + " off" : "";
        case AtRemount::refused: return std::string(fstype) + " refuses to change " + wanted.property + " by remount";
        case AtRemount::ignored: return std::string(fstype) + " ignores " + wanted.property + " in a remount";
    }
    return {};
}

void change_super(RemountPlan& plan, std::string_view fstype, const PropertySpec& spec, const WantedValue& wanted,
                  std::optional<KernelVersion> kernel) {
    std::string why = why_next_mount(fstype, spec, wanted);
    const auto word = word_for(fstype, wanted.property, wanted.value, kernel);
    if (why.empty() && !word) why = std::string(fstype) + " has no word that sets " + wanted.property + " to " + wanted.value;
    if (why.empty()) plan.super.push_back(parameter_of(*word));
    else plan.next_mount[wanted.property] = why;
}

bool names(const std::vector<SuperParameter>& parameters, std::string_view fstype, std::string_view property) {
    return std::any_of(parameters.begin(), parameters.end(), [&](const SuperParameter& parameter) {
        const OptionSpec* const spec = find_option(fstype, to_text(parameter));
        return spec != nullptr && spec->property == property;
    });
}

// f2fs starts a remount from its defaults (default_options(sbi, true)), so all that is live is said again.
void repeat_live(RemountPlan& plan, std::string_view fstype, const OptionSet& live, std::optional<KernelVersion> kernel) {
    std::vector<SuperParameter> repeated;
    for (const auto& entry : live.settings) {
        const PropertySpec* const spec = find_property(fstype, entry.first);
        if (spec == nullptr || spec->scope == Scope::per_mount || entry.second.origin != Origin::shown) continue;
        if (entry.first == "ro" || names(plan.super, fstype, entry.first)) continue;
        if (const auto word = word_for(fstype, entry.first, entry.second.value, kernel)) repeated.push_back(parameter_of(*word));
    }
    plan.super.insert(plan.super.begin(), repeated.begin(), repeated.end());
}

}  // namespace

std::string to_text(const SuperParameter& parameter) {
    return parameter.value ? parameter.key + "=" + *parameter.value : parameter.key;
}

OptionSet after_reconfigure(std::string_view fstype, const OptionSet& live, std::span<const SuperParameter> parameters,
                            std::optional<KernelVersion> kernel) {
    std::vector<std::string> words;
    bool inode32 = false;
    for (const SuperParameter& parameter : parameters) {
        std::string word = to_text(parameter);
        inode32 = word == "inode32" || (inode32 && word != "inode64");
        const OptionSpec* const spec = find_option(fstype, word);
        const PropertySpec* const property = spec == nullptr ? nullptr : find_property(fstype, spec->property);
        const bool ignored = property != nullptr && property->remount == AtRemount::ignored;
        if (!ignored) words.push_back(std::move(word));
    }
    OptionSet set = apply_options(live, fstype, join(words, ","), kernel);
    if (fstype == "xfs" && !inode32) set.settings["inode-size"].value = "64";
    return set;
}

RemountPlan plan_remount(std::string_view fstype, const OptionSet& live, std::span<const WantedValue> wanted, const MountFacts& facts) {
    RemountPlan plan;
    std::vector<std::string> asked;
    for (const WantedValue& one : wanted) {
        const PropertySpec* const spec = find_property(fstype, one.property);
        const OptionValue* const now = live.find(one.property);
        if (spec == nullptr || (now != nullptr && now->value == one.value)) continue;
        asked.push_back(one.property);
        if (spec->scope == Scope::per_mount || one.property == "ro") change_attribute(plan, one);
        if (spec->scope != Scope::per_mount) change_super(plan, fstype, *spec, one, facts.kernel);
    }
    if (plan.super.empty()) return plan;
    const OptionValue* const inode_size = live.find("inode-size");
    if (fstype == "xfs" && inode_size != nullptr && inode_size->value == "32" && !names(plan.super, fstype, "inode-size")) {
        plan.super.insert(plan.super.begin(), {"inode32", std::nullopt});
    }
    if (fstype == "f2fs") repeat_live(plan, fstype, live, facts.kernel);
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
