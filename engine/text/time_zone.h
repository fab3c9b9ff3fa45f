// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace storpol {

// How many seconds the clock on the wall is ahead of UTC at `seconds` (since 1970), by the bytes of a compiled time
// zone
// (/etc/localtime; RFC 8536). None for what is no such file, and for times past its table where summer time goes on by
// a rule.
std::optional<std::int64_t> zone_offset_at(std::string_view compiled, std::int64_t seconds);

}  // namespace storpol
