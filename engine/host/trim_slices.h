// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// How the addresses of a filesystem are cut for FITRIM, so that all the slices together give back what one whole call
// would. Pure.
namespace storpol {

struct TrimRange {
    std::uint64_t start = 0;
    std::uint64_t length = 0;

    bool operator==(const TrimRange&) const = default;
};

// Units that no slice may divide, in ascending order; a slice is some that follow each other.
class TrimSlices {
  public:
    // One call: f2fs writes a checkpoint for each, and small filesystems need no more.
    static TrimSlices whole();

    // Units of `unit` bytes from `offset` to `size`, at most `most` to a slice. What lies before `offset` belongs to
    // the first one (a boot block).
    static TrimSlices even(std::uint64_t offset, std::uint64_t unit, std::uint64_t size, std::uint64_t most);

    // These very ranges (btrfs block groups, sorted here). The last slice has no end: what was added meanwhile lies
    // behind.
    static TrimSlices pieces(std::vector<TrimRange> ranges);

    std::uint64_t count() const { return count_; }  // never 0

    std::uint64_t most() const { return most_; }  // units to a slice

    TrimRange range(std::uint64_t first, std::uint64_t units) const;

    // The first unit that begins at `position` or behind it; count() where none does.
    std::uint64_t unit_at(std::uint64_t position) const;

  private:
    std::uint64_t offset_ = 0;
    std::uint64_t unit_ = 0;  // 0: whole, or pieces
    std::uint64_t size_ = 0;
    std::uint64_t count_ = 1;
    std::uint64_t most_ = 1;
    std::vector<TrimRange> pieces_;
};

// What cutting needs to know of a filesystem, whichever way it was learnt.
struct TrimGeometry {
    std::string uuid;  // empty: it has none that is known
    std::uint64_t block = 4096;
    std::uint64_t size = 0;              // bytes; 0: not known
    std::uint64_t group = 0;             // ext4: a block group, XFS: an allocation group, in bytes; 0: none
    std::uint64_t offset = 0;            // of the first ext4 block group
    std::vector<TrimRange> chunks;       // btrfs: its block groups by logical address
    std::uint64_t min_extent_limit = 0;  // what a larger floor is refused above (EINVAL); 0: no limit

    bool operator==(const TrimGeometry&) const = default;
};

TrimSlices cut(const TrimGeometry& geometry, const std::string& fstype);

}  // namespace storpol
