// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace storpol {

using JournalFields = std::vector<std::pair<std::string, std::string>>;  // upper-case names

// One structured entry in the journal of the machine (https://systemd.io/JOURNAL_NATIVE_PROTOCOL). False where there is
// none: a machine without journald loses nothing that the state files do not hold.
bool send_to_journal(const JournalFields& fields, const std::string& socket_path = "/run/systemd/journal/socket");

// The datagram. A value with newlines carries its length.
std::string render_journal_entry(const JournalFields& fields);

}  // namespace storpol
