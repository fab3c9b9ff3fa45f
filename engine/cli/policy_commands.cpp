// SPDX-License-Identifier: GPL-3.0-or-later
// validate, schema and show: policies without a host.
#include <fmt/format.h>

#include "engine/base/text.h"
#include "engine/cli/commands.h"
#include "engine/cli/output.h"
#include "engine/cli/policies.h"

namespace storpol {
namespace {

// The merged policy when it is right; else the exit code, after its errors have been reported.
struct Checked {
    Policy policy;
    std::optional<int> failed;
};

Checked load_checked(const Options& options, const Output& out) {
    Checked result;
    const ReportHead head = head_of(options);
    const auto names = policy_names(options, Default::allowed);
    if (!names) return result.failed = out.error(names.error(), head), result;
    const Resources resources = make_resources();
    auto policy = load_policies(*names, Trust::any, resources, false);
    if (!policy) return result.failed = out.error(policy.error(), head), result;
    std::vector<PolicyError> errors = policy->loaded.errors;
    // A policy whose values are wrong would only be said to contradict itself on top.
    if (errors.empty()) errors = contradictions(policy->loaded.policy, resources);
    if (!errors.empty()) return result.failed = out.errors(errors, head), result;
    result.policy = std::move(policy->loaded.policy);
    return result;
}

}  // namespace

int run_validate(const Options& options) {
    const Output out(options);
    const Checked checked = load_checked(options, out);
    if (checked.failed) return *checked.failed;
    if (out.is_json()) return out.report(render_json(std::vector<PolicyError>{}, head_of(options)), exit_ok);
    const std::size_t count = checked.policy.files().size();
    return out.report(fmt::format("policy ok: {} file{}\n", count, count == 1 ? "" : "s"), exit_ok);
}

int run_show(const Options& options) {
    const Output out(options);
    const Checked checked = load_checked(options, out);
    if (checked.failed) return *checked.failed;
    return out.report(render_merged(checked.policy), exit_ok);
}

int run_schema(const Options& options) {
    const Output out(options);
    const Resources resources = make_resources();
    const auto keys = keys_of(resources);
    if (!options.reference) return out.report(render_schema(keys), exit_ok);
    std::string page = render_reference(keys);
    for (const auto& resource : resources) {
        if (const std::string chapter = resource->reference(); !chapter.empty()) page += "\n" + chapter;
    }
    return out.report(page, exit_ok);
}

}  // namespace storpol
