// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/wishes.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/topology/block_device.h"
#include "resources/mount/option_set.h"
#include "resources/mount/target_value.h"

namespace storpol {
namespace {

// "x-systemd.device-timeout" of "x-systemd.device-timeout=10s".
std::string head_of(std::string_view word) {
    return std::string(word.substr(0, word.find('=')));
}

bool has_discard(std::string_view fstype) {
    return find_property(fstype, "discard") != nullptr;
}

// The same by meaning: two rules may spell one wish differently.
bool agree(const MountWish& one, const MountWish& other) {
    return one.condition == other.condition;
}

}  // namespace

const Backing& backing_of(const ManagedFilesystem& filesystem, const MountTable* table, const Backings& backings) {
    for (const auto& mount : filesystem.mounts) {
        const auto* superblock = mount.live && table != nullptr ? table->superblock_of(*mount.live) : nullptr;
        if (superblock != nullptr) return backings.of(*superblock);
    }
    Superblock described;
    described.fstype = filesystem.fstype;
    described.source = path_of_tag(filesystem.mounts.front().source);
    return backings.of(described);
}

bool WishMaker::matches(const MountRule& rule, const ManagedFilesystem& filesystem, const ManagedMount& mount) {
    if (is_pseudo_filesystem(filesystem.fstype) && !rule.names_fstype()) return false;
    if (mount.is_bind && !(rule.names_target() && *rule.target == mount.target)) return false;
    if (rule.target && !glob_match(*rule.target, mount.target)) return false;
    if (rule.fstype && !glob_match(*rule.fstype, filesystem.fstype)) return false;
    if (rule.source && !glob_match(*rule.source, mount.source) && !glob_match(*rule.source, path_of_tag(mount.source)))
        return false;
    return matches_label(rule, filesystem, mount) && matches_backing(rule, filesystem, mount);
}

bool WishMaker::matches_label(const MountRule& rule,
                              const ManagedFilesystem& filesystem,
                              const ManagedMount& mount) const {
    if (!rule.label) return true;
    const auto label = filesystem.device ? facts_.labels.find(filesystem.device->name) : facts_.labels.end();
    if (label != facts_.labels.end()) return glob_match(*rule.label, label->second);
    return mount.source.starts_with("LABEL=") && glob_match(*rule.label, mount.source.substr(6));
}

// Last of all keys: only here the stack of devices is walked.
bool WishMaker::matches_backing(const MountRule& rule, const ManagedFilesystem& filesystem, const ManagedMount& mount) {
    if (!rule.backing.is_given()) return true;
    if (is_pseudo_filesystem(filesystem.fstype)) return false;
    const auto& backing = backing_of(filesystem, table_, backings_);
    const auto holds = rule.backing.holds(backing);
    if (!holds && noted_.insert(mount.target).second) {
        Finding finding;
        finding.code = "backing-unknown";
        finding.severity = mount.live && !rule.is_builtin ? Severity::warning : Severity::info;
        finding.says = "whether " + mount.target + " lies on the disks that this rule means is not known (" +
                       (backing.unknown.empty() ? "a mapping below it does not say what it is" : backing.unknown) +
                       "), so the rule leaves it alone";
        finding.where = to_text(rule.place);
        notes_.add(finding);
    }
    return holds.value_or(false);
}

void WishMaker::want(Wishes& wishes,
                     const MountRule& rule,
                     const MountWord& word,
                     const ManagedFilesystem& filesystem,
                     const ManagedMount& mount) {
    const auto kind = classify_option(filesystem.fstype, word.text, facts_.kernel);
    MountWish wish;
    wish.text = word.text;
    wish.policy = {word.place};
    if (kind == OptionClass::userspace) {
        wish.kind = MountWish::Kind::userspace;
        wish.property = head_of(word.text);
        wish.condition = Is{word.text};
        wishes[wish.property] = std::move(wish);
        return;
    }
    if (kind == OptionClass::setting) {
        const auto wanted = wanted_option(filesystem.fstype, word.text, facts_.kernel);
        if (wanted) {
            wish.property = wanted->first;
            wish.condition = Is{option_value(wanted->second)};
            wishes[wish.property] = std::move(wish);
            return;
        }
        wish.why = wanted.error().what;
    }
    wish.property = head_of(word.text);
    wish.condition = Is{word.text};
    if (kind == OptionClass::unknown && !is_known_filesystem(filesystem.fstype)) {
        wish.kind = MountWish::Kind::unknown;
        wish.why = "what " + quote_json(word.text) + " means on " + filesystem.fstype + " is not in the option table";
        wishes[wish.property] = std::move(wish);
        return;
    }
    const auto says =
        quote_json(word.text) + " is not an option of " + filesystem.fstype + (wish.why.empty() ? "" : ": " + wish.why);
    if (rule.names_target() && !rule.is_builtin) {
        wish.kind = MountWish::Kind::impossible;
        wish.why = says;
        wishes[wish.property] = std::move(wish);
        return;
    }
    Finding finding;
    finding.code = "option-not-of-filesystem";
    finding.severity = Severity::info;
    finding.says = says + "; left out at " + mount.target;
    finding.where = to_text(word.place);
    notes_.add(finding);
}

void WishMaker::forbid(Wishes& wishes, const MountWord& word, const ManagedFilesystem& filesystem) {
    const auto forbidden = forbidden_option(filesystem.fstype, word.text);
    if (!forbidden) return;  // a word this filesystem does not have cannot be in force here
    Not condition;
    for (const auto& value : forbidden->values) condition.values.push_back(option_value(value));
    const auto wanted = wishes.find(forbidden->property);
    if (wanted == wishes.end()) {
        MountWish wish;
        wish.property = forbidden->property;
        wish.condition = condition;
        wish.text = "not " + word.text;
        wish.policy = {word.place};
        wishes[wish.property] = std::move(wish);
        return;
    }
    if (auto* others = std::get_if<Not>(&wanted->second.condition)) {
        // Two bans of one property hold both; one of any value covers the other.
        if (others->values.empty() || condition.values.empty())
            others->values.clear();
        else
            others->values.insert(others->values.end(), condition.values.begin(), condition.values.end());
        wanted->second.policy.push_back(word.place);
        return;
    }
    const auto* is = std::get_if<Is>(&wanted->second.condition);
    const bool is_banned =
        is != nullptr &&
        (condition.values.empty() ? is->value != Value{std::string("off")}
                                  : std::ranges::find(condition.values, is->value) != condition.values.end());
    if (!is_banned) return;
    PolicyError error;
    error.where = word.place;
    error.says = quote_json(word.text) + " is forbidden here, and " + quote_json(wanted->second.text) +
                 " is wanted at " + to_text(wanted->second.policy.front());
    error.fix = "keep one of the two, or narrow one rule's match";
    error.width = static_cast<int>(word.text.size()) + 2;
    notes_.add(error);
}

void WishMaker::want_discard(Wishes& wishes, const MountWord& word) const {
    MountWish wish;
    wish.property = "discard";
    wish.text = word.text;
    wish.policy = {word.place};
    wish.condition = Is{Value{std::string("off")}};
    if (word.text == "continuous") wish.condition = Not{{Value{std::string("off")}}};
    wishes["discard"] = std::move(wish);
}

Wishes WishMaker::wishes_for_mount(const ManagedFilesystem& filesystem, const ManagedMount& mount) {
    Wishes wishes;
    std::vector<const MountRule*> matching;
    for (std::size_t i = 0; i < policy_.rules.size(); ++i) {
        if (!matches(policy_.rules[i], filesystem, mount)) continue;
        matched_[i] = true;
        matching.push_back(&policy_.rules[i]);
    }
    // From the least to the most exact: [discard] filesystem, a rule's `discard`, a word.
    const bool discards = has_discard(filesystem.fstype) && is_block_filesystem(filesystem.fstype) && !mount.is_bind;
    if (discards && policy_.discard) want_discard(wishes, *policy_.discard);
    for (const auto* rule : matching) {
        if (rule->discard && discards) want_discard(wishes, *rule->discard);
    }
    for (const auto* rule : matching) {
        for (const auto& word : rule->options) want(wishes, *rule, word, filesystem, mount);
    }
    for (const auto* rule : matching) {
        for (const auto& word : rule->forbid) forbid(wishes, word, filesystem);
    }
    return wishes;
}

// Moves what belongs to the superblock out of one mount's wishes; two mounts that want different things of it are an
// error.
void WishMaker::take_superblock_wishes(const ManagedFilesystem& filesystem, Wishes& from, Wishes& into) {
    for (auto wish = from.begin(); wish != from.end();) {
        const auto* property = find_property(filesystem.fstype, wish->first);
        const bool of_superblock = wish->second.kind != MountWish::Kind::userspace &&
                                   (property == nullptr || property->scope == Scope::superblock);
        if (!of_superblock) {
            ++wish;
            continue;
        }
        const auto [other, is_new] = into.emplace(wish->first, wish->second);
        if (!is_new && !agree(other->second, wish->second)) {
            PolicyError error;
            error.where = wish->second.policy.front();
            error.says = quote_json(wish->second.text) + " contradicts " + quote_json(other->second.text) + " at " +
                         to_text(other->second.policy.front()) + ": both are for the filesystem at " +
                         filesystem.target() + ", whose mounts share one superblock";
            error.fix = "want the same of all its mounts";
            error.width = static_cast<int>(wish->second.text.size()) + 2;
            notes_.add(error);
        }
        wish = from.erase(wish);
    }
}

FilesystemWishes WishMaker::wishes_for(const ManagedFilesystem& filesystem) {
    FilesystemWishes wishes;
    for (const auto& mount : filesystem.mounts) {
        auto of_mount = wishes_for_mount(filesystem, mount);
        if (mount.is_bind) {
            // A bind has flags of its own and no say in the filesystem's options.
            std::erase_if(of_mount, [&](const auto& wish) {
                const auto* property = find_property(filesystem.fstype, wish.first);
                return wish.second.kind != MountWish::Kind::userspace &&
                       (property == nullptr || property->scope == Scope::superblock);
            });
        } else {
            take_superblock_wishes(filesystem, of_mount, wishes.superblock);
        }
        wishes.mounts.push_back(std::move(of_mount));
    }
    return wishes;
}

std::vector<const MountRule*> WishMaker::rules_for(const ManagedFilesystem& filesystem) {
    std::vector<const MountRule*> rules;
    for (const auto& rule : policy_.rules) {
        const bool is_meant = std::ranges::any_of(filesystem.mounts, [&](const ManagedMount& mount) {
            return !mount.is_bind && matches(rule, filesystem, mount);
        });
        if (is_meant) rules.push_back(&rule);
    }
    return rules;
}

void WishMaker::note_unmatched_rules() const {
    for (std::size_t i = 0; i < policy_.rules.size(); ++i) {
        if (matched_[i]) continue;
        Finding finding;
        finding.code = "rule-matches-nothing";
        finding.severity = policy_.rules[i].is_builtin ? Severity::info : Severity::warning;
        finding.says = "no mount of this host matches this [[mount]] rule";
        finding.where = to_text(policy_.rules[i].place);
        notes_.add(finding);
    }
}

}  // namespace storpol
