// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/topology/block_device.h"
#include "engine/topology/disk.h"
#include "engine/topology/mount_table.h"
#include "engine/topology/stack.h"

// What a filesystem lies on, as rules ask for it: the disks at the bottom of its stack, and whether anything on the way
// down encrypts.
namespace storpol {

class Host;
class Topology;

struct Backing {
    std::vector<const Disk*> disks;  // at the bottom, by kernel name, each once
    // Some dm-crypt mapping lies between; none where a mapping does not say what it is. Only mappings that are marked
    // as cryptsetup and systemd mark them are known.
    std::optional<bool> is_encrypted = false;
    std::string unknown;  // why not all of the stack can be seen; then nothing above is to be relied on
};

// What is at the bottom of the stacks of engine/topology/stack.h; kept for the run.
class Backings {
  public:
    Backings(const Topology& topology, Host& host) : topology_(&topology), host_(&host) {}

    Backings(const Backings&) = delete;  // answers point into it
    Backings(Backings&&) = default;

    // Of a filesystem by its device number or, where it numbers itself or is not mounted, its source.
    const Backing& of(const Superblock& superblock) const;

  private:
    Backing find(const Stack& stack) const;
    const Disk& disk_of(const Layer& layer) const;

    const Topology* topology_;
    Host* host_;
    mutable std::unordered_map<const Stack*, Backing> by_stack_;
    mutable std::unordered_map<std::string, Disk> disks_;
};

// The run's, made on first use.
const Backings& backings(const Topology& topology, Host& host);

}  // namespace storpol
