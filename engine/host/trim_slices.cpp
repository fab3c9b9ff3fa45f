// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_slices.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace storpol {
namespace {

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

// A multiple of this never cuts a unit of discard in two on any device that is known to us but some thin pools, whose
// chunks are powers of two up to 1 GiB.
constexpr std::uint64_t xfs_unit = 128 * mebibyte;

// A range that covers a whole allocation group makes XFS walk its free extents by size, which skips some (Linux 6.12 to
// 6.18, xfs_trim_gather_extents); a smaller one walks by address and misses none.
TrimSlices cut_xfs(const TrimGeometry& geometry) {
    const auto half = geometry.group / 2;
    auto unit = std::min(xfs_unit, half - half % geometry.block);
    if (unit > mebibyte) unit -= unit % mebibyte;
    if (unit == 0) return TrimSlices::whole();
    return TrimSlices::even(0, unit, geometry.size, std::max<std::uint64_t>(1, half / unit));
}

}  // namespace

TrimSlices TrimSlices::whole() {
    return TrimSlices();
}

TrimSlices TrimSlices::even(std::uint64_t offset, std::uint64_t unit, std::uint64_t size, std::uint64_t most) {
    TrimSlices slices;
    if (unit == 0 || size <= offset) return slices;
    slices.offset_ = offset;
    slices.unit_ = unit;
    slices.size_ = size;
    slices.count_ = (size - offset - 1) / unit + 1;
    slices.most_ = std::max<std::uint64_t>(1, most);
    return slices;
}

TrimSlices TrimSlices::pieces(std::vector<TrimRange> ranges) {
    TrimSlices slices;
    std::ranges::sort(ranges, {}, &TrimRange::start);
    if (ranges.empty()) return slices;
    slices.count_ = ranges.size();
    slices.most_ = ranges.size();
    slices.pieces_ = std::move(ranges);
    return slices;
}

TrimRange TrimSlices::range(std::uint64_t first, std::uint64_t units) const {
    const auto end = first + units;
    if (!pieces_.empty()) {
        const auto start = first == 0 ? 0 : pieces_[first].start;
        return {start, end >= count_ ? no_end - start : pieces_[end].start - start};
    }
    if (unit_ == 0) return {0, no_end};
    const auto start = first == 0 ? 0 : offset_ + first * unit_;
    return {start, (end >= count_ ? size_ : offset_ + end * unit_) - start};
}

std::uint64_t TrimSlices::unit_at(std::uint64_t position) const {
    if (position == 0) return 0;
    if (!pieces_.empty()) {
        const auto found = std::ranges::lower_bound(pieces_, position, {}, &TrimRange::start);
        return static_cast<std::uint64_t>(found - pieces_.begin());
    }
    if (unit_ == 0) return count_;
    if (position <= offset_) return 1;  // the first unit begins at 0
    return std::min(count_, (position - offset_ - 1) / unit_ + 1);
}

TrimSlices cut(const TrimGeometry& geometry, const std::string& fstype) {
    if (!geometry.chunks.empty()) return TrimSlices::pieces(geometry.chunks);
    if (geometry.group == 0 || geometry.size == 0) return TrimSlices::whole();
    if (fstype == "xfs") return cut_xfs(geometry);
    return TrimSlices::even(geometry.offset, geometry.group, geometry.size, no_end);
}

}  // namespace storpol
