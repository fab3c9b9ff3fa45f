// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/trim_due.h"

#include <algorithm>
#include <charconv>

#include "engine/base/digest.h"
#include "engine/reconcile/clock.h"
#include "engine/text/calendar.h"

namespace storpol {
namespace {

constexpr auto in_seconds(std::chrono::microseconds time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

// When the last try began that was one; none where it lies in the future.
std::optional<std::int64_t> last_try(const TrimRecord& record, std::int64_t now) {
    for (auto run = record.runs.rbegin(); run != record.runs.rend(); ++run) {
        if (run->outcome == TrimOutcome::skipped) continue;
        const auto began = seconds_of(run->began);
        return began && *began <= now ? began : std::nullopt;
    }
    return std::nullopt;
}

// The same at every question, so that a fleet spreads and each machine keeps its hour.
std::int64_t share_of_delay(const TrimSchedule& schedule, const std::string& machine) {
    const auto most = in_seconds(schedule.random_delay);
    if (most <= 0) return 0;
    const auto digest = digest_of(machine);
    std::uint32_t number = 0;
    std::from_chars(digest.data(), digest.data() + 8, number, 16);
    return static_cast<std::int64_t>(number) % (most + 1);
}

bool is_boot_run_due(std::int64_t tried, std::int64_t now, const TrimSchedule& schedule, const TrimMoment& moment) {
    const auto booted = seconds_of(moment.booted);
    return schedule.boot_delay && booted && tried < *booted && now >= *booted + in_seconds(*schedule.boot_delay);
}

}  // namespace

std::string why_not_due(const TrimRecord& record, const TrimSchedule& schedule, const TrimMoment& moment) {
    const auto now = seconds_of(moment.now);
    const auto calendar = parse_calendar(schedule.calendar);
    if (!now || !calendar || record.resume) return {};
    const auto tried = last_try(record, *now);
    if (!tried && schedule.catches_up) return {};
    if (is_boot_run_due(tried.value_or(0), *now, schedule, moment)) return {};
    const auto delay = share_of_delay(schedule, moment.machine);
    // What was due before the last question has had its chance.
    const auto missed = *now - delay - between_questions.count();
    const auto since = schedule.catches_up ? *tried : std::max(tried.value_or(missed), missed);
    const auto due = next_due(*calendar, since, moment.zone);
    if (!due) return "the schedule does not come again";
    return *due + delay <= *now ? "" : "not due before " + rfc3339(*due + delay);
}

}  // namespace storpol
