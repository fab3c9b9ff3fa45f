// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "engine/base/handle.h"
#include "engine/base/result.h"
#include "engine/host/trim_slices.h"
#include "engine/host/trim_stop.h"

namespace storpol {

// How the kernel is asked to treat the trimming process.
struct TrimPriority {
    enum class Io { idle, best_effort, realtime };
    Io io = Io::idle;
    int nice = 10;
};

struct TrimCall {
    int code = 0;             // errno of FITRIM; ETIMEDOUT past the limit, ECANCELED when asked to stop
    std::uint64_t bytes = 0;  // what the filesystem says it trimmed
    std::chrono::microseconds took{0};
    bool slept = false;     // the machine was suspended meanwhile: whatever the kernel answers, part may be undone
    bool is_stuck = false;  // the call does not end, not even killed: a device that no longer answers
};

struct TrimRequest {
    TrimRange range;
    std::uint64_t min_extent = 0;
    TrimPriority priority;
    std::chrono::microseconds limit{0};
    bool may_starve = false;  // leave the idle class where the call takes long (BFQ)
};

// The one place of FITRIM. A child makes the call, so that it can be ended: the kernel stops for a fatal signal only,
// which one with a handler is not; and the child dies with its parent. `fd`: any file or folder of the filesystem.
TrimCall call_fitrim(int fd, const TrimRequest& request, const StopSignals& stop);

// A folder or file of the filesystem that is mounted at `target`, opened for reading only while it is that mount:
// ErrorKind::changed when another lies there, no_such_file when none does. Held during a call alone, as it keeps the
// filesystem from being unmounted.
Result<Fd> open_mounted(const std::string& target, const std::string& mount_id);

}  // namespace storpol
