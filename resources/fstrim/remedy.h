// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/model/plan.h"
#include "engine/model/setting.h"

namespace storpol {

class Host;
class Topology;

// Drop-ins and links for what the next start would get wrong, a daemon-reload and a start for what the service manager
// holds, one word of fstab for a filesystem that opts out.
Remedy fstrim_remedy(std::span<const Difference> differences, const Topology& topology, Host& host);

// "schedule" of fstrim.schedule; "coverage", "evidence" of those of filesystems.
std::string_view fstrim_property(std::string_view address);

std::string coverage_address(std::string_view target);
std::string evidence_address(std::string_view target);

// What a coverage setting holds.
inline constexpr std::string_view covered = "covered";
inline constexpr std::string_view left_out = "left out";

}  // namespace storpol
