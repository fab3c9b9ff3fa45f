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

// Jobs of cron that trim: beside the timer or, where another init system starts the host (`foreign`, else empty), all
// there is, with what becomes of a run that is missed.
void note_cron_jobs(const std::string& foreign, Host& host, Notes& notes);

}  // namespace storpol
