// SPDX-License-Identifier: GPL-3.0-or-later
// When a calendar is due. Days are gone through one by one: the longest way, to the last year there is, takes a
// millisecond.
#include <algorithm>
#include <chrono>

#include "engine/text/calendar.h"

namespace storpol {
namespace {

constexpr std::int64_t second_us = 1000000;
constexpr int last_year = 2199;  // calendarspec.c MAX_YEAR

bool holds(const Calendar::Field& field, std::int64_t value) {
    if (field.empty()) return true;
    return std::ranges::any_of(field, [value](const Calendar::Component& one) {
        if (value < one.start || (one.stop >= 0 && value > one.stop)) return false;
        return value == one.start || (one.repeat > 0 && (value - one.start) % one.repeat == 0);
    });
}

// Days counted from the end, 1 the last: "~03/1" goes towards the month's end, as its repetition lowers the number.
bool holds_from_end(const Calendar::Field& field, std::int64_t value) {
    return std::ranges::any_of(field, [value](const Calendar::Component& one) {
        if (one.stop >= 0) return value >= one.start && value <= one.stop && (value - one.start) % one.repeat == 0;
        if (value == one.start) return true;
        return one.repeat > 0 && value < one.start && (one.start - value) % one.repeat == 0;
    });
}

bool is_due_on(const Calendar& calendar, std::chrono::sys_days day) {
    const std::chrono::year_month_day date(day);
    if (!holds(calendar.year, static_cast<int>(date.year()))) return false;
    if (!holds(calendar.month, static_cast<unsigned>(date.month()))) return false;
    if (calendar.weekdays != 0) {
        const auto weekday = std::chrono::weekday(day).iso_encoding() - 1;
        if ((calendar.weekdays >> weekday & 1U) == 0) return false;
    }
    const auto number_of_day = static_cast<unsigned>(date.day());
    if (!calendar.from_end_of_month) return holds(calendar.day, number_of_day);
    const std::chrono::year_month_day_last last(date.year(), std::chrono::month_day_last(date.month()));
    return holds_from_end(calendar.day, static_cast<unsigned>(last.day()) - number_of_day + 1);
}

// The first second of the day from `from` on (seconds since midnight) at which it is due. Fractions of a second round
// up.
std::optional<std::int64_t> due_in_day(const Calendar& calendar, std::int64_t from) {
    for (std::int64_t hour = from / 3600; hour < 24; ++hour) {
        if (!holds(calendar.hour, hour)) continue;
        for (std::int64_t minute = 0; minute < 60; ++minute) {
            const auto start = hour * 3600 + minute * 60;
            if (start + 59 < from || !holds(calendar.minute, minute)) continue;
            for (auto second = std::max<std::int64_t>(0, from - start); second < 60; ++second) {
                if (holds(calendar.second, second * second_us)) return start + second;
            }
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> next_due(const Calendar& calendar, std::int64_t seconds, std::int64_t offset) {
    using std::chrono::days;
    if (calendar.utc) offset = 0;
    const auto local = std::chrono::sys_seconds(std::chrono::seconds(seconds + offset + 1));
    auto day = std::chrono::floor<days>(local);
    auto from = (local - day).count();
    const std::chrono::sys_days end(std::chrono::year(last_year + 1) / 1 / 1);
    day = std::max(day, std::chrono::sys_days{});
    for (; day < end; day += days(1), from = 0) {
        if (!is_due_on(calendar, day)) continue;
        const auto due = due_in_day(calendar, from);
        if (due) return std::chrono::seconds(day.time_since_epoch()).count() + *due - offset;
    }
    return std::nullopt;
}

bool is_ever_due(const Calendar& calendar, std::int64_t seconds) {
    return next_due(calendar, seconds).has_value();
}

}  // namespace storpol
