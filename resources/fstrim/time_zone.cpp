// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/time_zone.h"

#include "engine/host/host.h"
#include "engine/text/calendar.h"

namespace storpol {

std::string unknown_zone(std::string_view calendar, Host& host) {
    constexpr const char* zones = "/usr/share/zoneinfo";
    const auto parsed = parse_calendar(calendar);
    if (!parsed || parsed->zone.empty()) return {};
    const auto file = host.stat(std::string(zones) + "/" + parsed->zone);
    if (file && file->type == "file") return {};
    if (!file && file.error().kind != ErrorKind::no_such_file) return {};
    return host.stat(zones) ? parsed->zone : std::string();
}

}  // namespace storpol
