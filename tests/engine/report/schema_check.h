// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// As much of JSON Schema 2020-12 as docs/storpol-report.schema.json uses: type, enum, const, required, properties,
// additionalProperties, items, anyOf and $ref into $defs. A keyword it does not know is a violation, so that the schema
// cannot quietly grow past what is checked.
namespace storpol::test {

class SchemaChecker {
  public:
    explicit SchemaChecker(const nlohmann::json& root) : root_(root) {}

    std::vector<std::string> check(const nlohmann::json& value) {
        found_.clear();
        check(root_, value, "$");
        return found_;
    }

  private:
    using Json = nlohmann::json;

    static bool is_type(const std::string& type, const Json& value) {
        if (type == "integer") return value.is_number_integer();
        if (type == "number") return value.is_number();
        if (type == "null") return value.is_null();
        return type == value.type_name();
    }

    bool holds(const Json& schema, const Json& value) {
        SchemaChecker other(root_);
        other.check(schema, value, "");
        return other.found_.empty();
    }

    void check_type(const Json& types, const Json& value, const std::string& at) {
        const Json list = types.is_array() ? types : Json::array({types});
        if (std::none_of(list.begin(), list.end(), [&](const Json& type) { return is_type(type, value); }))
            found_.push_back(at + " is not of type " + types.dump());
    }

    void check_object(const Json& schema, const Json& value, const std::string& at) {
        const Json properties = schema.value("properties", Json::object());
        for (const auto& [key, member] : value.items()) {
            if (properties.contains(key))
                check(properties[key], member, at + "." + key);
            else if (!schema.contains("additionalProperties"))
                continue;
            else if (schema["additionalProperties"].is_object())
                check(schema["additionalProperties"], member, at + "." + key);
            else if (!schema["additionalProperties"].get<bool>())
                found_.push_back(at + " may not have " + key);
        }
        for (const Json& key : schema.value("required", Json::array()))
            if (!value.contains(key.get<std::string>())) found_.push_back(at + " lacks " + key.get<std::string>());
    }

    void check_keyword(const std::string& word, const Json& schema, const Json& value, const std::string& at) {
        const Json& argument = schema[word];
        if (word == "$ref") {
            check(root_["$defs"][argument.get<std::string>().substr(8)], value, at);
        } else if (word == "type") {
            check_type(argument, value, at);
        } else if (word == "enum") {
            if (std::find(argument.begin(), argument.end(), value) == argument.end())
                found_.push_back(at + " is not one of " + argument.dump());
        } else if (word == "const") {
            if (value != argument) found_.push_back(at + " is not " + argument.dump());
        } else if (word == "anyOf") {
            if (std::none_of(argument.begin(), argument.end(), [&](const Json& one) { return holds(one, value); }))
                found_.push_back(at + " fits none of its forms");
        } else if (word == "items" && value.is_array()) {
            for (std::size_t i = 0; i < value.size(); ++i)
                check(argument, value[i], at + "[" + std::to_string(i) + "]");
        }
    }

    void check(const Json& schema, const Json& value, const std::string& at) {
        static const std::vector<std::string> known{"$ref",        "type",     "enum",
                                                    "const",       "anyOf",    "items",
                                                    "properties",  "required", "additionalProperties",
                                                    "description", "title",    "$schema",
                                                    "$id",         "$defs"};
        for (const auto& item : schema.items()) {
            if (std::find(known.begin(), known.end(), item.key()) == known.end())
                found_.push_back("the schema uses " + item.key() + ", which is not checked");
            check_keyword(item.key(), schema, value, at);
        }
        if (value.is_object()) check_object(schema, value, at);
    }

    const nlohmann::json& root_;
    std::vector<std::string> found_;
};

inline std::vector<std::string> schema_violations(const nlohmann::json& schema, const nlohmann::json& value) {
    return SchemaChecker(schema).check(value);
}

}  // namespace storpol::test
