// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/cli/options.h"
#include "engine/host/user_files.h"
#include "engine/policy/load.h"
#include "engine/reconcile/resource.h"
#include "engine/report/report.h"

namespace storpol {

// The policies a command works with: those named, else /etc/storpol/policy.toml, else, where defaults are allowed,
// builtin:default. Defaults are never applied unasked, so apply and drift end in an Error there.
enum class Default { allowed, refused };
Result<std::vector<std::string>> policy_names(const Options& options, Default builtin);

struct LoadedPolicy {
    Loaded loaded;
    std::optional<SavedPlan> saved;  // the one named file is a saved plan; `loaded` is then the policy in it
};

// `accept_saved`: apply takes a saved plan where a policy may stand; it is told by its content.
Result<LoadedPolicy> load_policies(const std::vector<std::string>& names,
                                   Trust trust,
                                   const Resources& resources,
                                   bool accept_saved);

// Gives each error the text of the line it stands on.
void fill_lines(std::vector<PolicyError>& errors, const Policy& policy);

// Contradictions that only resources see: settings() of each, asked of a host that has nothing.
std::vector<PolicyError> contradictions(const Policy& policy, const Resources& resources);

}  // namespace storpol
