// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

#include "engine/policy/keys.h"
#include "engine/policy/policy.h"

// The table [discard], whose keys several domains share.
namespace storpol {

// What a policy gives for one of its keys; nullptr where it gives nothing.
const PolicyNode* find_discard_key(const Policy& policy, std::string_view name);

// The table with this one key, as a resource declares it.
PolicyKeys discard_keys(Key key);

}  // namespace storpol
