// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
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

// One section.key = value of a tuned.conf; pure.
struct TunedLine {
    std::string section;
    std::string key;
    std::string value;
    int line = 0;
    bool operator==(const TunedLine&) const = default;
};

std::vector<TunedLine> parse_tuned(std::string_view text);

// What the active TuneD profile and those it includes set, outermost last. Nothing where no profile is active.
std::vector<SysctlOwnerLine> read_tuned_sysctls(Host& host);

// SYSCTL{key}="value" of all udev rules files; a file hides those of its name in later directories. Reads each file.
std::vector<SysctlOwnerLine> read_udev_sysctls(Host& host);

}  // namespace storpol
