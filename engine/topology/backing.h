// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/topology/block_device.h"
#include "engine/topology/disk.h"
#include "engine/topology/mount_table.h"

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

// Walks each device once and keeps what it found for the run: /sys/block/DEVICE/slaves downwards, a partition to its
// disk, btrfs to all of its members, a loop device to the filesystem its file lies on.
class Backings {
  public:
    Backings(const Topology& topology, Host& host) : topology_(&topology), host_(&host) {}

    Backings(const Backings&) = delete;  // answers point into it
    Backings(Backings&&) = default;

    // Of a filesystem by its device number or, where it numbers itself or is not mounted, its source.
    const Backing& of(const Superblock& superblock) const;

  private:
    Backing find(const Superblock& superblock) const;
    Backing of_source(std::string_view source) const;
    Backing of_btrfs(std::string_view source) const;
    const Backing& below(const BlockDevice& device) const;
    Backing look_below(const BlockDevice& disk) const;
    Backing look_below_loop(const BlockDevice& loop, const std::string& file) const;
    std::optional<BlockDevice> member(const std::string& folder, const std::string& name) const;
    const Disk& disk_of(const BlockDevice& device) const;
    void learn_btrfs() const;

    const Topology* topology_;
    Host* host_;
    mutable std::unordered_map<std::string, Backing> by_superblock_;
    mutable std::unordered_map<std::string, Backing> by_device_;  // by kernel name of the whole device
    mutable std::unordered_map<std::string, Disk> disks_;
    mutable std::unordered_set<std::string> walking_;  // what a loop would come back to
    mutable std::optional<std::unordered_map<std::string, std::string>> btrfs_folder_of_;  // member -> its folder
};

// The run's, made on first use.
const Backings& backings(const Topology& topology, Host& host);

}  // namespace storpol
