// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/key_set.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "engine/base/result.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/model/plane.h"

namespace storpol {
namespace {

Key make_key(std::string name, KeyType type, std::string doc) {
    Key key;
    key.name = std::move(name);
    key.type = type;
    key.doc = std::move(doc);
    return key;
}

std::optional<Key::Objection> refuse_empty(const std::string& name, const std::string& text) {
    if (!trim(text).empty()) return std::nullopt;
    return Key::Objection{name + " is empty", "write one sentence for those who read this later"};
}

std::optional<Key::Objection> refuse_no_address(const std::string& name, const std::string& text) {
    if (!trim(text).empty()) return std::nullopt;
    return Key::Objection{name + " holds an empty address",
                          "write an address as plan prints it, such as 'sysctl[\"vm.swappiness\"]'"};
}

std::optional<Key::Objection> refuse_odd_include(const std::string&, const std::string& text) {
    if (text.starts_with("builtin:") && !text.ends_with(".toml")) return std::nullopt;
    if (text.starts_with("builtin:")) {
        return Key::Objection{"a ready policy is named without .toml",
                              "write \"" + text.substr(0, text.size() - 5) + "\""};
    }
    if (text.ends_with(".toml") && text.size() > 5) return std::nullopt;
    return Key::Objection{"an include names a file that ends in .toml, or a ready policy",
                          "write for example \"site.toml\" or \"builtin:default\""};
}

Key accept_key() {
    Key accept =
        make_key("accept", KeyType::rule_array,
                 "A known difference: it is listed, nothing is done about it, and it counts as in sync through the "
                 "end of its last day (UTC).");
    Key address = make_key("address", KeyType::word, "The address of the setting, as plan prints it; takes globs.");
    address.required = true;
    address.check = refuse_no_address;
    Key until = make_key("until", KeyType::date, "The last day on which the difference is accepted.");
    until.required = true;
    Key reason = make_key("reason", KeyType::word, "Why, for those who read it later.");
    reason.required = true;
    reason.check = refuse_empty;
    Key planes = make_key("planes", KeyType::word_list, "The planes on which the difference is accepted.");
    for (const Plane plane : all_planes) planes.choices.emplace_back(to_text(plane));
    planes.default_text = "all";
    accept.keys = {address, until, reason, planes};
    return accept;
}

std::vector<Key> own_keys() {
    Key version = make_key("version", KeyType::integer, "The version of the policy language; every file says it.");
    version.min = 1;
    version.max = 1;
    version.required = true;
    Key include =
        make_key("include", KeyType::word_list,
                 "Policies that are read first, in order; the including file beats what it includes. A file's path "
                 "is relative to the including file; builtin:NAME is a ready policy.");
    include.check = refuse_odd_include;
    include.default_text = "none";
    Key unmanaged = make_key("unmanaged", KeyType::word_list,
                             "Addresses, with globs: what the files merged before this one want there is dropped.");
    unmanaged.check = refuse_no_address;
    unmanaged.default_text = "none";
    return {version, include, unmanaged, accept_key()};
}

void join_key(std::vector<Key>& keys, const Key& added);

void join_keys(std::vector<Key>& keys, const std::vector<Key>& added) {
    for (const Key& key : added) join_key(keys, key);
}

void join_key(std::vector<Key>& keys, const Key& added) {
    const auto same = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == added.name; });
    if (same == keys.end()) {
        Key copy = added;
        copy.keys.clear();
        join_keys(copy.keys, added.keys);
        keys.push_back(std::move(copy));
        return;
    }
    if (same->type != added.type || !is_table_like(added)) {
        STORPOL_BUG("policy key declared twice: " + added.name);
    }
    if (same->doc.empty()) same->doc = added.doc;
    if (same->default_text.empty()) same->default_text = added.default_text;
    if (!same->check) same->check = added.check;
    same->required = same->required || added.required;
    join_keys(same->keys, added.keys);
}

bool is_bare(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char byte) {
        return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
               byte == '-' || byte == '_';
    });
}

}  // namespace

KeySet::KeySet(const std::vector<PolicyKeys>& keys) {
    root_.type = KeyType::table;
    root_.keys = own_keys();
    for (const PolicyKeys& resource : keys) join_keys(root_.keys, resource.tables);
    note_tables(root_, "");
    for (const auto& [name, labels] : tables_) names_.push_back(name);
}

void KeySet::note_tables(const Key& table, const std::string& label) {
    for (const Key& key : table.keys) {
        if (key.name != "*" && !label.empty()) tables_[key.name].push_back(label);
        if (is_table_like(key)) note_tables(key, child_label(label, key, key.name == "*" ? "NAME" : key.name));
    }
}

std::vector<std::string> KeySet::tables_with(std::string_view name) const {
    const auto found = tables_.find(name);
    return found == tables_.end() ? std::vector<std::string>{} : found->second;
}

const Key* find_key(const Key& table, std::string_view name) {
    const Key* wildcard = nullptr;
    for (const Key& key : table.keys) {
        if (key.name == "*") {
            wildcard = &key;
        } else if (key.name == name) {
            return &key;
        }
    }
    return wildcard;
}

bool is_table_like(const Key& key) {
    return key.type == KeyType::table || key.type == KeyType::rule_array;
}

std::string child_label(const std::string& parent, const Key& child, std::string_view name) {
    const std::string key = render_toml_key(name);
    if (parent.empty()) return child.type == KeyType::rule_array ? "[[" + key + "]]" : "[" + key + "]";
    if (parent.ends_with("]]")) return parent + " " + key;
    if (parent.ends_with("]")) return parent.substr(0, parent.size() - 1) + "." + key + "]";
    return parent + "." + key;
}

std::string render_toml_key(std::string_view name) {
    return is_bare(name) ? std::string(name) : render_toml_string(name);
}

std::string render_toml_string(std::string_view text) {
    // An address is full of double quotes: as a literal it stays readable.
    const bool is_literal = text.find('"') != std::string_view::npos && text.find('\'') == std::string_view::npos;
    if (is_literal) return "'" + std::string(text) + "'";
    std::string out = "\"";
    for (const char byte : text) {
        if (byte == '"' || byte == '\\') out += '\\';
        out += byte;
    }
    return out + "\"";
}

std::string quantity_text(const Key& key, std::int64_t number) {
    switch (key.type) {
        case KeyType::size:
        case KeyType::size_or_percent:
            return render_size(number);
        case KeyType::percent:
            return std::to_string(number) + "%";
        case KeyType::duration:
            return render_duration(std::chrono::microseconds{number});
        case KeyType::boolean:
        case KeyType::integer:
        case KeyType::word:
        case KeyType::integer_or_word:
        case KeyType::date:
        case KeyType::word_list:
        case KeyType::table:
        case KeyType::rule_array:
            return std::to_string(number);
    }
    STORPOL_BUG("key type out of range");
}

std::string range_text(const Key& key) {
    std::string text;
    if (key.min && key.max && *key.min == *key.max) {
        text = quantity_text(key, *key.min);
    } else if (key.min && key.max) {
        text = quantity_text(key, *key.min) + " to " + quantity_text(key, *key.max);
    } else if (key.min) {
        text = "at least " + quantity_text(key, *key.min);
    } else if (key.max) {
        text = "at most " + quantity_text(key, *key.max);
    }
    // "0 to 200 pages", but "0 to 3000, in 1/10000".
    const bool is_fraction = !key.unit.empty() && key.unit.front() >= '0' && key.unit.front() <= '9';
    if (!text.empty() && !key.unit.empty()) text += (is_fraction ? ", in " : " ") + key.unit;
    return text;
}

std::string wanted_text(KeyType type) {
    switch (type) {
        case KeyType::boolean:
            return "true or false";
        case KeyType::integer:
            return "a whole number";
        case KeyType::word:
            return "a word in quotes";
        case KeyType::integer_or_word:
            return "a whole number or a text in quotes";
        case KeyType::size:
            return "a size";
        case KeyType::percent:
            return "a percentage";
        case KeyType::size_or_percent:
            return "a size or a percentage";
        case KeyType::duration:
            return "a duration";
        case KeyType::date:
            return "a date without quotes";
        case KeyType::word_list:
            return "a list of words";
        case KeyType::table:
            return "a table";
        case KeyType::rule_array:
            return "a list of rules";
    }
    STORPOL_BUG("key type out of range");
}

std::string example_text(const Key& key) {
    const std::string word = key.choices.empty() ? "..." : key.choices.front();
    const std::string number = std::to_string(key.min ? *key.min : key.max ? *key.max : 10);
    switch (key.type) {
        case KeyType::boolean:
            return "true";
        case KeyType::integer:
        case KeyType::integer_or_word:
            return number;
        case KeyType::word:
            return render_toml_string(word);
        case KeyType::size:
            return "\"" + (key.min && *key.min > 0 ? render_size(*key.min) : "1MiB") + "\"";
        case KeyType::percent:
            return "\"" + (key.min ? std::to_string(*key.min) : "15") + "%\"";
        case KeyType::size_or_percent:
            return "\"15%\"";
        case KeyType::duration:
            return "\"" + (key.min && *key.min > 0 ? quantity_text(key, *key.min) : "5min") + "\"";
        case KeyType::date:
            return "2027-03-01";
        case KeyType::word_list:
            return "[" + render_toml_string(word) + "]";
        case KeyType::table:
            return "{ }";
        case KeyType::rule_array:
            return "[]";
    }
    STORPOL_BUG("key type out of range");
}

std::string shortened(std::string_view text) {
    constexpr std::size_t most = 60;
    if (text.size() <= most) return printable(text);
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return printable(text.substr(0, end)) + "...";
}

}  // namespace storpol
