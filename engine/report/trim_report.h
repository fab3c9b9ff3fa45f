// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/trim_record.h"
#include "engine/report/report.h"

// What `storpol trim` did, or would do.
namespace storpol {

struct TrimEntry {
    std::string target;
    std::vector<std::string> also_at;
    std::string fstype;
    std::string source;
    std::vector<std::string> disks;        // at the bottom
    std::string discards;                  // where they end: "reaches the device"
    std::string note;                      // what to know of it beside the outcome
    bool is_dry = false;                   // `run` is what would be done
    bool is_resumed = false;               // goes on where an earlier run was cut short
    std::uint64_t pieces = 0;              // how many parts slices are made of
    std::chrono::milliseconds longest{0};  // slice
    TrimRun run;
};

struct TrimReport {
    std::vector<TrimEntry> entries;  // in the order they were worked on
    std::vector<Finding> findings;
};

// 0 all trimmed or skipped with a reason, 2 some failed, were lost or cut short.
int exit_code_of(const TrimReport& report);

// One line of fstrim(8)'s form for what was trimmed, so that what reads its output reads this too.
std::string render_trim_text(const TrimReport& report, const TextStyle& style);

// The document of the other commands with "trims".
std::string render_trim_json(const TrimReport& report, const ReportHead& head);

// "/home: 43 %, about 12 s left": one line of progress.
std::string render_trim_progress(const std::string& target, double share, std::chrono::microseconds left, bool is_busy);

}  // namespace storpol
