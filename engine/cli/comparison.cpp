// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/comparison.h"

namespace storpol {

namespace {

// The exit code where something failed.
std::optional<int> compare(Comparison& result, const Options& options, const Output& out, Default builtin) {
    const auto names = policy_names(options, builtin);
    if (!names) return out.error(names.error(), result.head);
    const Resources resources = make_resources();
    auto loaded = load_policies(*names, Trust::any, resources, false);
    if (!loaded) return out.error(loaded.error(), result.head);
    if (!loaded->loaded.errors.empty()) return out.errors(loaded->loaded.errors, result.head);
    result.policy = std::move(loaded->loaded.policy);
    auto session = Session::open(options);
    if (!session) return out.error(session.error(), result.head);
    result.session = std::move(*session);
    result.head = result.session->head();
    result.evaluation = result.session->evaluate(result.policy, resources, options);
    fill_lines(result.evaluation.errors, result.policy);
    if (!result.evaluation.errors.empty()) return out.errors(result.evaluation.errors, result.head);
    return std::nullopt;
}

}  // namespace

Comparison compare_host(const Options& options, const Output& out, Default builtin) {
    Comparison result;
    result.head = head_of(options);
    result.failed = compare(result, options, out, builtin);
    return result;
}

}  // namespace storpol
