// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/policy/load.h"
#include "engine/reconcile/evaluate.h"
#include "tests/cases/expectation.h"
#include "tests/cases/tree_host.h"

namespace storpol::cases {

// One case evaluated: what its assertions are checked against. With policy errors there is no evaluation to look at.
struct Ran {
    const Resources& resources;
    std::vector<PolicyError> errors;  // as `validate` gives them: none depends on the host
    Evaluation evaluation;
    std::string report;  // the plan's text with --verbose, and its findings
    std::unique_ptr<CaseTree> before;
    std::unique_ptr<CaseTree> after;   // the same after the plan's file steps
    std::vector<std::string> written;  // files those steps made or replaced
    std::optional<Evaluation> second;  // of `after`
    std::vector<Query> asked;
};

struct Checked {
    enum class State { holds, broken, not_yet } state = State::holds;
    std::string why;
};

Checked check(const Assertion& assertion, const Ran& ran);

struct CaseResult {
    enum class State { passed, failed, not_yet_run } state = State::passed;
    std::vector<std::string> says;  // a line per broken assertion, or why it is not run
};

// `how` is the word of the index: root, root+facts or snapshot.
CaseResult run_case(const std::string& folder, std::string_view how, const Resources& resources);

// The first key of this policy text that no resource declares ("[discard]", "mount.fstrim"); none for a text that is no
// TOML.
std::optional<std::string> undeclared_key(std::string_view policy, const std::vector<PolicyKeys>& keys);

}  // namespace storpol::cases
