// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/host/trim_call.h"
#include "engine/host/trim_disks.h"
#include "engine/host/trim_pace.h"
#include "engine/host/trim_slices.h"
#include "engine/model/trim_record.h"

// One filesystem trimmed slice by slice, at a pace that leaves its disks to others.
namespace storpol {

// What a run needs of the machine. Tests have one without a device.
class TrimDevice {
  public:
    using Time = std::chrono::microseconds;

    virtual ~TrimDevice() = default;
    // One slice. An Error where the filesystem is no longer mounted.
    virtual Result<TrimCall> trim(const TrimRange& range, std::uint64_t min_extent, Time limit) = 0;
    virtual DiskCounters counters() = 0;
    virtual Time now() = 0;
    virtual bool wait(Time time) = 0;       // false: asked to stop
    virtual std::string stop_reason() = 0;  // why to stop now: "SIGTERM", "on battery"; empty: go on
};

struct LiveTrimTarget {
    std::string target;
    std::string mount_id;
    std::vector<std::string> disks;  // kernel names
    TrimPriority priority;
    std::function<bool()> is_on_battery;  // empty: does not matter
};

// The running machine. `stop` outlives it.
std::unique_ptr<TrimDevice> make_trim_device(const LiveTrimTarget& target, const StopSignals& stop);

struct TrimProgress {
    std::uint64_t units = 0;  // done of all
    std::uint64_t of_units = 0;
    std::uint64_t position = 0;  // the first byte not done
    std::uint64_t bytes = 0;
    std::chrono::microseconds left{0};  // about; zero: not known
    bool is_busy = false;               // others use the disks
};

struct TrimJob {
    TrimSlices slices;
    std::uint64_t position = 0;  // where to go on
    std::uint64_t bytes = 0;     // of what was done before
    std::uint64_t min_extent = 0;
    // ext4 passes over groups it holds for trimmed unless the floor is below that of the last call, of whatever range
    // (ext4_trim_fs sets s_last_trim_minblks each time): a slice that is to see them all comes after a call of one
    // block with this floor, which trims nothing. 0: no such calls.
    std::uint64_t forget_with = 0;
    std::uint64_t block = 4096;
    std::chrono::microseconds window{0};
    // More than this reported while the disks count no discard is a lie. Less may be extents too small or too oddly
    // placed for the units of the device.
    std::uint64_t lost_above = std::uint64_t{1} << 20U;
    bool says_its_size = false;  // XFS: what it reports is no measurement
    PaceOptions pace;
    std::function<void(const TrimProgress&)> progress;  // after each slice and rest
};

struct TrimResult {
    TrimOutcome outcome = TrimOutcome::trimmed;
    std::string why;
    std::uint64_t position = 0;  // the first byte not done, where it was interrupted
    std::uint64_t bytes = 0;
    std::uint64_t slices = 0;
    std::chrono::microseconds took{0};
    std::chrono::microseconds in_trim{0};
    std::chrono::microseconds longest{0};  // slice
    DiskCounters disks;                    // what they counted in this run
    bool is_stuck = false;
};

TrimResult run_trim(const TrimJob& job, TrimDevice& device);

}  // namespace storpol
