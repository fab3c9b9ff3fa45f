// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/model/place.h"

// Who else writes sysctls on this host, after the files were applied: TuneD profiles and udev rules.
namespace storpol {

class Host;

struct SysctlOwnerLine {
    std::string path;   // below /proc/sys
    std::string value;  // as written there
    Place where;
    bool operator==(const SysctlOwnerLine&) const = default;
};

// What the active TuneD profile and those it includes set (resources/tuned_profile.h). Nothing where none is active.
std::vector<SysctlOwnerLine> read_tuned_sysctls(Host& host);

// SYSCTL{key}="value" of all udev rules files; a file hides those of its name in later directories. Reads each file.
std::vector<SysctlOwnerLine> read_udev_sysctls(Host& host);

}  // namespace storpol
