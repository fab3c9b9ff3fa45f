// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/policy/policy.h"
#include "resources/mount/inventory.h"

namespace storpol {

// A filesystem whose free space a policy wants given back: by a scheduled trim or while files are deleted.
struct TrimmedFilesystem {
    const ManagedFilesystem* filesystem = nullptr;
    std::string how;            // "periodic", "continuous", a discard word; empty where the policy says nothing of it
    std::vector<Place> policy;  // where it says so; may be empty
    bool is_left_out = false;   // [[mount]] fstrim = { enabled = false }: no scheduled trim
    Place left_out_at;          // and where that stands
    std::optional<Bytes> min_extent;  // [[mount]] fstrim = { min-extent }: a floor of its own
    std::vector<Place> trim_policy;   // where these two stand
};

// The filesystems on block devices that this host mounts or its fstab and units describe, but those that the policy
// wants never discarded. In the inventory's order; points into it.
std::vector<TrimmedFilesystem> trimmed_filesystems(const Policy& policy, const Topology& topology, Host& host);

// The live superblock of a filesystem; nullptr where it is not mounted.
const Superblock* superblock_of(const ManagedFilesystem& filesystem, const Topology& topology);

}  // namespace storpol
