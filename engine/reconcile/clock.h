// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Dates as the host tells them. Pure: the clock is a question to the Host.
namespace storpol {

class Host;

// Days since 1970-01-01 of "2027-03-01" or of an RFC 3339 time in UTC; none for a text or a day that does not exist.
std::optional<int> day_of(std::string_view date);

// Seconds since 1970 of an RFC 3339 time in UTC ("2026-11-30T12:00:00Z"); none for anything else.
std::optional<std::int64_t> seconds_of(std::string_view time);

// "2026-11-30T12:00:00Z" of seconds since 1970.
std::string rfc3339(std::int64_t seconds);

// How many seconds the clock on the wall is ahead of UTC at `seconds`, by /etc/localtime (without one the host has UTC,
// localtime(5)); none where that cannot be known.
std::optional<std::int64_t> wall_offset(Host& host, std::int64_t seconds);

// The id of the running boot; empty where it cannot be read (an image, a capture without it).
std::string boot_id_of(Host& host);
// When the running boot began, RFC 3339, from /proc/stat btime; empty where that cannot be read.
std::string boot_time_of(Host& host);

}  // namespace storpol
