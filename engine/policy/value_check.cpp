// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/value_check.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/base/result.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/policy/key_set.h"

namespace storpol {
namespace {

using Checked = tl::expected<PolicyNode, Complaint>;

tl::unexpected<Complaint> complain(Complaint complaint) {
    return tl::unexpected<Complaint>(std::move(complaint));
}

Complaint complaint_of(std::string says, std::string fix, std::string note = {}) {
    Complaint complaint;
    complaint.says = std::move(says);
    complaint.fix = std::move(fix);
    complaint.note = std::move(note);
    return complaint;
}

std::string assignment(const std::string& name, const std::string& value) {
    return "write " + render_toml_key(name) + " = " + value;
}

std::string found_text(const TomlValue& value) {
    switch (value.kind) {
        case TomlKind::string:
            return "the text \"" + shortened(value.text) + "\"";
        case TomlKind::integer:
        case TomlKind::real:
            return "the number " + shortened(value.text);
        case TomlKind::boolean:
            return value.text;
        case TomlKind::date:
            return "the date " + value.text;
        case TomlKind::moment:
            return "the time " + shortened(value.text);
        case TomlKind::array:
            return "an array";
        case TomlKind::table:
            return "a table";
    }
    STORPOL_BUG("TOML kind out of range");
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_date_text(std::string_view text) {
    constexpr std::string_view form = "dddd-dd-dd";
    if (text.size() != form.size()) return false;
    for (std::size_t at = 0; at < form.size(); ++at) {
        const bool is_digit = text[at] >= '0' && text[at] <= '9';
        if (form[at] == 'd' ? !is_digit : text[at] != '-') return false;
    }
    return true;
}

// What the writer most likely meant, as TOML; empty when that would be a guess.
std::string meant(const TomlValue& value, const Key& key) {
    const std::string& text = value.text;
    const bool is_word = value.kind == TomlKind::string;
    const bool is_integer = value.kind == TomlKind::integer;
    switch (key.type) {
        case KeyType::boolean:
            if (is_one_of(text, {"true", "yes", "on", "1"})) return "true";
            return is_one_of(text, {"false", "no", "off", "0"}) ? "false" : "";
        case KeyType::integer_or_word:
            if (value.kind == TomlKind::boolean) return text == "true" ? "1" : "0";
            return value.kind == TomlKind::real ? render_toml_string(text) : "";
        case KeyType::integer:
            if (is_word && parse_int(text)) return std::to_string(*parse_int(text));
            return value.kind == TomlKind::real && text.ends_with(".0") ? text.substr(0, text.size() - 2) : "";
        case KeyType::word:
            if (!is_integer && value.kind != TomlKind::boolean) return "";
            if (!key.choices.empty() && std::find(key.choices.begin(), key.choices.end(), text) == key.choices.end())
                return "";
            return render_toml_string(text);
        case KeyType::percent:
            return is_integer && value.integer >= 0 && value.integer <= 1000 ? "\"" + text + "%\"" : "";
        case KeyType::date:
            if (is_word && is_date_text(text)) return text;
            return value.kind == TomlKind::moment && is_date_text(text.substr(0, 10)) ? text.substr(0, 10) : "";
        case KeyType::word_list:
            return is_word ? "[" + render_toml_string(text) + "]" : "";
        case KeyType::size:
        case KeyType::size_or_percent:
        case KeyType::duration:
        case KeyType::table:
        case KeyType::rule_array:
            return "";
    }
    STORPOL_BUG("key type out of range");
}

Checked with_number(Result<std::int64_t> number, const std::string& name) {
    if (!number) return complain(complaint_of(name + ": " + number.error().what, number.error().fix));
    PolicyNode node;
    node.number = *number;
    return node;
}

Result<std::int64_t> microseconds_of(const std::string& text) {
    const auto duration = parse_duration(text);
    if (!duration) return tl::unexpected<Error>(duration.error());
    return std::int64_t{duration->count()};
}

Result<std::int64_t> percent_of(const std::string& text) {
    const auto percent = parse_percent(text);
    if (!percent) return tl::unexpected<Error>(percent.error());
    return std::int64_t{*percent};
}

// Sizes, percentages, durations: the text read as the key's type says.
Checked quantity(const TomlValue& value, const Key& key, const std::string& name) {
    const bool is_word = value.kind == TomlKind::string;
    const bool is_integer = value.kind == TomlKind::integer;
    const bool is_duration = key.type == KeyType::duration;
    const bool takes_size = key.type == KeyType::size || key.type == KeyType::size_or_percent;
    if (is_duration && (is_word || is_integer)) return with_number(microseconds_of(value.text), name);
    if (takes_size && is_integer && value.integer < 0) {
        return complain(
            complaint_of(name + " is " + value.text + ", and a size is never negative", assignment(name, "\"1MiB\"")));
    }
    if (key.type == KeyType::size_or_percent && is_word && value.text.ends_with('%')) {
        return with_number(percent_of(value.text), name);
    }
    if (takes_size && (is_word || is_integer)) return with_number(parse_size(value.text), name);
    if (key.type == KeyType::percent && is_word) return with_number(percent_of(value.text), name);
    return complain(wrong_type(value, key, name));
}

Checked plain(const TomlValue& value, TomlKind kind, const Key& key, const std::string& name) {
    if (value.kind != kind) return complain(wrong_type(value, key, name));
    return PolicyNode{};
}

Checked number_or_word(const TomlValue& value, const Key& key, const std::string& name) {
    PolicyNode node;
    if (value.kind == TomlKind::integer) {
        node.number = value.integer;
    } else if (value.kind == TomlKind::string) {
        // "150" in quotes is the number too, or it would differ for ever from the 150 that the kernel shows.
        const auto number = parse_int(value.text);
        if (number && std::to_string(*number) == value.text) node.number = number;
    } else {
        return complain(wrong_type(value, key, name));
    }
    return node;
}

Checked by_type(const TomlValue& value, const Key& key, const std::string& name) {
    switch (key.type) {
        case KeyType::boolean: {
            Checked node = plain(value, TomlKind::boolean, key, name);
            if (node) node->inner = value.text == "true";
            return node;
        }
        case KeyType::integer: {
            Checked node = plain(value, TomlKind::integer, key, name);
            if (node) node->number = value.integer;
            return node;
        }
        case KeyType::word:
            return plain(value, TomlKind::string, key, name);
        case KeyType::date:
            return plain(value, TomlKind::date, key, name);
        case KeyType::integer_or_word:
            return number_or_word(value, key, name);
        case KeyType::size:
        case KeyType::percent:
        case KeyType::size_or_percent:
        case KeyType::duration:
            return quantity(value, key, name);
        case KeyType::word_list:
        case KeyType::table:
        case KeyType::rule_array:
            break;
    }
    STORPOL_BUG("not the key of a leaf: " + key.name);
}

std::optional<Complaint> check_range(const PolicyNode& node, const Key& key, const std::string& name) {
    if (!node.number) return std::nullopt;
    if (key.type == KeyType::size_or_percent && node.text.ends_with('%')) return std::nullopt;
    const bool is_low = key.min && *node.number < *key.min;
    const bool is_high = key.max && *node.number > *key.max;
    if (!is_low && !is_high) return std::nullopt;
    if (key.min && key.max && *key.min == *key.max) {
        const std::string only = quantity_text(key, *key.min);
        return complaint_of(name + " is " + node.text + ", and only " + only + " is known here",
                            assignment(name, only));
    }
    const std::string nearest_end =
        is_low ? "write at least " + quantity_text(key, *key.min) : "write at most " + quantity_text(key, *key.max);
    return complaint_of(name + " is " + node.text + ", out of range", nearest_end, "range: " + range_text(key));
}

std::optional<Complaint> check_choices(const std::string& text, const Key& key, const std::string& name) {
    if (key.choices.empty() || std::find(key.choices.begin(), key.choices.end(), text) != key.choices.end())
        return std::nullopt;
    const auto near = nearest(text, key.choices);
    return complaint_of("unknown " + name + " \"" + shortened(text) + "\"",
                        near ? "write \"" + *near + "\"" : "write one of these words",
                        "one of: " + join(key.choices, ", "));
}

}  // namespace

Complaint wrong_type(const TomlValue& value, const Key& key, const std::string& name) {
    const std::string likely = meant(value, key);
    const std::string fix = likely.empty() ? "write for example " + render_toml_key(name) + " = " + example_text(key)
                                           : assignment(name, likely);
    const std::string note = key.choices.empty() ? "" : "one of: " + join(key.choices, ", ");
    return complaint_of(name + " wants " + wanted_text(key.type) + ", found " + found_text(value), fix, note);
}

std::optional<Complaint> check_text(std::string_view text, const std::string& what) {
    constexpr std::size_t longest = 4096;
    if (text.size() > longest) {
        return complaint_of(what + " has " + std::to_string(text.size()) + " bytes",
                            "write at most " + std::to_string(longest));
    }
    if (printable(text) == text) return std::nullopt;
    return complaint_of(what + " holds a control character, which would reach a configuration file",
                        "take it out: \"" + shortened(text) + "\"");
}

std::optional<Complaint> check_hook(const std::string& text, const Key& key, const std::string& name) {
    if (!key.check) return std::nullopt;
    auto objection = key.check(name, text);
    if (!objection) return std::nullopt;
    Complaint complaint = complaint_of(std::move(objection->says), std::move(objection->fix));
    complaint.of_name = key.name == "*";
    return complaint;
}

Checked check_leaf(const TomlValue& value, const Key& key, const std::string& name) {
    if (value.kind == TomlKind::string) {
        if (auto complaint = check_text(value.text, name)) return complain(std::move(*complaint));
    }
    Checked node = by_type(value, key, name);
    if (!node) return node;
    node->text = value.text;
    node->bare = value.kind != TomlKind::string;
    node->place = value.place;
    if (auto complaint = check_range(*node, key, name)) return complain(std::move(*complaint));
    if (node->number) return node;
    if (auto complaint = check_choices(value.text, key, name)) return complain(std::move(*complaint));
    return node;
}

Checked check_list_word(const TomlValue& value, const Key& key, const std::string& name) {
    if (value.kind != TomlKind::string) {
        const std::string fix = value.kind == TomlKind::integer || value.kind == TomlKind::boolean
                                    ? "write \"" + value.text + "\""
                                    : "write for example " + render_toml_key(name) + " = " + example_text(key);
        return complain(complaint_of(name + " wants words in quotes, found " + found_text(value), fix));
    }
    if (auto complaint = check_text(value.text, "a word of " + name)) return complain(std::move(*complaint));
    if (auto complaint = check_choices(value.text, key, "word in " + name)) return complain(std::move(*complaint));
    if (auto complaint = check_hook(value.text, key, name)) return complain(std::move(*complaint));
    PolicyNode node;
    node.place = value.place;
    node.text = value.text;
    return node;
}

}  // namespace storpol
