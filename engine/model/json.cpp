// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "engine/base/text.h"
#include "engine/model/json_fields.h"

namespace storpol {

namespace {

// Our own documents nest eight deep; a saved plan holds whole files, far below this.
constexpr int max_depth = 64;
constexpr std::size_t max_size = std::size_t{64} << 20;
// ordered_json looks a key up by walking the object, so a huge object would cost quadratic time. Ours have below thirty
// keys.
constexpr int max_members = 1000;

std::string value_text(const Value& value) {
    return escape_bytes(to_text(value));
}

struct ConditionJson {
    Json operator()(const Is& is) const {
        if (is.slack == 0) return value_text(is.value);
        return Json{{"is", value_text(is.value)}, {"slack", std::to_string(is.slack)}};
    }

    Json operator()(const AtLeast& at_least) const { return Json{{"at-least", std::to_string(at_least.bound)}}; }

    Json operator()(const AtMost& at_most) const { return Json{{"at-most", std::to_string(at_most.bound)}}; }

    Json operator()(const Not& none_of) const {
        Json values = Json::array();
        for (const Value& value : none_of.values) values.push_back(value_text(value));
        Json json = Json::object();
        json["not"] = std::move(values);
        return json;
    }
};

// A text that is exactly how a number is rendered is that number; "007" and "+7" stay words.
Value value_of(std::string text) {
    const auto number = parse_int(text);
    if (number && std::to_string(*number) == text) return *number;
    return text;
}

Result<Value> value_from_json(const Json& json) {
    if (!json.is_string()) return fail(ErrorKind::invalid, "a value is not a string");
    auto text = unescape_bytes(json.get_ref<const std::string&>());
    if (!text) return fail(ErrorKind::invalid, "a value holds a malformed \\xNN");
    return value_of(std::move(*text));
}

Result<std::int64_t> number_member(const Json& object, std::string_view key) {
    const auto text = text_member(object, key);
    if (!text) return tl::unexpected<Error>(text.error());
    const auto number = parse_int(*text);
    if (!number) return fail(ErrorKind::invalid, "\"" + std::string(key) + "\" is not a number");
    return *number;
}

Result<Condition> is_from_json(const Json& json) {
    auto value = value_from_json(json["is"]);
    if (!value) return tl::unexpected<Error>(value.error());
    const auto slack = number_member(json, "slack");
    if (!slack) return tl::unexpected<Error>(slack.error());
    if (*slack < 0) return fail(ErrorKind::invalid, "\"slack\" is negative");
    return Condition{Is{std::move(*value), *slack}};
}

Result<Condition> not_from_json(const Json& json) {
    const auto values = array_member(json, "not");
    if (!values) return tl::unexpected<Error>(values.error());
    Not none_of;
    for (const Json& element : **values) {
        auto value = value_from_json(element);
        if (!value) return tl::unexpected<Error>(value.error());
        none_of.values.push_back(std::move(*value));
    }
    return Condition{std::move(none_of)};
}

// Every line by itself, so that a diff keeps its lines and tabs and shows everything else that could mislead a
// terminal.
std::string printable_lines(std::string_view text) {
    std::string out;
    bool first_line = true;
    for (const std::string_view line : split(text, '\n')) {
        if (!std::exchange(first_line, false)) out += '\n';
        bool first_cell = true;
        for (const std::string_view cell : split(line, '\t')) {
            if (!std::exchange(first_cell, false)) out += '\t';
            out += printable(cell);
        }
    }
    return out;
}

Json serves_json(const std::vector<SettingPlane>& serves) {
    Json list = Json::array();
    for (const SettingPlane& of : serves) {
        list.push_back(Json{{"address", address_text(of.address)}, {"plane", std::string(to_text(of.plane))}});
    }
    return list;
}

// Where the text leaves the bounds that parse_json() promises, or none. Looks at brackets and commas outside strings
// only.
std::optional<std::string> out_of_bounds(std::string_view text) {
    if (text.size() > max_size) return "larger than 64 MiB";
    std::vector<int> members;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char byte = text[at];
        if (in_string) {
            if (byte == '\\') ++at;
            in_string = byte != '"';
        } else if (byte == '"') {
            in_string = true;
        } else if (byte == '{' || byte == '[') {
            // An array may be long: only the commas of an object are counted.
            members.push_back(byte == '{' ? 1 : -1);
            if (members.size() > max_depth) return "nested too deeply at byte " + std::to_string(at + 1);
        } else if ((byte == '}' || byte == ']') && !members.empty()) {
            members.pop_back();
        } else if (byte == ',' && !members.empty() && members.back() > 0 && ++members.back() > max_members) {
            return "an object with too many members at byte " + std::to_string(at + 1);
        }
    }
    return std::nullopt;
}

}  // namespace

Json to_json(const Condition& condition) {
    return std::visit(ConditionJson{}, condition);
}

Json to_json(const Action& action, bool with_step) {
    Json json{{"id", action.id},
              {"verb", std::string(to_text(action.verb))},
              {"target", printable(action.target)},
              {"for", serves_json(action.serves)},
              {"after", action.after},
              {"when", std::string(to_text(action.when))},
              {"risk", std::string(to_text(action.risk))},
              {"says", printable(action.says)}};
    if (!action.refused.empty()) json["refused"] = printable(action.refused);
    if (!action.diff.empty()) json["diff"] = printable_lines(action.diff);
    if (!with_step) return json;
    json["step"] = to_json(action.step);
    json["undo"] = Json::array();
    for (const Step& step : action.undo) json["undo"].push_back(to_json(step));
    json["reads"] = json_list(action.reads);
    return json;
}

Json to_json(const Finding& finding) {
    return Json{{"code", printable(finding.code)},
                {"severity", std::string(to_text(finding.severity))},
                {"says", printable(finding.says)},
                {"where", printable(finding.where)}};
}

Result<Condition> condition_from_json(const Json& json) {
    if (json.is_string()) {
        auto value = value_from_json(json);
        if (!value) return tl::unexpected<Error>(value.error());
        return Condition{Is{std::move(*value), 0}};
    }
    if (json.is_object() && json.contains("is")) return is_from_json(json);
    if (json.is_object() && json.contains("not")) return not_from_json(json);
    if (json.is_object() && json.contains("at-least")) {
        return number_member(json, "at-least").map([](std::int64_t bound) { return Condition{AtLeast{bound}}; });
    }
    if (json.is_object() && json.contains("at-most")) {
        return number_member(json, "at-most").map([](std::int64_t bound) { return Condition{AtMost{bound}}; });
    }
    return fail(ErrorKind::invalid, "a condition is none of a string, \"is\", \"at-least\", \"at-most\", \"not\"");
}

Result<Json> parse_json(std::string_view text, std::string_view where) {
    if (const auto problem = out_of_bounds(text)) {
        return fail(ErrorKind::invalid, "not acceptable JSON: " + *problem, std::string(where));
    }
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        return fail(ErrorKind::invalid, "not JSON: syntax error at byte " + std::to_string(error.byte),
                    std::string(where));
    } catch (const Json::exception& error) {
        return fail(ErrorKind::invalid, "not JSON: " + printable(error.what()), std::string(where));
    }
}

}  // namespace storpol
