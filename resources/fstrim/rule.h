// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/policy/keys.h"
#include "engine/policy/policy.h"
#include "engine/reconcile/resource.h"

// [fstrim] as the policy has it.
namespace storpol {

struct FstrimWish {
    std::string text;                    // the policy's own
    std::optional<std::int64_t> number;  // bytes, microseconds, a count
    Place place;
};

struct FstrimPolicy {
    Place place;                             // of the table
    std::map<std::string, FstrimWish> keys;  // "schedule", "catch-up", ...; without `evidence`
    std::optional<FstrimWish> max_age;       // microseconds
    std::optional<FstrimWish> max_zero_byte_runs;
    Place evidence;

    const FstrimWish* find(std::string_view key) const;
    bool is_enabled() const;
    bool is_run_by_storpol() const;
};

// None without the table. What is wrong whatever the host goes to `notes`: keys that need the other runner.
std::optional<FstrimPolicy> read_fstrim_policy(const Policy& policy, Notes& notes);

// [fstrim], and `fstrim` of [[mount]].
PolicyKeys fstrim_keys();

inline constexpr std::string_view fstrim_timer = "fstrim.timer";
inline constexpr std::string_view fstrim_service = "fstrim.service";

}  // namespace storpol
