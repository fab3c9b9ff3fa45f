// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

// Calendar expressions, as systemd.time(7) and its parser (systemd src/shared/calendarspec.c) have them: what a timer's
// OnCalendar= and a policy's schedule say. Two spellings of one schedule have one normal form, so schedules are
// compared by that alone. Pure: the time zone of the host is the caller's to know.
namespace storpol {

// "Mon..Fri *-*-* 04:00:00": each field is a list of numbers, ranges and repetitions, or any.
struct Calendar {
    struct Component {
        std::int64_t start = 0;   // seconds are in microseconds
        std::int64_t stop = -1;   // of a range; -1: none
        std::int64_t repeat = 0;  // every so many from start on; 0: start alone
        auto operator<=>(const Component&) const = default;
        bool operator==(const Component&) const = default;
    };

    using Field = std::vector<Component>;  // none: any

    unsigned weekdays = 0;  // bit 0 is Monday; 0: any
    Field year, month, day, hour, minute, second;
    bool from_end_of_month = false;  // "*-02~03": days count backwards
    bool utc = false;
    std::string zone;  // "Europe/Berlin"; empty: the host's

    bool operator==(const Calendar&) const = default;
};

// "weekly", "Sun 04:00", "*-*-01,15 03:30 UTC", ... An Error says what is wrong; its fix is a nearby word where there
// is one. A zone is taken by its shape: whether a host knows it is the host's.
Result<Calendar> parse_calendar(std::string_view text);

// The normal form, as systemd-analyze calendar prints it: "Mon *-*-* 00:00:00".
std::string render_calendar(const Calendar& calendar);

// The normal form of a text; an Error where it is none.
Result<std::string> normal_calendar(std::string_view text);

// The first time after `seconds` (since 1970) at which it is due, where the clock on the wall is `offset` seconds ahead
// of UTC; none where that never comes ("*-02-30", a year that is past).
std::optional<std::int64_t> next_due(const Calendar& calendar, std::int64_t seconds, std::int64_t offset = 0);

// Whether it is due at some time after `seconds`.
bool is_ever_due(const Calendar& calendar, std::int64_t seconds);

}  // namespace storpol
