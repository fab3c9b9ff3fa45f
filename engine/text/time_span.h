// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

// Time spans as unit files spell them (systemd.time(7), "Parsing Time Spans"): "5min", "1h 30min", "6000" (seconds),
// "1.5h", "infinity". Policies have stricter ones (engine/base/units.h).
namespace storpol {

// None for what is no span. "infinity" is the largest one.
std::optional<std::chrono::microseconds> parse_time_span(std::string_view text);

}  // namespace storpol
