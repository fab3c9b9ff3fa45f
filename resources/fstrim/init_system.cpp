// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/init_system.h"

#include <array>
#include <utility>

#include "engine/base/text.h"
#include "engine/host/host.h"

namespace storpol {
namespace {

// Where each leaves a trace, running or installed.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> traces{{{"/run/openrc", "OpenRC"},
                                                                               {"/sbin/openrc", "OpenRC"},
                                                                               {"/run/runit", "runit"},
                                                                               {"/etc/runit", "runit"},
                                                                               {"/run/s6", "s6"},
                                                                               {"/run/shepherd", "Shepherd"}}};

}  // namespace

std::string foreign_init(Host& host) {
    if (host.stat("/run/systemd/system")) return {};  // sd_booted(3)
    const auto init = host.stat("/sbin/init");
    if (init && init->path.ends_with("/systemd")) return {};
    for (const auto& [path, name] : traces) {
        if (host.stat(path)) return std::string(name);
    }
    if (init && init->path.ends_with("/busybox")) return "BusyBox init";
    if (init && host.stat("/etc/inittab")) return "sysvinit";
    return {};
}

bool is_container(Host& host) {
    if (host.stat("/run/systemd/container") || host.stat("/run/.containerenv")) return true;
    // An image that was built with Docker has its mark too, and no /proc.
    return host.stat("/.dockerenv") && host.stat("/proc/self");
}

std::string first_program(Host& host, std::span<const std::string_view> paths) {
    for (const auto path : paths) {
        const auto answer = host.ask({QueryKind::program_exists, {std::string(path)}});
        if (!answer.refusal && trim(answer.text) == "yes") return std::string(path);
    }
    return {};
}

}  // namespace storpol
