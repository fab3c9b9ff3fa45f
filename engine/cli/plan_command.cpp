// SPDX-License-Identifier: GPL-3.0-or-later
// plan and drift: what a policy wants against what a host has.
#include "engine/cli/commands.h"
#include "engine/cli/comparison.h"
#include "engine/cli/output.h"

namespace storpol {

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

}  // namespace storpol
