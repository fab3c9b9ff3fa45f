// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "engine/model/plan.h"

namespace storpol {

class Host;

// All edits of a file made into one ReplaceFile (DeleteFile where an own file ends up empty) with its diff; the other
// actions stay as they are. Edits that a guard refuses are folded by themselves, so that they hold nothing else up.
// What an edit serves and would not change, as the file says so already, becomes a gap.
std::vector<Action> fold_edits(std::vector<Action> actions, std::vector<Gap>& gaps, Host& host);

// One action into another of the same effect: what it serves, says and reads; the worse risk and the sooner time.
void merge_into(Action& action, Action other);
// Once all are merged: what it serves and reads, each once.
void end_merging(Action& action);

}  // namespace storpol
