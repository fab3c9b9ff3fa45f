// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/policy/policy.h"
#include "engine/reconcile/apply.h"
#include "engine/reconcile/evaluate.h"
#include "engine/reconcile/journal.h"

// What people and programs read. Pure: text out, nothing printed. Host text in it is printable().
namespace storpol {

struct ReportHead {
    std::string version;    // of storpol
    std::string command;    // "plan", "apply", "drift", "explain", "rollback", ...
    std::string host_name;  // empty where it is not known
    std::string source;     // "live", "capture FILE", "root DIR"; empty for commands without a host
    std::string host_time;  // RFC 3339; empty where it is not known
};

struct TextStyle {
    bool color = false;
    bool verbose = false;
    int columns = 80;
};

// Grouped by address: per plane the verdict, what was found, where it came from and what it overrides; then the actions
// with diff, when and risk; findings; a one-line total. Settings that are in sync or absent are counted, and shown with
// `verbose`.
std::string render_plan_text(const Evaluation& evaluation, const ReportHead& head, const TextStyle& style);
// The same without actions: what is not as wanted, or not known.
std::string render_drift_text(const Evaluation& evaluation, const ReportHead& head, const TextStyle& style);
// What became of each action, then what is still not as wanted.
std::string render_apply_text(const ApplyReport& report, const ReportHead& head, const TextStyle& style);
std::string render_rollback_text(const RollbackReport& report, const ReportHead& head, const TextStyle& style);
// Every setting in full, with the policy lines that ask for it.
std::string render_explain_text(const Evaluation& evaluation, const Policy& policy, const TextStyle& style);
// Oldest first, a line per transaction and one per step.
std::string render_history_text(const std::vector<Transaction>& transactions, const TextStyle& style);
std::string render_errors_text(const std::vector<PolicyError>& errors);

// The part of an evaluation that `word` names: a domain ("sysctl"), an address or a glob over addresses, or the name
// inside the brackets ("vm.swappiness"). Empty where nothing does. Plan and summary follow the settings.
Evaluation selected(const Evaluation& evaluation, std::string_view word);

// JSON format 1; one document, ends in '\n'. docs/storpol-report.schema.json describes it.
std::string render_json(const Evaluation& evaluation, const ReportHead& head);
std::string render_json(const ApplyReport& report, const ReportHead& head);
std::string render_json(const std::vector<PolicyError>& errors, const ReportHead& head);
std::string render_json(const Error& error, const ReportHead& head);
// `undone` is the rollback's own transaction; none where nothing was done.
std::string render_json(const RollbackReport& report, const std::optional<Transaction>& undone, const ReportHead& head);
std::string render_json(const std::vector<Transaction>& transactions, const ReportHead& head);

// A saved plan: the policy's files with the plan they led to. Reading gives hostile text an Error.
struct SavedPlan {
    std::vector<Policy::File> files;
    Plan plan;
    bool prune = false;
};

std::string render_saved_plan(const Policy& policy, const Plan& plan, bool prune, std::string_view version);
bool looks_like_saved_plan(std::string_view text);  // by its first bytes; never true of a policy
Result<SavedPlan> parse_saved_plan(std::string_view text, std::string_view where);

}  // namespace storpol
