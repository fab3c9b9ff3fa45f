// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/report/report.h"
#include "engine/report/text_writer.h"

// The parts that several text reports share.
namespace storpol {

// A setting: its address and what is wanted, then a line per plane with what qualifies it.
// `policy`: the lines that ask for it are quoted below it (explain); none: their places stand beside the address.
void write_setting(TextWriter& out, const SettingState& state, const Policy* policy = nullptr);

// In a report that is not verbose: something here is not as wanted, not known, or held back by an accept.
bool is_worth_showing(const SettingState& state);

void write_action(TextWriter& out, const Action& action);
void write_findings(TextWriter& out, const std::vector<Finding>& findings);  // those of severity info only when verbose
void write_total(TextWriter& out, const Summary& summary, bool with_actions);

// "host1", "host1 (capture FILE)", "this host".
std::string host_text(const ReportHead& head);

}  // namespace storpol
