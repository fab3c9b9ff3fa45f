// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/json_fields.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "engine/base/text.h"

namespace storpol {

namespace {

std::string in_quotes(std::string_view key) {
    return "\"" + printable(key) + "\"";
}

Result<const Json*> member(const Json& object, std::string_view key) {
    if (!object.is_object()) return fail(ErrorKind::invalid, "expected a JSON object with " + in_quotes(key));
    const auto found = object.find(key);
    if (found == object.end()) return fail(ErrorKind::invalid, "missing " + in_quotes(key));
    return &*found;
}

}  // namespace

Result<std::string> text_member(const Json& object, std::string_view key) {
    const auto found = member(object, key);
    if (!found) return tl::unexpected<Error>(found.error());
    if (!(*found)->is_string()) return fail(ErrorKind::invalid, in_quotes(key) + " is not a string");
    auto bytes = unescape_bytes((*found)->get_ref<const std::string&>());
    if (!bytes) return fail(ErrorKind::invalid, in_quotes(key) + " holds a malformed \\xNN");
    return std::move(*bytes);
}

Result<std::string> text_member_or_empty(const Json& object, std::string_view key) {
    if (object.is_object() && object.find(key) == object.end()) return std::string();
    return text_member(object, key);
}

Result<std::int64_t> int_member(const Json& object, std::string_view key) {
    const auto found = member(object, key);
    if (!found) return tl::unexpected<Error>(found.error());
    const Json& number = **found;
    const bool too_large = number.is_number_unsigned() &&
                           number.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (!number.is_number_integer() || too_large) {
        return fail(ErrorKind::invalid, in_quotes(key) + " is not a whole number");
    }
    return number.get<std::int64_t>();
}

Result<const Json*> array_member(const Json& object, std::string_view key) {
    const auto found = member(object, key);
    if (found && !(*found)->is_array()) return fail(ErrorKind::invalid, in_quotes(key) + " is not an array");
    return found;
}

Result<SettingPlane> setting_plane_from_json(const Json& object) {
    const auto address = member(object, "address");
    if (!address) return tl::unexpected<Error>(address.error());
    if (!(*address)->is_string()) return fail(ErrorKind::invalid, "\"address\" is not a string");
    const auto plane_name = text_member(object, "plane");
    if (!plane_name) return tl::unexpected<Error>(plane_name.error());
    const auto plane = parse_plane(*plane_name);
    if (!plane) return fail(ErrorKind::invalid, "unknown plane " + in_quotes(*plane_name));
    // No address of ours holds anything else; a file that somebody edited may.
    return SettingPlane{printable((*address)->get_ref<const std::string&>()), *plane};
}

Result<Condition> condition_member(const Json& object, std::string_view key) {
    const auto found = member(object, key);
    if (!found) return tl::unexpected<Error>(found.error());
    return condition_from_json(**found);
}

Json json_list(const std::vector<std::string>& texts) {
    Json list = Json::array();
    for (const std::string& text : texts) list.push_back(escape_bytes(text));
    return list;
}

std::string address_text(std::string_view address) {
    return printable(address);
}

}  // namespace storpol
