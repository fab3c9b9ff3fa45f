// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_conditions.h"

#include "engine/base/text.h"

namespace storpol {
namespace {

std::string attribute(Host& host, const std::string& path) {
    const auto text = host.read_file(path);
    return text ? std::string(trim(*text)) : std::string();
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

// Kernel Documentation/ABI/testing/sysfs-class-power.
bool is_on_battery(Host& host) {
    const std::string folder = "/sys/class/power_supply";
    const auto names = host.list(folder);
    if (!names) return false;  // a machine without supplies to speak of is plugged in
    bool discharges = false;
    for (const auto& name : *names) {
        const auto path = folder + "/" + name + "/";
        const auto type = attribute(host, path + "type");
        if (type == "Battery") {
            const bool is_own = attribute(host, path + "scope") != "Device";
            if (is_own && attribute(host, path + "status") == "Discharging") discharges = true;
        } else if (type == "Mains" || type.starts_with("USB") || type == "Wireless") {
            const auto online = attribute(host, path + "online");
            if (!online.empty() && online != "0") return false;
        }
    }
    return discharges;
}

std::string other_trim(Host& host) {
    const auto own_group = host.read_file("/proc/self/cgroup");
    const bool is_own_unit = own_group && own_group->find("/fstrim.service") != std::string::npos;
    if (!is_own_unit) {
        const auto unit = host.unit("fstrim.service");
        const auto state = unit ? unit->find("ActiveState") : std::map<std::string, std::string>::const_iterator();
        if (unit && state != unit->end() && (state->second == "activating" || state->second == "active"))
            return "fstrim.service";
    }
    const auto processes = host.list("/proc");
    if (!processes) return {};
    for (const auto& name : *processes) {
        if (!is_number(name) || attribute(host, "/proc/" + name + "/comm") != "fstrim") continue;
        // Only root can trim; what anybody else calls so is to hold nothing up.
        const auto process = host.stat("/proc/" + name);
        if (process && process->uid == 0) return "fstrim (process " + name + ")";
    }
    return {};
}

}  // namespace storpol
