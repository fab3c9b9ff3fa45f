// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "engine/reconcile/journal.h"

// The lines of a journal file: one JSON object each, in the order in which things happened.
//   {"event": "begin", "command": "apply", "started": "...", ...}
//   {"event": "intend", "action": "a1", "verb": "drop-in", "target": "...", "step": {...}, "undo": [{...}], "before":
//   "..."}
//   {"event": "step", "outcome": "done", "after": "..."}
//   {"event": "finish", "finished": "...", "complete": true}
namespace storpol {

std::string begin_line(const Transaction& head);
std::string intend_line(const JournaledStep& step);
std::string step_line(const JournaledStep& step);
std::string finish_line(const std::string& time, bool complete);

// Reads a file's text; a last line without '\n' is left out. A transaction without a command is one that never began.
Result<Transaction> parse_transaction(std::string_view text, int number, std::string_view where);

}  // namespace storpol
