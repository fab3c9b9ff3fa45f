// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/topology/stack.h"

// What becomes of a discard on its way from a filesystem to its disks. fstrim's byte count never tells: thin pools,
// caches, mixed mirrors and stale tables report success while the drive gets nothing. So every layer is asked what it
// passes, and the answer is the AND over all of them.
namespace storpol {

struct DiscardHop {
    enum class Passes { yes, no, unknown };

    const Layer* layer = nullptr;
    std::size_t depth = 0;  // below the filesystem, 0 for what it lies on
    Passes passes = Passes::yes;
    // Set where this layer itself stops discards, whatever lies below it: a reason of its own. A layer that refuses
    // only because the one below does has none.
    std::string blocks;
    std::string note;                           // what to know of a layer that does not block
    std::string decided_by;                     // the file:line, header flag or table that decides; empty: the kernel
    std::string cure;                           // what would change it
    std::string cost;                           // and what that costs
    std::optional<std::uint64_t> max_bytes;     // queue/discard_max_bytes; none where it cannot be read
    std::optional<std::uint64_t> max_hw_bytes;  // queue/discard_max_hw_bytes
    std::optional<std::uint64_t> granularity;   // queue/discard_granularity, bytes
};

struct DiscardPath {
    enum class Verdict {
        reaches,    // every layer passes discards on to the disks
        blocked,    // some layer does not
        unknown,    // some layer cannot be asked, and no other one blocks
        no_device,  // no block device lies below: a network, memory or stacked filesystem, or ZFS
    };

    Verdict verdict = Verdict::unknown;
    std::string why;                    // of unknown and no_device
    std::vector<DiscardHop> hops;       // from the filesystem down, each layer once
    std::vector<std::size_t> blockers;  // of hops, upper ones first

    const DiscardHop* first_blocker() const { return blockers.empty() ? nullptr : &hops[blockers.front()]; }
};

// "md raid5 md0", "dm-crypt root".
std::string describe(const Layer& layer);

// Never empty: "reaches the device", "blocked by dm-crypt root", ...
std::string summary_of(const DiscardPath& path);

DiscardPath find_discard_path(const Superblock& superblock, const Topology& topology, Host& host);

}  // namespace storpol
