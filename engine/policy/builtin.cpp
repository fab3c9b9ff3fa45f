// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/builtin.h"

#include "engine/policy/load.h"

namespace storpol {

std::vector<std::string> builtin_names() {
    std::vector<std::string> names;
    for (const BuiltinPolicy& policy : builtin_policies()) names.emplace_back(policy.name);
    return names;
}

std::optional<std::string_view> builtin_policy(std::string_view name) {
    for (const BuiltinPolicy& policy : builtin_policies()) {
        if (policy.name == name) return policy.text;
    }
    return std::nullopt;
}

}  // namespace storpol
