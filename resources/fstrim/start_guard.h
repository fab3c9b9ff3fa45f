// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "engine/model/condition.h"
#include "resources/fstrim/readings.h"

namespace storpol {

// Why the service manager may start a trim as soon as it reads this schedule, with the times; empty where it will not.
// systemd counts from the timer's last run (src/core/timer.c, timer_enter_waiting): a time that lies between that run
// and now fires at once.
std::string starts_at_once(const Condition& schedule, const FstrimLive& live, Host& host);

}  // namespace storpol
