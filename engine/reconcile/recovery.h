// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/host/performer.h"
#include "engine/model/setting.h"
#include "engine/reconcile/journal.h"

namespace storpol {

// Ends a transaction that was interrupted: the one step that was in flight is found to be in its old or its new state
// (a step replaces whole or not at all), what it left beside its target is removed, and the journal says so. Plans
// nothing: the apply that follows does. Answers what was found; nothing where the newest transaction is whole. An Error
// where the journal cannot be read or written: then nothing further may be done.
Result<std::vector<Finding>> recover(Journal& journal, Performer& performer, const std::string& now);

}  // namespace storpol
