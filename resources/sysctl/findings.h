// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include "engine/model/reading.h"
#include "engine/model/setting.h"
#include "resources/sysctl/sources.h"

// What has to be said beside the sysctl readings: who else writes, what is not read, what will not last.
namespace storpol {

class Host;
class Notes;

struct SysctlView {
    std::span<const Setting> settings;
    const std::vector<Observation>& observations;  // one per setting
    const SysctlSources& sources;
};

void note_sysctl_findings(const SysctlView& view, Host& host, Notes& notes);

}  // namespace storpol
