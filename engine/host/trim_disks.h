// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/handle.h"
#include "engine/host/trim_pace.h"

namespace storpol {

// What a disk has done since it appeared (/sys/block/DISK/stat; /proc/diskstats has the same numbers).
struct DiskCounters {
    DiskUse use;
    std::uint64_t written_bytes = 0;
    std::uint64_t discards = 0;
    std::uint64_t discarded_bytes = 0;
    bool counts_discards = false;  // since Linux 4.18

    bool operator==(const DiskCounters&) const = default;
};

// None for a text that is not the kernel's.
std::optional<DiskCounters> parse_disk_counters(std::string_view text);

// The disks that a filesystem's discards are to reach, looked at often: their counters stay open.
class DiskWatch {
  public:
    // By kernel name. A disk that cannot be read is left out.
    explicit DiskWatch(const std::vector<std::string>& disks);

    // Summed over all of them; what a disk that is gone had is missing from then on.
    DiskCounters read() const;

    // False where some disk's discards are not counted (queue/iostats is 0, an old kernel) or cannot be read.
    bool counts_discards() const { return counts_discards_; }

    // Does some disk use the BFQ scheduler? Under it, I/O of the idle class waits until everybody else is done.
    bool has_bfq() const { return has_bfq_; }

  private:
    std::vector<Fd> files_;
    bool counts_discards_ = true;
    bool has_bfq_ = false;
};

}  // namespace storpol
