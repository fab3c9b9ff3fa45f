// SPDX-License-Identifier: GPL-3.0-or-later
#include <toml++/toml.h>

#include <algorithm>
#include <array>

#include "tests/cases/case_run.h"

// Which keys of a case's policy belong to domains that are not there yet.
namespace storpol::cases {
namespace {

// Keys of the language itself; every resource's come on top.
constexpr std::array language_keys{"version", "include", "unmanaged", "accept"};

const Key* find_key(const std::vector<const Key*>& keys, std::string_view name) {
    const Key* any = nullptr;
    for (const Key* key : keys) {
        if (key->name == name) return key;
        if (key->name == "*") any = key;
    }
    return any;
}

std::optional<std::string> undeclared_in(const toml::table& table,
                                         const std::vector<const Key*>& keys,
                                         const std::string& path);

std::optional<std::string> undeclared_below(const toml::node& node,
                                            const Key& key,
                                            const std::vector<const Key*>& inner,
                                            const std::string& path) {
    if (key.type != KeyType::table && key.type != KeyType::rule_array) return std::nullopt;
    if (const auto* table = node.as_table()) return undeclared_in(*table, inner, path);
    if (const auto* array = node.as_array()) {
        for (const auto& element : *array) {
            const auto* table = element.as_table();
            if (table == nullptr) continue;
            if (auto found = undeclared_in(*table, inner, path)) return found;
        }
    }
    return std::nullopt;
}

std::vector<const Key*> keys_below(const std::vector<const Key*>& keys, std::string_view name) {
    std::vector<const Key*> inner;
    for (const Key* key : keys) {
        if (key->name != name) continue;
        for (const Key& below : key->keys) inner.push_back(&below);
    }
    return inner;
}

std::optional<std::string> undeclared_in(const toml::table& table,
                                         const std::vector<const Key*>& keys,
                                         const std::string& path) {
    for (const auto& [name, node] : table) {
        const std::string_view word = name.str();
        const std::string here = path.empty() ? std::string(word) : path + "." + std::string(word);
        if (path.empty() && std::ranges::find(language_keys, word) != language_keys.end()) continue;
        const Key* key = find_key(keys, word);
        if (key == nullptr) return here;
        if (key->joins_dots) continue;
        if (auto found = undeclared_below(node, *key, keys_below(keys, key->name), here)) return found;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> undeclared_key(std::string_view policy, const std::vector<PolicyKeys>& keys) {
    std::vector<const Key*> tables;
    for (const auto& of_resource : keys) {
        for (const auto& key : of_resource.tables) tables.push_back(&key);
    }
    try {
        return undeclared_in(toml::parse(policy), tables, {});
    } catch (const toml::parse_error&) {
        return std::nullopt;
    }
}

}  // namespace storpol::cases
