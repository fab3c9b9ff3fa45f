// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/start_guard.h"

#include <cstdint>
#include <vector>

#include "engine/host/host.h"
#include "engine/reconcile/clock.h"
#include "engine/text/calendar.h"

namespace storpol {
namespace {

// How far ahead of UTC the clock on the wall is, or may be where its zone cannot be read.
std::vector<std::int64_t> offsets(Host& host, std::int64_t seconds) {
    if (const auto known = wall_offset(host, seconds)) return {*known};
    std::vector<std::int64_t> hours;
    for (std::int64_t hour = -12; hour <= 14; ++hour) hours.push_back(hour * 3600);
    return hours;
}

}  // namespace

std::string starts_at_once(const Condition& schedule, const FstrimLive& live, Host& host) {
    const auto* is = std::get_if<Is>(&schedule);
    const auto fired = live.timer.find("LastTriggerUSec");
    const auto clock = host.now();
    if (is == nullptr || fired == live.timer.end() || !clock) return {};
    const auto calendar = parse_calendar(to_text(is->value));
    const auto last = seconds_of(fired->second);
    const auto now = seconds_of(*clock);
    if (!calendar || !last || !now) return {};
    for (const auto offset : offsets(host, *last)) {
        const auto due = next_due(*calendar, *last, offset);
        if (due && *due <= *now)
            return "the new schedule was due at " + rfc3339(*due) + ", since the last run at " + fired->second +
                   ": reading it may start a trim at once";
    }
    return {};
}

}  // namespace storpol
