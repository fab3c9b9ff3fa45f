// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "engine/base/text.h"
#include "engine/cli/changing.h"
#include "engine/cli/commands.h"
#include "engine/cli/output.h"
#include "engine/cli/policies.h"
#include "engine/reconcile/apply.h"

namespace storpol {
namespace {

// Shows the plan and asks. What --yes answers was asked for on the command line, so nothing is shown then.
bool ask(const Evaluation& evaluation, const Options& options, const Output& out, const ReportHead& head) {
    if (options.yes) return true;
    if (!out.surroundings().input_is_terminal) {
        out.note("storpol: apply asks before it acts and there is no terminal to ask on; use --yes");
        return false;
    }
    const std::string plan = render_plan_text(evaluation, head, out.style());
    if (out.is_json()) {
        out.note(plan);
    } else if (out.report(plan, exit_ok) != exit_ok) {
        return false;  // never ask about a plan that nobody saw
    }
    const std::size_t count = evaluation.plan.actions.size();
    return confirm(fmt::format("Do {} action{} on {}? [y/N]", count, count == 1 ? "" : "s",
                               head.host_name.empty() ? "this host" : printable(head.host_name)));
}

ApplyOptions apply_options(const Options& options,
                           const Output& out,
                           const ReportHead& head,
                           const std::optional<SavedPlan>& saved) {
    ApplyOptions how;
    how.allow = options.allow;
    how.prune = saved ? saved->prune : options.prune;
    how.asks_passphrase = options.ask_passphrase;
    how.confirm = [&options, &out, &head](const Evaluation& evaluation) { return ask(evaluation, options, out, head); };
    how.expected = saved ? &saved->plan : nullptr;
    if (out.surroundings().output_is_terminal && !out.is_json())
        how.progress = [&out](const Action& action) {
            out.note(fmt::format("{} {}:{}", action.id, to_text(action.verb), printable(action.target)));
        };
    return how;
}

int apply_policy(const LoadedPolicy& policy, const Resources& resources, const Options& options, const Output& out) {
    auto changing = Changing::open(options);
    if (!changing) return out.error(changing.error(), head_of(options));
    const ReportHead& head = changing->head();
    const auto report =
        apply(policy.loaded.policy, resources, changing->machine(), apply_options(options, out, head, policy.saved));
    if (!report) return out.error(report.error(), head);
    if (out.is_json()) return out.report(render_json(*report, head), report->exit_code);
    if (report->declined) {
        out.note("storpol: nothing was changed");
        return report->exit_code;
    }
    return out.report(render_apply_text(*report, head, out.style()), report->exit_code);
}

}  // namespace

int run_apply(const Options& options) {
    const Output out(options);
    const ReportHead head = head_of(options);
    const auto names = policy_names(options, Default::refused);
    if (!names) return out.error(names.error(), head);
    const Resources resources = make_resources();
    // DESIGN promise 6: what root applies must be under the control of root or of the person who called sudo.
    const Trust trust = out.surroundings().is_root ? Trust::controlled : Trust::any;
    const auto policy = load_policies(*names, trust, resources, true);
    if (!policy) return out.error(policy.error(), head);
    if (policy->saved && options.prune && !policy->saved->prune)
        return out.error(Error{ErrorKind::invalid, "this plan was saved without --prune", names->front(),
                               "save it again with storpol plan --prune -o", 0},
                         head);
    if (!policy->loaded.errors.empty()) return out.errors(policy->loaded.errors, head);
    const auto errors = contradictions(policy->loaded.policy, resources);
    if (!errors.empty()) return out.errors(errors, head);
    return apply_policy(*policy, resources, options, out);
}

}  // namespace storpol
