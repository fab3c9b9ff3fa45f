// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace storpol {

class Host;

// The time zone of a calendar expression that this host does not have: systemd ignores a line with such a one
// (systemd src/basic/time-util.c, timezone_is_valid()). Empty: it has it, the expression names none, or there is no
// /usr/share/zoneinfo to judge by.
std::string unknown_zone(std::string_view calendar, Host& host);

}  // namespace storpol
