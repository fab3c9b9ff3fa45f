// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/model/condition.h"
#include "engine/model/reading.h"

namespace storpol {

// The one comparison. A number and a word are never equal; a bound on a word is unknown. Unset is judged by its
// default, and where that is not known: a wanted value drifts, a forbidden one is not there, and a bound takes what
// `live` (the live reading, given for the persisted plane) holds as the default, or is unknown where that says nothing
// either.
Verdict compare(const Condition& wanted, const Reading& found, const Reading* live = nullptr);

}  // namespace storpol
