// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "engine/base/handle.h"
#include "engine/base/result.h"

// Waiting that a signal ends, the clocks a trim goes by, and the lock that makes it the only one.
namespace storpol {

// While it lives, SIGINT, SIGTERM and SIGHUP no longer end the process but are answered by asked(). One at a time.
class StopSignals {
  public:
    StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;
    ~StopSignals();

    bool asked() const;

    std::string name() const;  // of the signal that asked: "SIGTERM"

    // Becomes readable once asked.
    int fd() const { return read_.get(); }

    // False as soon as asked.
    bool wait(std::chrono::microseconds time) const;

    // In a child: dies of them again.
    static void reset();

  private:
    Fd read_;
    Fd write_;
};

std::chrono::microseconds monotonic_now();  // does not run while the machine sleeps
std::chrono::microseconds time_asleep();    // since boot

// Held until it goes. Only one process has it.
class TrimLock {
  public:
    // Answers false while another process has it; `holder` is then that process (0: not known).
    Result<bool> try_lock(pid_t& holder);

  private:
    Fd directory_;
    Fd fd_;
};

}  // namespace storpol
