// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace storpol {

class Host;

// The init system where it surely is another one than systemd: "OpenRC", "runit", ...; empty where it is systemd, or
// nothing tells (an image without /sbin/init).
std::string foreign_init(Host& host);

// Whether this is a container, whose filesystems are its host's to trim (as ConditionVirtualization=!container has it).
bool is_container(Host& host);

}  // namespace storpol
