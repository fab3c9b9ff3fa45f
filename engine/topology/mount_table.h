// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/text/mountinfo.h"

// The mounts of this namespace, and the superblocks below them: what a path reaches, and which mounts are one
// filesystem.
namespace storpol {

struct Superblock {
    std::string device;  // "8:3"; "0:31" where the filesystem numbers itself (btrfs, overlay)
    std::string fstype;
    std::string source;         // of its first mount
    std::string super_options;  // as its first mount shows them
    std::vector<std::size_t>
        mounts;  // indices of those that a path reaches, shortest target first, in mountinfo order among equals
};

class MountTable {
  public:
    MountTable() = default;
    explicit MountTable(std::vector<MountInfo> mounts);

    const std::vector<MountInfo>& mounts() const { return mounts_; }

    // Of superblocks with at least one mount that a path reaches; in the order of their first one in mountinfo.
    const std::vector<Superblock>& superblocks() const { return superblocks_; }

    // False for a mount that lies under another one: no path reaches it, so nothing is said or done about it.
    bool is_reachable(std::size_t index) const { return reachable_[index]; }

    // The mount that this very target reaches; none when there is no mount there.
    std::optional<std::size_t> at(std::string_view target) const;
    const Superblock* superblock_of(std::size_t index) const;

  private:
    void find_reachable();
    void group_superblocks();

    std::vector<MountInfo> mounts_;
    std::vector<bool> reachable_;
    std::vector<Superblock> superblocks_;
    std::vector<std::size_t> superblock_of_;  // by mount index; npos for unreachable ones
    std::unordered_map<std::string, std::size_t> by_target_;
};

// A path without double slashes, "." and a slash at the end, as mountinfo has it: "/home/a/" -> "/home/a". Pure text.
std::string normal_target(std::string_view path);

}  // namespace storpol
