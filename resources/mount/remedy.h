// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/model/plan.h"
#include "engine/model/setting.h"

namespace storpol {

class Host;
class Topology;

// One remount per mount point naming only what changes; fstab in the options field alone; units by a drop-in; a
// daemon-reload where systemd runs. What a remount cannot do waits for the next mount.
Remedy mount_remedy(std::span<const Difference> differences, const Topology& topology, Host& host);

// The drop-ins of mount units that are ours: /etc/systemd/system/*.mount.d/50-storpol.conf.
std::vector<std::string> mount_own_files(Host& host);

// Asks what mount_remedy() may ask, for captures.
void survey_remedy(Host& host);

}  // namespace storpol
