// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/model/condition.h"
#include "engine/model/reading.h"

namespace storpol {

// The one comparison. `live` is the live reading of the same setting: under a bound a persisted Unset without a default
// takes it as the default. A number and a word are never equal; a bound on a word is unknown.
Verdict compare(const Condition& wanted, const Reading& found, const Reading* live = nullptr);

}  // namespace storpol
