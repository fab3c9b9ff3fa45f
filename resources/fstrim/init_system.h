// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace storpol {

class Host;

// The init system where it surely is another one than systemd: "OpenRC", "runit", ...; empty where it is systemd, or
// nothing tells (an image without /sbin/init).
std::string foreign_init(Host& host);

// Whether this is a container, whose filesystems are its host's to trim (as ConditionVirtualization=!container has it).
bool is_container(Host& host);

// The first of these programs that the host has; empty for none.
std::string first_program(Host& host, std::span<const std::string_view> paths);

// Where storpol may be installed. A link into somebody's build folder is no place for a service to start.
inline constexpr std::array<std::string_view, 4> storpol_programs{"/usr/bin/storpol", "/usr/local/bin/storpol",
                                                                  "/usr/sbin/storpol", "/usr/local/sbin/storpol"};
inline constexpr std::array<std::string_view, 3> fstrim_programs{"/usr/sbin/fstrim", "/sbin/fstrim", "/usr/bin/fstrim"};

}  // namespace storpol
