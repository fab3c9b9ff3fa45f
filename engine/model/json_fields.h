// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/json.h"

// Readers of single members of JSON that somebody else may have written: a member that is missing or of another type is
// an Error naming it, never an exception. Include in .cpp files only.
namespace storpol {

// The bytes that a string member stands for (escape_bytes undone).
Result<std::string> text_member(const Json& object, std::string_view key);
Result<std::string> text_member_or_empty(const Json& object, std::string_view key);  // "" when there is no such member

Result<std::int64_t> int_member(const Json& object, std::string_view key);

// The array itself, which must be one.
Result<const Json*> array_member(const Json& object, std::string_view key);

Result<SettingPlane> setting_plane_from_json(const Json& object);  // its "address" and "plane"
Result<Condition> condition_member(const Json& object, std::string_view key);

// Texts as an array of strings, each in the form that text_member() reads.
Json json_list(const std::vector<std::string>& texts);

// An address as it stands in JSON: itself, as make_address() makes only printable ones.
std::string address_text(std::string_view address);

}  // namespace storpol
