// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "engine/base/text.h"
#include "engine/report/report.h"
#include "engine/report/setting_text.h"
#include "engine/report/text_writer.h"

namespace storpol {
namespace {

Tone tone_of(ActionResult result) {
    switch (result) {
        case ActionResult::done:
            return Tone::good;
        case ActionResult::failed:
        case ActionResult::refused:
            return Tone::bad;
        case ActionResult::skipped:
        case ActionResult::left:
            return Tone::doubtful;
    }
    return Tone::plain;
}

void write_outcome(TextWriter& out, const ActionOutcome& outcome) {
    const std::string name = fmt::format("{}:{}", to_text(outcome.action.verb), printable(outcome.action.target));
    out.line(fmt::format("  {}{}{}", out.paint(tone_of(outcome.result), padded(to_text(outcome.result), 9)),
                         padded(outcome.action.id, 4), name));
    if (!outcome.why.empty()) out.wrapped(std::string(15, ' '), 15, printable(outcome.why));
}

std::string_view outcome_word(JournaledStep::Outcome outcome) {
    switch (outcome) {
        case JournaledStep::Outcome::in_flight:
            return "in flight";
        case JournaledStep::Outcome::done:
            return "done";
        case JournaledStep::Outcome::failed:
            return "failed";
        case JournaledStep::Outcome::undone:
            return "undone";
    }
    return "";
}

}  // namespace

std::string render_apply_text(const ApplyReport& report, const ReportHead& head, const TextStyle& style) {
    TextWriter out(style);
    out.line(out.paint(Tone::strong, (report.declined ? "Not applied to " : "Applied to ") + host_text(head)));
    if (report.outcomes.empty()) out.line("  nothing to do");
    for (const ActionOutcome& outcome : report.outcomes) write_outcome(out, outcome);
    bool first = true;
    for (const SettingState& state : report.after.settings) {
        if (!style.verbose && !is_worth_showing(state)) continue;
        out.blank();
        if (first)
            out.line(out.paint(Tone::strong, style.verbose ? "Observed afterwards:" : "Not in sync afterwards:"));
        first = false;
        write_setting(out, state);
    }
    std::vector<Finding> findings = report.recovered;
    findings.insert(findings.end(), report.after.findings.begin(), report.after.findings.end());
    write_findings(out, findings);
    write_total(out, report.after.summary, false);
    return out.take();
}

std::string render_rollback_text(const RollbackReport& report, const ReportHead& head, const TextStyle& style) {
    TextWriter out(style);
    if (report.declined) {
        out.line(fmt::format("Nothing rolled back on {}.", host_text(head)));
        return out.take();
    }
    out.line(out.paint(Tone::strong, fmt::format("Rolled back transaction {} on {}", report.number, host_text(head))));
    for (const std::string& sentence : report.says) out.wrapped("  ", 2, printable(sentence));
    return out.take();
}

std::string render_history_text(const std::vector<Transaction>& transactions, const TextStyle& style) {
    TextWriter out(style);
    if (transactions.empty()) out.line("No transaction yet.");
    for (const Transaction& each : transactions) {
        std::string head = fmt::format("{}  {}  {}", each.number, printable(each.started), printable(each.command));
        if (each.rolls_back != 0) head += fmt::format(" of {}", each.rolls_back);
        if (each.finished.empty()) head += "  interrupted";
        out.line(out.paint(Tone::strong, head));
        for (const JournaledStep& step : each.steps) {
            out.line(fmt::format("  {}{}:{}", padded(outcome_word(step.outcome), 11), to_text(step.verb),
                                 printable(step.target)));
            if (!step.error.empty()) out.wrapped(std::string(13, ' '), 13, printable(step.error));
        }
    }
    return out.take();
}

}  // namespace storpol
