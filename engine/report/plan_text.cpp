// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/reconcile/judge.h"
#include "engine/report/report.h"
#include "engine/report/setting_text.h"
#include "engine/report/text_writer.h"

namespace storpol {
namespace {

void write_settings(TextWriter& out, const Evaluation& evaluation) {
    for (const SettingState& state : evaluation.settings) {
        if (!out.style().verbose && !is_worth_showing(state)) continue;
        out.blank();
        write_setting(out, state);
    }
}

}  // namespace

std::string render_plan_text(const Evaluation& evaluation, const ReportHead& head, const TextStyle& style) {
    TextWriter out(style);
    out.line(out.paint(Tone::strong, "Plan for " + host_text(head)));
    write_settings(out, evaluation);
    if (!evaluation.plan.actions.empty()) {
        out.blank();
        out.line(out.paint(Tone::strong, "Actions:"));
        for (const Action& action : evaluation.plan.actions) write_action(out, action);
    }
    write_findings(out, evaluation.findings);
    write_total(out, evaluation.summary, true);
    return out.take();
}

std::string render_drift_text(const Evaluation& evaluation, const ReportHead& head, const TextStyle& style) {
    TextWriter out(style);
    out.line(out.paint(Tone::strong, "Drift of " + host_text(head)));
    write_settings(out, evaluation);
    write_findings(out, evaluation.findings);
    write_total(out, evaluation.summary, false);
    return out.take();
}

std::string render_explain_text(const Evaluation& evaluation, const Policy& policy, const TextStyle& style) {
    TextWriter out(style);
    for (const SettingState& state : evaluation.settings) {
        out.blank();
        write_setting(out, state, &policy);
    }
    if (evaluation.settings.size() > 1) write_total(out, evaluation.summary, false);
    return out.take();
}

std::string render_errors_text(const std::vector<PolicyError>& errors) {
    std::string out;
    for (const PolicyError& error : errors) out += render(error);
    return out;
}

namespace {

// sysctl["vm.swappiness"] -> vm.swappiness; empty for an address without brackets.
std::string bracketed_name(std::string_view address) {
    const std::size_t open = address.find("[\"");
    const std::size_t close = address.rfind("\"]");
    if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) return {};
    return std::string{address.substr(open + 2, close - open - 2)};
}

bool names(std::string_view word, const std::string& address) {
    if (word.empty()) return false;
    if (glob_match(word, address) || word == bracketed_name(address)) return true;
    const std::size_t size = word.size();
    if (address.size() <= size || address.compare(0, size, word) != 0) return false;
    return address[size] == '[' || address[size] == '.';  // a domain, or a thing of it: fstrim, mount["/"]
}

}  // namespace

Evaluation selected(const Evaluation& evaluation, std::string_view word) {
    Evaluation part;
    for (const SettingState& state : evaluation.settings) {
        if (!names(word, state.setting.address)) continue;
        part.settings.push_back(state);
    }
    const auto is_kept = [&](const SettingPlane& of) {
        return std::any_of(part.settings.begin(), part.settings.end(),
                           [&](const SettingState& state) { return state.setting.address == of.address; });
    };
    for (const Action& action : evaluation.plan.actions)
        if (std::any_of(action.serves.begin(), action.serves.end(), is_kept)) part.plan.actions.push_back(action);
    for (const Gap& gap : evaluation.plan.gaps)
        if (is_kept(gap.of)) part.plan.gaps.push_back(gap);
    part.summary = summary_of(part);
    return part;
}

}  // namespace storpol
