// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "engine/reconcile/apply.h"
#include "engine/reconcile/evaluate.h"

// What people and programs read. Pure: text out, nothing printed. Host text in it is printable().
namespace storpol {

struct ReportHead {
    std::string command;  // "plan", "apply", "drift"
    std::string host_name;
    std::string source;   // "live", "capture FILE", "root DIR"
    std::string host_time;  // RFC 3339
};

struct TextStyle {
    bool color = false;
    bool verbose = false;
    int columns = 80;
};

// Grouped by address; per plane wanted, found and where it came from; then the actions with diff, when and risk; findings;
// a one-line total.
std::string render_plan_text(const Evaluation& evaluation, const ReportHead& head, const TextStyle& style);
std::string render_drift_text(const Evaluation& evaluation, const ReportHead& head, const TextStyle& style);
std::string render_apply_text(const ApplyReport& report, const ReportHead& head, const TextStyle& style);
std::string render_explain_text(const Evaluation& evaluation, std::string_view address_or_domain, const Policy& policy, const TextStyle& style);
std::string render_errors_text(const std::vector<PolicyError>& errors);

// JSON format 1; one document, ends in '\n'.
std::string render_json(const Evaluation& evaluation, const ReportHead& head);
std::string render_json(const ApplyReport& report, const ReportHead& head);
std::string render_json(const std::vector<PolicyError>& errors, const ReportHead& head);

// A saved plan: the policy's files with the plan they led to. Reading gives hostile text an Error.
struct SavedPlan {
    std::vector<Policy::File> files;
    Plan plan;
    bool prune = false;
};
std::string render_saved_plan(const Policy& policy, const Plan& plan, bool prune);
Result<SavedPlan> parse_saved_plan(std::string_view text, std::string_view where);

}  // namespace storpol
