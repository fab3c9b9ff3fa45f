// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "engine/policy/keys.h"
#include "engine/policy/policy.h"
#include "engine/policy/toml_reader.h"

// One leaf of a policy against its key: type, form, range, choices.
namespace storpol {

// What is wrong with a value; the caller knows where it stands.
struct Complaint {
    std::string says;
    std::string fix;
    std::string note;
    bool of_name = false;  // the key is to be underlined, not the value
};

// `key.type` is none of table, rule_array and word_list; `name` is the key as this policy spells it (of a "*" key its
// own name, of a bound "at-least").
tl::expected<PolicyNode, Complaint> check_leaf(const TomlValue& value, const Key& key, const std::string& name);
// One word of a word_list.
tl::expected<PolicyNode, Complaint> check_list_word(const TomlValue& value, const Key& key, const std::string& name);

// The key's own check of a text that check_leaf() let pass; `name` is the key as this policy spells it.
std::optional<Complaint> check_hook(const std::string& text, const Key& key, const std::string& name);

// A value of another shape than the key wants.
Complaint wrong_type(const TomlValue& value, const Key& key, const std::string& name);

// Texts end up in configuration files, unit files and rules: nothing that could begin a line there, hide or flood.
std::optional<Complaint> check_text(std::string_view text, const std::string& what);

}  // namespace storpol
