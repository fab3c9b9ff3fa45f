// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>
#include <vector>

namespace storpol {

// One ready policy of policies/, embedded at build time (policies/embed.cmake).
struct BuiltinPolicy {
    std::string_view name;
    std::string_view text;
};

const std::vector<BuiltinPolicy>& builtin_policies();  // sorted by name

}  // namespace storpol
