// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/trim_targets.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/word_list.h"
#include "engine/topology/topology.h"
#include "resources/mount/trimmed.h"

namespace storpol {
namespace {

const PolicyNode* member(const PolicyNode* table, std::string_view key) {
    return table != nullptr && table->table() != nullptr ? table->table()->find(key) : nullptr;
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
    wanted.schedule.calendar = text_or(table, "schedule", wanted.schedule.calendar);
    const auto* catch_up = member(table, "catch-up");
    wanted.schedule.catches_up = catch_up == nullptr || catch_up->boolean().value_or(true);
    const auto* boot_delay = member(table, "boot-delay");
    if (boot_delay != nullptr && boot_delay->number)
        wanted.schedule.boot_delay = std::chrono::microseconds(*boot_delay->number);
    wanted.schedule.random_delay = std::chrono::microseconds(number_or(table, "random-delay", 0));
    wanted.min_extent = number_or(table, "min-extent", 0);
    wanted.full_pass = text_or(table, "full-pass", "");
    wanted.window = std::chrono::microseconds(number_or(table, "window", wanted.window.count()));
    const auto io_class = text_or(table, "io-class", "idle");
    wanted.priority.io = io_class == "idle"          ? TrimPriority::Io::idle
                         : io_class == "best-effort" ? TrimPriority::Io::best_effort
                                                     : TrimPriority::Io::realtime;
    wanted.priority.nice = static_cast<int>(number_or(table, "nice", wanted.priority.nice));
    wanted.skips_on_battery = text_or(table, "on-battery", "skip") != "run";
    return wanted;
}

std::vector<TrimTarget> find_trim_targets(const Policy& policy, const Topology& topology, Host& host) {
    const auto& table = topology.mounts();
    const auto floor = read_trim_policy(policy).min_extent;
    std::unordered_map<const ManagedFilesystem*, TrimmedFilesystem> wanted;
    for (auto& trimmed : trimmed_filesystems(policy, topology, host)) {
        const auto* filesystem = trimmed.filesystem;
        wanted.emplace(filesystem, std::move(trimmed));
    }
    std::vector<TrimTarget> targets;
    for (const auto& filesystem : mount_inventory(topology, host).filesystems) {
        const auto* superblock = superblock_of(filesystem, topology);
        if (!is_block_filesystem(filesystem.fstype) || superblock == nullptr) continue;
        auto target = target_of(*superblock, *table);
        const auto trimmed = wanted.find(&filesystem);
        if (filesystem.mounts.front().is_bind) {
            target.why_not = "only a folder of it is mounted here";
        } else if (trimmed == wanted.end()) {
            target.why_not = "the policy wants it never discarded";
        } else if (trimmed->second.is_left_out) {
            target.why_not = "the policy leaves it out (" + to_text(trimmed->second.left_out_at) + ")";
        }
        target.min_extent = floor;
        if (trimmed != wanted.end()) target.min_extent = trimmed->second.min_extent.value_or(floor);
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
