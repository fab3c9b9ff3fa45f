// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>

#include "engine/reconcile/resource.h"
#include "resources/fstrim/readings.h"

namespace storpol {

// What else a person should know of the pair: lines that systemd ignores, runs that were missed, skipped or failed, and
// when the next one is due.
void note_units(
    std::span<const Setting> settings, const FstrimUnits& units, const FstrimLive& live, Host& host, Notes& notes);

// The paced runner reads the host's own policy: where there is none.
void note_runners_policy(Host& host, Notes& notes);

}  // namespace storpol
