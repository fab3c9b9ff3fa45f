// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/host/trim_call.h"
#include "engine/policy/policy.h"
#include "engine/reconcile/trim_due.h"
#include "engine/topology/discard_path.h"

// What a trim of this host is about: the policy's wishes for the runner, and each filesystem once, with why it is left
// out where it is.
namespace storpol {

class Host;
class Topology;

// [fstrim], with what applies where it says nothing.
struct TrimPolicy {
    bool is_scheduled = true;     // enabled
    TrimSchedule schedule;        // for those who ask whether one is due
    std::int64_t min_extent = 0;  // bytes
    std::string full_pass;        // a calendar expression; empty: never
    std::chrono::microseconds window = std::chrono::hours(2);
    TrimPriority priority;
    bool skips_on_battery = true;
};

TrimPolicy read_trim_policy(const Policy& policy);

struct TrimTarget {
    std::string target;                // shortest
    std::vector<std::string> also_at;  // other mounts of it
    std::string mount_id;              // of `target`
    std::string fstype;
    std::string source;              // as mountinfo has it
    std::string device;              // kernel name of what it lies on (of several the first)
    std::vector<std::string> disks;  // at the bottom, kernel names, each once
    std::string discards;            // where they end: "reaches the device", "blocked by dm-crypt root"
    std::string note;                // what to know of it although it is trimmed
    std::uint64_t granularity = 0;   // the largest unit of discard on the way
    std::int64_t min_extent = 0;
    std::string why_not;        // it is left out: why
    bool is_by_policy = false;  // and that is for good: the policy, fstab
};

// Every filesystem on a block device that is mounted, by target. What is only in fstab is not among them.
std::vector<TrimTarget> find_trim_targets(const Policy& policy, const Topology& topology, Host& host);

// Those that `words` name: a mount point, or a path below one. An Error for a word that names none.
Result<std::vector<TrimTarget>> select_targets(std::vector<TrimTarget> targets,
                                               const std::vector<std::string>& words,
                                               const Topology& topology);

}  // namespace storpol
