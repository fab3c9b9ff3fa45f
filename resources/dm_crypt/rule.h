// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/policy/keys.h"
#include "engine/policy/policy.h"
#include "engine/reconcile/resource.h"

// What a policy says of dm-crypt mappings: [discard] dm-crypt and [[dm-crypt]].
namespace storpol {

// One property of a mapping: its name in addresses, and the flag in the words of the LUKS2 header.
struct CryptProperty {
    std::string_view name;     // "discard"
    std::string_view flag;     // "allow-discards"
    std::string_view on, off;  // how values are said: "allow" and "block", "on" and "off"
};

std::span<const CryptProperty> crypt_properties();
const CryptProperty* find_crypt_property(std::string_view name);

struct CryptWish {
    const CryptProperty* property = nullptr;
    bool is_on = false;
    std::string text;  // as the policy has it
    Place place;
};

struct CryptRule {
    std::optional<std::string> name;  // a glob
    std::vector<CryptWish> wishes;    // in the policy's order
    Place place;
    bool is_builtin = false;
};

struct CryptPolicy {
    std::optional<CryptWish> discard;  // [discard] dm-crypt: for the mappings that it is about
    std::vector<CryptRule> rules;      // in merge order; a later one wins key by key
    bool prefers_crypttab = false;     // dm-crypt-persist = "crypttab": also where a LUKS2 header could keep it

    bool is_empty() const { return !discard && rules.empty(); }
};

// What is wrong whatever the host goes to `notes`: discards allowed without accepting what they show, a rule without
// match.
CryptPolicy read_crypt_policy(const Policy& policy, Notes& notes);

PolicyKeys crypt_keys();

}  // namespace storpol
