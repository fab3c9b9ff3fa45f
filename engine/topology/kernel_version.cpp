// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/kernel_version.h"

#include "engine/base/text.h"
#include "engine/host/host.h"

namespace storpol {

std::optional<KernelVersion> parse_kernel_version(std::string_view text) {
    const auto parts = split(trim(text), '.');
    if (parts.size() < 2) return std::nullopt;
    const auto digits = [](std::string_view part) { return part.substr(0, part.find_first_not_of("0123456789")); };
    const auto major = parse_int(digits(parts[0]));
    const auto minor = parse_int(digits(parts[1]));
    if (!major || !minor || *major > 1000 || *minor > 100000) return std::nullopt;
    return KernelVersion{static_cast<int>(*major), static_cast<int>(*minor)};
}

std::optional<KernelVersion> read_kernel_version(Host& host) {
    if (const auto release = host.read_file("/proc/sys/kernel/osrelease")) return parse_kernel_version(*release);
    std::optional<KernelVersion> newest;
    const auto installed = host.list("/usr/lib/modules");
    if (!installed) return newest;
    for (const std::string& name : *installed) {
        const auto version = parse_kernel_version(name);
        if (version && (!newest || *newest < *version)) newest = version;
    }
    return newest;
}

}  // namespace storpol
