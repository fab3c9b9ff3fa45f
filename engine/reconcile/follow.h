// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "engine/model/plan.h"
#include "engine/reconcile/evaluate.h"

namespace storpol {

// Gaps that what other settings do closes too (Gap::with): the actions of these serve them as well, and where some of
// it comes later they wait for that. `states` are those of all domains.
void follow_others(std::vector<Action>& actions, std::vector<Gap>& gaps, const std::vector<SettingState*>& states);

}  // namespace storpol
