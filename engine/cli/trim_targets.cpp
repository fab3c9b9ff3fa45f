// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/trim_targets.h"

#include <algorithm>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/reconcile/resource.h"
#include "engine/topology/backing.h"
#include "engine/topology/topology.h"
#include "resources/mount/lookup.h"
#include "resources/mount/option_set.h"
#include "resources/mount/rule.h"
#include "resources/mount/trimmed.h"
#include "resources/mount/wishes.h"

namespace storpol {
namespace {

const PolicyNode* member(const PolicyNode* table, std::string_view key) {
    return table != nullptr && table->table() != nullptr ? table->table()->find(key) : nullptr;
}

// What [[mount]] fstrim of one rule says.
struct RuleWish {
    const MountRule* rule = nullptr;
    const PolicyNode* node = nullptr;
};

std::vector<RuleWish> read_rule_wishes(const Policy& policy, const MountPolicy& mounts) {
    std::vector<RuleWish> wishes;
    const auto* list = policy.find("mount");
    if (list == nullptr || list->list() == nullptr) return wishes;
    for (const auto& node : *list->list()) {
        const auto* fstrim = member(&node, "fstrim");
        const auto rule = std::ranges::find(mounts.rules, node.place, &MountRule::place);
        if (fstrim != nullptr && rule != mounts.rules.end()) wishes.push_back({&*rule, fstrim});
    }
    return wishes;
}

std::string says_at(const std::string& what, const Place& place) {
    return what + " (" + to_text(place) + ")";
}

void apply_wishes(TrimTarget& target,
                  const std::vector<RuleWish>& wishes,
                  const ManagedFilesystem& filesystem,
                  WishMaker& maker) {
    for (const auto& wish : wishes) {
        if (!maker.means(*wish.rule, filesystem)) continue;
        if (const auto* floor = member(wish.node, "min-extent"); floor != nullptr && floor->number)
            target.min_extent = *floor->number;
        const auto* enabled = member(wish.node, "enabled");
        if (enabled == nullptr || !enabled->boolean()) continue;
        target.why_not = *enabled->boolean() ? "" : says_at("the policy leaves it out", enabled->place);
    }
}

bool has_word(std::string_view options, std::string_view word) {
    return std::ranges::any_of(split_options(options), [&](std::string_view option) { return option == word; });
}

// X-fstrim.notrim, fstrim(8): in fstab's options; in mount units alike.
std::string notrim_of(const ManagedFilesystem& filesystem) {
    for (const auto& mount : filesystem.mounts) {
        for (const auto& source : mount.sources) {
            if (has_word(source.options, "X-fstrim.notrim")) return "X-fstrim.notrim (" + source.describe() + ")";
        }
    }
    return {};
}

// The disks whose counters tell whether discards arrive and whether others use them. A loop device is the end of the
// way: below it a discard is a hole in a file.
void add_disks(const Layer& layer, std::set<std::string>& into) {
    if (layer.below.empty() || layer.kind == LayerKind::loop || layer.kind == LayerKind::memory) {
        into.insert(layer.device.disk);
        return;
    }
    for (const auto* below : layer.below) add_disks(*below, into);
}

void look_at_path(TrimTarget& target, const Superblock& superblock, const Topology& topology, Host& host) {
    const auto path = find_discard_path(superblock, topology, host);
    target.discards = summary_of(path);
    for (const auto& hop : path.hops) target.granularity = std::max(target.granularity, hop.granularity.value_or(0));
    const bool is_unknown = path.verdict == DiscardPath::Verdict::unknown;
    if (is_unknown) target.note = "whether discards reach the disk is not known: " + path.why;
    if (!target.why_not.empty()) return;
    if (const auto* blocker = path.first_blocker(); path.verdict == DiscardPath::Verdict::blocked && blocker != nullptr)
        target.why_not = target.discards + ": " + blocker->blocks;
    if (path.verdict == DiscardPath::Verdict::no_device) target.why_not = path.why;
}

void look_below(TrimTarget& target, const Superblock& superblock, const Topology& topology, Host& host) {
    std::set<std::string> disks;
    const auto& stack = stacks(topology, host).of(superblock);
    for (const auto* top : stack.tops) {
        if (target.device.empty()) target.device = top->device.name;
        add_disks(*top, disks);
    }
    target.disks.assign(disks.begin(), disks.end());
}

TrimTarget target_of(const Superblock& superblock, const MountTable& table) {
    TrimTarget target;
    for (const auto index : superblock.mounts) {
        const auto& mount = table.mounts()[index];
        if (target.target.empty()) {
            target.target = mount.target;
            target.mount_id = std::to_string(mount.id);
        } else {
            target.also_at.push_back(mount.target);
        }
    }
    target.fstype = superblock.fstype;
    target.source = superblock.source;
    return target;
}

std::int64_t number_or(const PolicyNode* table, std::string_view key, std::int64_t otherwise) {
    const auto* node = member(table, key);
    return node != nullptr && node->number ? *node->number : otherwise;
}

std::string text_or(const PolicyNode* table, std::string_view key, std::string otherwise) {
    const auto* node = member(table, key);
    return node != nullptr && !node->text.empty() ? node->text : otherwise;
}

}  // namespace

TrimPolicy read_trim_policy(const Policy& policy) {
    const auto* table = policy.find("fstrim");
    TrimPolicy wanted;
    const auto* enabled = member(table, "enabled");
    wanted.is_scheduled = enabled == nullptr || enabled->boolean().value_or(true);
    wanted.min_extent = number_or(table, "min-extent", 0);
    wanted.full_pass = text_or(table, "full-pass", "");
    wanted.window = std::chrono::microseconds(number_or(table, "window", wanted.window.count()));
    const auto io_class = text_or(table, "io-class", "idle");
    wanted.priority.io = io_class == "idle"          ? TrimPriority::Io::idle
                         : io_class == "best-effort" ? TrimPriority::Io::best_effort
                                                     : TrimPriority::Io::none;
    wanted.priority.nice = static_cast<int>(number_or(table, "nice", wanted.priority.nice));
    wanted.skips_on_battery = text_or(table, "on-battery", "skip") != "run";
    return wanted;
}

std::vector<TrimTarget> find_trim_targets(const Policy& policy, const Topology& topology, Host& host) {
    Notes said_by_the_mount_resource;
    const auto mounts = read_mount_policy(policy, said_by_the_mount_resource);
    const auto& table = topology.mounts();
    WishMaker maker(mounts, mount_host_facts(topology, host), backings(topology, host), table ? &*table : nullptr,
                    said_by_the_mount_resource);
    const auto wishes = read_rule_wishes(policy, mounts);
    const auto floor = read_trim_policy(policy).min_extent;
    std::set<const ManagedFilesystem*> wanted;
    for (const auto& trimmed : trimmed_filesystems(policy, topology, host)) wanted.insert(trimmed.filesystem);
    std::vector<TrimTarget> targets;
    for (const auto& filesystem : mount_inventory(topology, host).filesystems) {
        const auto* superblock = superblock_of(filesystem, topology);
        if (!is_block_filesystem(filesystem.fstype) || superblock == nullptr) continue;
        auto target = target_of(*superblock, *table);
        target.min_extent = floor;
        apply_wishes(target, wishes, filesystem, maker);
        if (filesystem.mounts.front().is_bind) {
            target.why_not = "only a folder of it is mounted here";
        } else if (!wanted.contains(&filesystem)) {
            target.why_not = "the policy wants it never discarded";
        }
        if (target.why_not.empty()) target.why_not = notrim_of(filesystem);
        target.is_by_policy = !target.why_not.empty();
        if (target.why_not.empty() && has_word(superblock->super_options, "ro")) target.why_not = "mounted read-only";
        look_below(target, *superblock, topology, host);
        look_at_path(target, *superblock, topology, host);
        targets.push_back(std::move(target));
    }
    std::ranges::stable_sort(targets, {}, &TrimTarget::target);
    return targets;
}

Result<std::vector<TrimTarget>> select_targets(std::vector<TrimTarget> targets,
                                               const std::vector<std::string>& words,
                                               const Topology& topology) {
    if (words.empty()) return targets;
    std::set<std::string> wanted;
    const auto& table = topology.mounts();
    if (!table) return tl::make_unexpected(table.error());
    for (const auto& word : words) {
        const auto* superblock = filesystem_at(*table, normal_target(word));
        const auto target = superblock == nullptr ? std::string() : target_of(*superblock, *table).target;
        const bool is_there = std::ranges::find(targets, target, &TrimTarget::target) != targets.end();
        if (!is_there)
            return fail(ErrorKind::invalid, "no filesystem that can be trimmed is mounted there", printable(word),
                        "storpol trim --dry-run lists those that are");
        wanted.insert(target);
    }
    std::erase_if(targets, [&](const TrimTarget& target) { return !wanted.contains(target.target); });
    return targets;
}

}  // namespace storpol
