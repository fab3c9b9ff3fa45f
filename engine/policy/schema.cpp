// SPDX-License-Identifier: GPL-3.0-or-later
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/base/result.h"
#include "engine/policy/key_set.h"
#include "engine/policy/load.h"

// The policy language as JSON Schema, draft 2020-12: what editors use to complete and to underline.
namespace storpol {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* size_pattern = "^[0-9]+(B|KiB|MiB|GiB|TiB)?$";
constexpr const char* percent_pattern = "^[0-9]+%$";
constexpr const char* size_or_percent_pattern = "^[0-9]+(B|KiB|MiB|GiB|TiB|%)?$";
constexpr const char* duration_pattern = "^[0-9]+(us|ms|s|min|h|d|w)$";

class SchemaWriter {
  public:
    explicit SchemaWriter(const KeySet& keys) : keys_(keys) {}

    Json document() {
        Json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                    {"title", "storpol policy, version 1"}};
        out.update(table(keys_.root(), "policy"));
        if (!definitions_.empty()) out["$defs"] = std::move(definitions_);
        return out;
    }

  private:
    static Json range(Json schema, const Key& key) {
        if (key.min) schema["minimum"] = *key.min;
        if (key.max) schema["maximum"] = *key.max;
        return schema;
    }

    static Json word(const Key& key) {
        Json schema = {{"type", "string"}};
        if (!key.choices.empty()) schema["enum"] = key.choices;
        return schema;
    }

    static Json text_of(const char* pattern) { return {{"type", "string"}, {"pattern", pattern}}; }

    static Json size(const Key& key, const char* pattern) {
        Json number = {{"type", "integer"}, {"minimum", key.min.value_or(0)}};
        if (key.max) number["maximum"] = *key.max;
        return {{"anyOf", Json::array({text_of(pattern), std::move(number)})}};
    }

    // A table, with the parts that its keys define under the name `path`.
    Json table(const Key& key, const std::string& path) {
        Json properties = Json::object();
        Json required = Json::array();
        Json others = false;
        for (const Key& inner : key.keys) {
            const std::string inner_path = path + "." + inner.name;
            if (inner.name == "*") {
                others = inner.joins_dots ? dotted(inner, inner_path) : documented(inner, inner_path);
            } else {
                properties[inner.name] = documented(inner, inner_path);
            }
            if (inner.required) required.push_back(inner.name);
        }
        Json out = {{"type", "object"}};
        if (!properties.empty()) out["properties"] = std::move(properties);
        if (!required.empty()) out["required"] = std::move(required);
        out["additionalProperties"] = std::move(others);
        return out;
    }

    // net.core.somaxconn = 1 is to TOML, and so to a schema, a table in a table.
    Json dotted(const Key& key, const std::string& path) {
        const std::string reference = "#/$defs/" + path;
        Json deeper = {{"type", "object"}, {"additionalProperties", {{"$ref", reference}}}};
        definitions_[path] = {{"anyOf", Json::array({documented(key, path), std::move(deeper)})}};
        return {{"$ref", reference}};
    }

    Json value(const Key& key, const std::string& path) {
        switch (key.type) {
            case KeyType::boolean:
                return {{"type", "boolean"}};
            case KeyType::integer:
                return range({{"type", "integer"}}, key);
            case KeyType::word:
                return word(key);
            case KeyType::integer_or_word:
                return {{"anyOf", Json::array({range({{"type", "integer"}}, key), word(key)})}};
            case KeyType::size:
                return size(key, size_pattern);
            case KeyType::percent:
                return text_of(percent_pattern);
            case KeyType::size_or_percent:
                return size(key, size_or_percent_pattern);
            case KeyType::duration:
                return text_of(duration_pattern);
            case KeyType::date:
                return {{"type", "string"}, {"format", "date"}};
            case KeyType::word_list:
                return {{"type", "array"}, {"items", word(key)}};
            case KeyType::table:
                return table(key, path);
            case KeyType::rule_array:
                return {{"type", "array"}, {"items", table(key, path)}};
        }
        STORPOL_BUG("key type out of range");
    }

    Json documented(const Key& key, const std::string& path) {
        Json out = Json::object();
        const std::string text = description(key);
        if (!text.empty()) out["description"] = text;
        Json schema = value(key, path);
        if (key.bounds) {
            Json bound = {
                {"type", "object"}, {"minProperties", 1}, {"maxProperties", 1}, {"additionalProperties", false}};
            bound["properties"] = {{"at-least", schema}, {"at-most", schema}};
            schema = {{"anyOf", Json::array({std::move(schema), std::move(bound)})}};
        }
        out.update(schema);
        return out;
    }

    static std::string description(const Key& key) {
        std::string text = key.doc;
        const std::string limits = range_text(key);
        if (!limits.empty()) text += (text.empty() ? "" : " ") + ("Range: " + limits + ".");
        if (limits.empty() && !key.unit.empty()) text += (text.empty() ? "" : " ") + ("Unit: " + key.unit + ".");
        if (!key.default_text.empty()) text += (text.empty() ? "" : " ") + ("Default: " + key.default_text + ".");
        return text;
    }

    const KeySet& keys_;
    Json definitions_ = Json::object();
};

}  // namespace

std::string render_schema(const std::vector<PolicyKeys>& keys) {
    const KeySet set(keys);
    return SchemaWriter(set).document().dump(2) + "\n";
}

}  // namespace storpol
