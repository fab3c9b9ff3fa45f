// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "engine/host/host.h"

// What on the machine speaks against a trim just now. Ask a Host that remembers nothing: the answers change.
namespace storpol {

// As systemd's ConditionACPower= judges: some battery of the machine's own (not a mouse's) discharges, and no supply
// from outside is online.
bool is_on_battery(Host& host);

// Who else is trimming: "fstrim (process 812)", "fstrim.service"; empty for nobody. A unit that runs this very process
// is not somebody else.
std::string other_trim(Host& host);

}  // namespace storpol
