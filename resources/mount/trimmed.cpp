// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/trimmed.h"

#include "engine/reconcile/resource.h"
#include "engine/topology/backing.h"
#include "engine/topology/topology.h"
#include "resources/mount/lookup.h"
#include "resources/mount/readings.h"
#include "resources/mount/wishes.h"

namespace storpol {

std::vector<TrimmedFilesystem> trimmed_filesystems(const Policy& policy, const Topology& topology, Host& host) {
    Notes said_by_the_mount_resource;
    const auto read = read_mount_policy(policy, said_by_the_mount_resource);
    const auto& mounts = topology.mounts();
    WishMaker maker(read, mount_host_facts(topology, host), backings(topology, host), mounts ? &*mounts : nullptr,
                    said_by_the_mount_resource);
    std::vector<TrimmedFilesystem> found;
    for (const auto& filesystem : mount_inventory(topology, host).filesystems) {
        if (!is_block_filesystem(filesystem.fstype) || filesystem.mounts.front().is_bind) continue;
        TrimmedFilesystem trimmed;
        trimmed.filesystem = &filesystem;
        const auto wishes = maker.wishes_for(filesystem).superblock;
        if (const auto wish = wishes.find("discard"); wish != wishes.end()) {
            trimmed.how = wish->second.text;
            trimmed.policy = wish->second.policy;
        }
        for (const auto* rule : maker.rules_for(filesystem)) {
            if (rule->trim) {
                trimmed.is_left_out = rule->trim->text == "false";
                trimmed.left_out_at = rule->trim->place;
            }
            if (rule->min_extent) trimmed.min_extent = rule->min_extent_bytes;
            for (const auto* word : {&rule->trim, &rule->min_extent}) {
                if (*word) trimmed.trim_policy.insert(trimmed.trim_policy.begin(), (*word)->place);
            }
        }
        if (trimmed.how != "never") found.push_back(std::move(trimmed));
    }
    return found;
}

const Superblock* superblock_of(const ManagedFilesystem& filesystem, const Topology& topology) {
    const auto& mounts = topology.mounts();
    if (!mounts) return nullptr;
    for (const auto& mount : filesystem.mounts) {
        if (mount.live) return mounts->superblock_of(*mount.live);
    }
    return nullptr;
}

}  // namespace storpol
