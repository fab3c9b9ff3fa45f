// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include "engine/cli/options.h"
#include "engine/cli/output.h"
#include "engine/cli/policies.h"
#include "engine/cli/session.h"

namespace storpol {

// What plan, drift and explain share: the policy, the host and what came of comparing them; or the exit code where one
// of them failed, after the failure has been reported.
struct Comparison {
    Policy policy;
    Evaluation evaluation;
    ReportHead head;
    std::optional<Session> session;  // open where nothing failed
    std::optional<int> failed;
};

Comparison compare_host(const Options& options, const Output& out, Default builtin);

}  // namespace storpol
