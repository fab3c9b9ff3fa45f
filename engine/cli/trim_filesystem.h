// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/cli/trim_targets.h"
#include "engine/host/host.h"
#include "engine/host/state_store.h"
#include "engine/host/trim_run.h"
#include "engine/host/trim_slices.h"
#include "engine/reconcile/trim_due.h"
#include "engine/reconcile/trim_pass.h"
#include "engine/report/trim_report.h"

// One filesystem of a trim: what is remembered of it, how it is to be trimmed, and doing it.
namespace storpol {

// What all filesystems of one run share.
struct TrimSurroundings {
    Host& machine;  // asked anew each time
    StateStore& store;
    const TrimPolicy& policy;
    std::string boot_id;
    bool is_scheduled = false;
    std::int64_t wall_offset = 0;      // seconds that the clock on the wall is ahead of UTC
    std::optional<TrimMoment> due_at;  // trims what is due by then; none: whatever the schedule says
};

class TrimFilesystem {
  public:
    // Reads its geometry and its record. What is wrong with the record goes to `findings`: a damaged one is put aside
    // (unless `is_dry`), one of a newer storpol is left alone and nothing is remembered.
    TrimFilesystem(TrimTarget target, TrimSurroundings& around, bool is_dry, std::vector<Finding>& findings);

    const TrimTarget& target() const { return target_; }

    bool is_to_be_trimmed() const { return target_.why_not.empty(); }

    std::uint64_t size() const;  // bytes, about: how the window is shared out

    TrimEntry planned() const;  // for --dry-run

    // Notes in its record why it is left out, where something of this moment is the reason and not the policy.
    TrimEntry skip();

    // Trims it within `window`, remembering on the way where it stands.
    TrimEntry trim(std::chrono::microseconds window,
                   const StopSignals& stop,
                   const std::function<void(const TrimProgress&)>& progress);

    // Why the record could not be written, empty where it could.
    const std::string& write_error() const { return write_error_; }

  private:
    void read_record(bool is_dry, std::vector<Finding>& findings);
    void write_record();
    TrimJob job(std::chrono::microseconds window) const;
    TrimRun run_of(const TrimResult& result, const std::string& began) const;
    TrimEntry entry() const;
    std::string now() const;

    TrimTarget target_;
    bool is_unreadable_ = false;  // its mount point cannot be opened, and not because it is gone
    TrimSurroundings* around_;
    TrimGeometry geometry_;
    TrimSlices slices_ = TrimSlices::whole();
    TrimRecord record_;
    TrimPass pass_;
    std::string file_;  // below /var/lib/storpol; empty: nothing is remembered
    std::string write_error_;
};

}  // namespace storpol
