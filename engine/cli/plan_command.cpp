// SPDX-License-Identifier: GPL-3.0-or-later
// plan, drift and explain: the commands that read a host and change nothing.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/cli/commands.h"
#include "engine/cli/output.h"
#include "engine/cli/policies.h"
#include "engine/cli/session.h"

namespace storpol {
namespace {

// What the three commands share: the policy, the host and what came of comparing them; or the exit code where one of
// them failed, after the failure has been reported.
struct Comparison {
    Policy policy;
    Evaluation evaluation;
    ReportHead head;
    std::optional<int> failed;
};

Comparison compare_host(const Options& options, const Output& out, Default builtin) {
    Comparison result;
    result.head = head_of(options);
    const auto names = policy_names(options, builtin);
    if (!names) return result.failed = out.error(names.error(), result.head), result;
    const Resources resources = make_resources();
    auto loaded = load_policies(*names, Trust::any, resources, false);
    if (!loaded) return result.failed = out.error(loaded.error(), result.head), result;
    if (!loaded->loaded.errors.empty()) return result.failed = out.errors(loaded->loaded.errors, result.head), result;
    result.policy = std::move(loaded->loaded.policy);
    auto session = Session::open(options);
    if (!session) return result.failed = out.error(session.error(), result.head), result;
    result.head = session->head();
    result.evaluation = session->evaluate(result.policy, resources, options);
    fill_lines(result.evaluation.errors, result.policy);
    if (!result.evaluation.errors.empty()) result.failed = out.errors(result.evaluation.errors, result.head);
    return result;
}

Error no_such_setting(const Evaluation& evaluation, const std::string& word) {
    std::vector<std::string> addresses;
    for (const SettingState& state : evaluation.settings) addresses.push_back(state.setting.address);
    const auto near = nearest(word, addresses);
    Error error;
    error.kind = ErrorKind::invalid;
    error.what = "the policy wants nothing of " + word + " here";
    error.fix = near ? "did you mean " + *near + "?" : "storpol explain without an address lists all";
    return error;
}

}  // namespace

int run_plan(const Options& options) {
    const Output out(options);
    const Comparison result = compare_host(options, out, Default::allowed);
    if (result.failed) return *result.failed;
    const Evaluation& evaluation = result.evaluation;
    if (!options.output.empty()) {
        const std::string saved = render_saved_plan(result.policy, evaluation.plan, options.prune, result.head.version);
        const auto written = write_user_file(options.output, saved, 0600);
        if (!written) return out.error(written.error(), result.head);
    }
    const bool is_clean = evaluation.plan.actions.empty() && !evaluation.has_drift(options.strict);
    const int code = options.detailed_exitcode && !is_clean ? exit_drift : exit_ok;
    return out.report(
        out.is_json() ? render_json(evaluation, result.head) : render_plan_text(evaluation, result.head, out.style()),
        code);
}

int run_drift(const Options& options) {
    const Output out(options);
    const Comparison result = compare_host(options, out, Default::refused);
    if (result.failed) return *result.failed;
    const Evaluation& evaluation = result.evaluation;
    int code = exit_ok;
    if (evaluation.has_unknown(options.strict)) code = exit_unknown;
    if (evaluation.has_drift(options.strict)) code = exit_drift;
    if (out.is_json()) return out.report(render_json(evaluation, result.head), code);
    // For cron and timers: nothing to say, nothing said. What merely waits or is a finding is for a person who looks.
    if (code == exit_ok && !options.verbose && !out.surroundings().output_is_terminal) return code;
    return out.report(render_drift_text(evaluation, result.head, out.style()), code);
}

int run_explain(const Options& options) {
    const Output out(options);
    const Comparison result = compare_host(options, out, Default::allowed);
    if (result.failed) return *result.failed;
    Evaluation part = result.evaluation;
    if (!options.selection.empty()) part = selected(result.evaluation, options.selection);
    if (part.settings.empty() && !options.selection.empty())
        return out.error(no_such_setting(result.evaluation, options.selection), result.head);
    return out.report(
        out.is_json() ? render_json(part, result.head) : render_explain_text(part, result.policy, out.style()),
        exit_ok);
}

}  // namespace storpol
