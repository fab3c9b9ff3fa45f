// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "engine/policy/keys.h"
#include "engine/policy/policy.h"

// What resources declare their policy keys with.
namespace storpol {

// `default_text`: what applies where the key is left out; empty: left alone.
Key key_of(std::string name, KeyType type, std::string doc, std::string default_text = {});

// The table [discard], whose keys several domains share.
// What a policy gives for one of its keys; nullptr where it gives nothing.
const PolicyNode* find_discard_key(const Policy& policy, std::string_view name);

// The table with this one key, as a resource declares it.
PolicyKeys discard_keys(Key key);

}  // namespace storpol
