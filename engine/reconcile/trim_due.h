// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/model/trim_record.h"

namespace storpol {

// When scheduled trims happen where no service manager keeps the time: a job of cron asks every hour.
struct TrimSchedule {
    std::string calendar = "weekly";                      // what fstrim.timer has where nothing else is said
    bool catches_up = true;                               // likewise
    std::optional<std::chrono::microseconds> boot_delay;  // once after each boot, this long after it
    std::chrono::microseconds random_delay{0};
};

struct TrimMoment {
    std::string now;        // RFC 3339
    std::string booted;     // when the running boot began; empty: not known
    std::int64_t zone = 0;  // seconds that the clock on the wall is ahead of UTC
    std::string machine;    // what tells this machine from others: each has its own share of the random delay
};

// How often the job asks. Without catch-up a run that was due longer ago is missed.
inline constexpr std::chrono::seconds between_questions{3600};

// Why no scheduled trim of this filesystem is due; empty: one is. Due is one that was never tried or was cut short, and
// one whose last try (a skipped one is none) lies before the schedule's last moment or, with a boot delay, before this
// boot. A time from the future counts as unknown.
std::string why_not_due(const TrimRecord& record, const TrimSchedule& schedule, const TrimMoment& moment);

}  // namespace storpol
