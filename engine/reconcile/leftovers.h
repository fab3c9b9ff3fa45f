// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/model/plan.h"
#include "engine/reconcile/resource.h"

namespace storpol {

// Lines of the files storpol owns whose setting the policy no longer names. Omitted means leave alone, so they are only
// told; `prune` also takes them out. The value of the running kernel stays in both cases.
struct Leftovers {
    std::vector<Finding> findings;  // no-longer-in-policy, and own-file-unreadable
    std::vector<Action> actions;    // with `prune`: edits for the planner to fold
};

Leftovers find_leftovers(const Resources& resources, const std::set<std::string>& wanted, Host& host, bool prune);

// The addresses that the lines of these own files are of: what --prune forgets in the record.
std::set<std::string> addresses_left(const Resources& resources, const std::set<std::string>& wanted, Host& host);

}  // namespace storpol
