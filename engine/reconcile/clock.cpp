// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/clock.h"

#include <chrono>
#include <cstdint>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/time_zone.h"

namespace storpol {
namespace {

std::string two_digits(std::int64_t number) {
    std::string text = std::to_string(number);
    return text.size() < 2 ? "0" + text : text;
}

}  // namespace

std::optional<int> day_of(std::string_view date) {
    if (date.size() < 10 || date[4] != '-' || date[7] != '-') return std::nullopt;
    if (date.size() > 10 && date[10] != 'T') return std::nullopt;
    const auto year = parse_int(date.substr(0, 4));
    const auto month = parse_int(date.substr(5, 2));
    const auto day = parse_int(date.substr(8, 2));
    if (!year || !month || !day || *year < 0 || *month < 0 || *day < 0) return std::nullopt;
    const std::chrono::year_month_day calendar{std::chrono::year(static_cast<int>(*year)),
                                               std::chrono::month(static_cast<unsigned>(*month)),
                                               std::chrono::day(static_cast<unsigned>(*day))};
    if (!calendar.ok()) return std::nullopt;
    return static_cast<int>(std::chrono::sys_days(calendar).time_since_epoch().count());
}

std::optional<std::int64_t> seconds_of(std::string_view time) {
    const auto day = day_of(time);
    if (!day || time.size() != 20 || time[10] != 'T' || time[13] != ':' || time[16] != ':' || time[19] != 'Z')
        return std::nullopt;
    const auto hour = parse_int(time.substr(11, 2));
    const auto minute = parse_int(time.substr(14, 2));
    const auto second = parse_int(time.substr(17, 2));
    if (!hour || !minute || !second || *hour < 0 || *hour > 23 || *minute < 0 || *minute > 59 || *second < 0 ||
        *second > 60)
        return std::nullopt;
    return *day * std::int64_t{86400} + *hour * 3600 + *minute * 60 + *second;
}

std::string rfc3339(std::int64_t seconds) {
    const auto day = std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
    const std::chrono::year_month_day calendar(day);
    const auto rest = seconds - std::chrono::seconds(day.time_since_epoch()).count();
    auto year = std::to_string(static_cast<int>(calendar.year()));
    if (year.size() < 4) year.insert(0, 4 - year.size(), '0');
    return year + "-" + two_digits(static_cast<unsigned>(calendar.month())) + "-" +
           two_digits(static_cast<unsigned>(calendar.day())) + "T" + two_digits(rest / 3600) + ":" +
           two_digits(rest / 60 % 60) + ":" + two_digits(rest % 60) + "Z";
}

std::optional<std::int64_t> wall_offset(Host& host, std::int64_t seconds) {
    const auto zone = host.read_file("/etc/localtime");
    if (zone) return zone_offset_at(*zone, seconds);
    return zone.error().kind == ErrorKind::no_such_file ? std::optional<std::int64_t>(0) : std::nullopt;
}

// 7a2c1f3e-2f5b-4d6c-9a1e-3b0f6f1c2d4e
std::string boot_id_of(Host& host) {
    const auto text = host.read_file("/proc/sys/kernel/random/boot_id");
    return text ? std::string(trim(*text)) : std::string();
}

// btime 1764500000
std::string boot_time_of(Host& host) {
    const auto text = host.read_file("/proc/stat");
    if (!text) return {};
    for (const auto line : split_lines(*text)) {
        if (!line.starts_with("btime ")) continue;
        const auto seconds = parse_int(trim(line.substr(6)));
        // A clock in the year 10000 is a hostile capture, not a boot.
        if (seconds && *seconds >= 0 && *seconds < 253402300800) return rfc3339(*seconds);
    }
    return {};
}

}  // namespace storpol
