// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include "engine/model/setting.h"
#include "engine/reconcile/resource.h"

namespace storpol {

class Host;
class Topology;

// What works against zram on this host beside the settings themselves: zswap in front of it, swap on a disk that is
// filled first, a limit that stops writes, memory too short for a change, a kernel or container without zram.
void note_zram_findings(std::span<const Setting> settings,
                        std::span<const Observation> observed,
                        const Topology& topology,
                        Host& host,
                        Notes& notes);

}  // namespace storpol
