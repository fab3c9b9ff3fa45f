// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "engine/host/query.h"

namespace storpol {

// What the journal holds of a unit: what it printed and how its runs ended (QueryKind::journal), at most that many
// entries, from the newest backwards, within two seconds. EACCES where this user may not read the system's journal,
// ENOENT where there is none.
Answer answer_journal(const Query& query);

// One entry as the answer has it. A result beats the text; an entry with neither is none, and so is its line.
struct JournalEntry {
    std::string time;  // RFC 3339
    std::string text;
    std::string result;  // "success", "exit-code", "condition", ...
    std::string status;  // of a result
};

std::string render_journal_line(const JournalEntry& entry);

}  // namespace storpol
