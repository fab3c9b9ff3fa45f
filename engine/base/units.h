// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.h"

// Sizes, durations and percentages as policies spell them.
namespace storpol {

using Bytes = std::int64_t;

// "4096", "64KiB", "1MiB", "10GiB", "2TiB" (powers of 1024; "512B" too). No fractions, no decimal units: an ambiguous
// "1G" or "1MB" is an Error whose fix names the two readings.
Result<Bytes> parse_size(std::string_view text);
std::string render_size(Bytes bytes);  // the largest unit that divides it: "64KiB", "1000B"

// "500us", "5ms", "1s", "5min", "12h", "3d", "2w"; a number alone is an Error, as its unit would be a guess.
Result<std::chrono::microseconds> parse_duration(std::string_view text);
std::string render_duration(std::chrono::microseconds duration);

// "15%" -> 15. 0 to 1000.
Result<int> parse_percent(std::string_view text);

}  // namespace storpol
