// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/checker.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/base/text.h"
#include "engine/policy/value_check.h"

namespace storpol {
namespace {

bool is_bound_name(std::string_view name) {
    return name == "at-least" || name == "at-most";
}

bool holds_bound(const TomlValue& value) {
    return std::any_of(value.entries.begin(), value.entries.end(),
                       [](const TomlEntry& entry) { return is_bound_name(entry.key); });
}

class Checker {
  public:
    Checker(const KeySet& keys, const SourceText& text) : keys_(keys), text_(text) {}

    PolicyTable table(const TomlValue& value, const Key& key, const std::string& label);

    std::vector<PolicyError> take_errors() { return std::move(errors_); }

  private:
    using MaybeNode = std::optional<PolicyNode>;
    using Joined = std::unordered_map<std::string, Place>;

    void add(const Place& where, int width, Complaint complaint);
    void add_for(const TomlEntry& entry, Complaint complaint);

    bool key_is_sound(const TomlEntry& entry);
    Complaint advice(const TomlEntry& entry, const Key& table, const std::string& label) const;
    void unknown_key(const TomlEntry& entry, const Key& table, const std::string& label);
    void require(const TomlValue& value, const Key& table, const std::string& label);
    void join_dots(const TomlEntry& entry, const std::string& name, const Key& key, Joined& seen, PolicyTable& out);

    MaybeNode value(const TomlEntry& entry, const Key& key, const std::string& name, const std::string& label);
    MaybeNode inner_table(const TomlEntry& entry, const Key& key, const std::string& name, const std::string& label);
    MaybeNode rules(const TomlEntry& entry, const Key& key, const std::string& name, const std::string& label);
    MaybeNode words(const TomlEntry& entry, const Key& key, const std::string& name);
    MaybeNode bound(const TomlEntry& entry, const Key& key, const std::string& name);
    MaybeNode leaf(const TomlEntry& entry, const Key& key, const std::string& shown, const std::string& name);
    void one_bound_only(const TomlEntry& entry, const PolicyTable& bounds, const std::string& name);

    const KeySet& keys_;
    const SourceText& text_;
    std::vector<PolicyError> errors_;
};

void Checker::add(const Place& where, int width, Complaint complaint) {
    PolicyError error = error_in(text_, where, width, std::move(complaint.says), std::move(complaint.fix));
    error.note = std::move(complaint.note);
    errors_.push_back(std::move(error));
}

void Checker::add_for(const TomlEntry& entry, Complaint complaint) {
    const bool of_name = complaint.of_name;
    add(of_name ? entry.place : entry.value.place, of_name ? entry.width : entry.value.width, std::move(complaint));
}

PolicyTable Checker::table(const TomlValue& table_value, const Key& key, const std::string& label) {
    PolicyTable out;
    Joined joined;
    for (const TomlEntry& entry : table_value.entries) {
        if (!key_is_sound(entry)) continue;
        const Key* found = find_key(key, entry.key);
        if (!found) {
            unknown_key(entry, key, label);
        } else if (found->name == "*" && found->joins_dots) {
            join_dots(entry, entry.key, *found, joined, out);
        } else if (MaybeNode node = value(entry, *found, entry.key, child_label(label, *found, entry.key))) {
            out.entries.push_back({entry.key, entry.place, std::move(*node)});
        }
    }
    require(table_value, key, label);
    return out;
}

bool Checker::key_is_sound(const TomlEntry& entry) {
    auto complaint = check_text(entry.key, "this key");
    if (complaint) add(entry.place, entry.width, std::move(*complaint));
    return !complaint;
}

// Where an unknown key belongs, best guess first: this name in another place, a like name here, a like name elsewhere.
Complaint Checker::advice(const TomlEntry& entry, const Key& table, const std::string& label) const {
    Complaint complaint;
    const bool at_top = label.empty();
    std::vector<std::string> names;
    for (const Key& key : table.keys) {
        if (key.name != "*") names.push_back(key.name);
    }
    if (const auto others = keys_.tables_with(entry.key); !others.empty()) {
        complaint.note =
            join(others, ", ") + (others.size() == 1 ? " has a key of this name" : " have a key of this name");
        complaint.fix = "move it to " + others.front() + ", or take it out";
    } else if (const Key* top = at_top ? nullptr : find_key(keys_.root(), entry.key)) {
        const bool is_table = is_table_like(*top);
        complaint.fix = is_table ? "write it as " + child_label("", *top, entry.key) + " of its own"
                                 : "write it above the first table";
    } else if (const auto near = nearest(entry.key, names)) {
        const Key* key = find_key(table, *near);
        complaint.fix =
            "write " + (at_top && is_table_like(*key) ? child_label("", *key, *near) : render_toml_key(*near));
    } else if (const auto near_elsewhere = nearest(entry.key, keys_.names_in_tables())) {
        const std::string where = keys_.tables_with(*near_elsewhere).front();
        complaint.note = where + " has " + *near_elsewhere;
        complaint.fix = "write " + render_toml_key(*near_elsewhere) + " in " + where + ", or take it out";
    } else {
        complaint.note = (at_top ? "known here: " : "keys of " + label + ": ") + join(names, ", ");
        complaint.fix = "take it out, or write one of these";
    }
    return complaint;
}

void Checker::unknown_key(const TomlEntry& entry, const Key& table, const std::string& label) {
    Complaint complaint = advice(entry, table, label);
    const bool is_table = entry.value.kind == TomlKind::table || entry.value.kind == TomlKind::array;
    const std::string shown = "\"" + shortened(entry.key) + "\"";
    complaint.says = label.empty() ? std::string(is_table ? "unknown table " : "unknown top-level key ") + shown
                                   : "unknown key " + shown + " in " + label;
    add(entry.place, entry.width, std::move(complaint));
}

void Checker::require(const TomlValue& table_value, const Key& table, const std::string& label) {
    for (const Key& key : table.keys) {
        const auto& entries = table_value.entries;
        const bool is_there =
            std::any_of(entries.begin(), entries.end(), [&](const TomlEntry& entry) { return entry.key == key.name; });
        if (!key.required || is_there) continue;
        Complaint complaint;
        complaint.says =
            label.empty() ? "this file does not say its " + key.name : label + " lacks the key " + key.name;
        complaint.fix = (label.empty() ? "write as the first line: " : "add for example ") + render_toml_key(key.name) +
                        " = " + example_text(key);
        const Place where = label.empty() ? Place{text_.name(), 1, 1} : table_value.place;
        add(where, label.empty() ? 1 : table_value.width, std::move(complaint));
    }
}

// [sysctl] net.core.somaxconn = 1 is, to TOML, a table in a table; to the policy it is one name.
void Checker::join_dots(
    const TomlEntry& entry, const std::string& name, const Key& key, Joined& seen, PolicyTable& out) {
    const bool descends = entry.value.kind == TomlKind::table && !is_table_like(key) && !holds_bound(entry.value);
    if (descends) {
        for (const TomlEntry& part : entry.value.entries) {
            if (key_is_sound(part)) join_dots(part, name + "." + part.key, key, seen, out);
        }
        return;
    }
    const auto [first, is_new] = seen.emplace(name, entry.place);
    if (!is_new) {
        Complaint complaint;
        complaint.says = name + " is wanted twice, here and on line " + std::to_string(first->second.line);
        complaint.fix = "keep one of the two";
        add(entry.place, entry.width, std::move(complaint));
        return;
    }
    if (MaybeNode node = value(entry, key, name, name)) out.entries.push_back({name, entry.place, std::move(*node)});
}

Checker::MaybeNode Checker::value(const TomlEntry& entry,
                                  const Key& key,
                                  const std::string& name,
                                  const std::string& label) {
    if (key.type == KeyType::table) return inner_table(entry, key, name, label);
    if (key.type == KeyType::rule_array) return rules(entry, key, name, label);
    if (key.type == KeyType::word_list) return words(entry, key, name);
    if (entry.value.kind == TomlKind::table) return bound(entry, key, name);
    return leaf(entry, key, name, name);
}

Checker::MaybeNode Checker::leaf(const TomlEntry& entry,
                                 const Key& key,
                                 const std::string& shown,
                                 const std::string& name) {
    auto node = check_leaf(entry.value, key, shown);
    if (!node) {
        add_for(entry, node.error());
        return std::nullopt;
    }
    if (auto complaint = check_hook(node->text, key, name)) {
        add_for(entry, std::move(*complaint));
        return std::nullopt;
    }
    return *std::move(node);
}

Checker::MaybeNode Checker::inner_table(const TomlEntry& entry,
                                        const Key& key,
                                        const std::string& name,
                                        const std::string& label) {
    if (entry.value.kind != TomlKind::table) {
        Complaint complaint = wrong_type(entry.value, key, name);
        const bool is_rules = entry.value.kind == TomlKind::array;
        complaint.fix = is_rules ? "write " + label + " once, with single brackets" : "write it as " + label;
        if (label.starts_with("[[")) complaint.fix = "write " + render_toml_key(name) + " = { ... }";
        add_for(entry, std::move(complaint));
        return std::nullopt;
    }
    if (auto complaint = check_hook("", key, name)) add_for(entry, std::move(*complaint));
    PolicyNode node;
    node.place = entry.value.place;
    node.inner = table(entry.value, key, label);
    return node;
}

Checker::MaybeNode Checker::rules(const TomlEntry& entry,
                                  const Key& key,
                                  const std::string& name,
                                  const std::string& label) {
    const auto& items = entry.value.items;
    const bool all_tables =
        std::all_of(items.begin(), items.end(), [](const TomlValue& item) { return item.kind == TomlKind::table; });
    if (entry.value.kind != TomlKind::array || !all_tables) {
        Complaint complaint = wrong_type(entry.value, key, name);
        complaint.fix = "write each rule as " + label + ", with double brackets";
        add_for(entry, std::move(complaint));
        return std::nullopt;
    }
    PolicyNode node;
    node.place = entry.value.place;
    std::vector<PolicyNode> list;
    for (const TomlValue& item : items) {
        PolicyNode rule;
        rule.place = item.place;
        rule.inner = table(item, key, label);
        list.push_back(std::move(rule));
    }
    node.inner = std::move(list);
    return node;
}

Checker::MaybeNode Checker::words(const TomlEntry& entry, const Key& key, const std::string& name) {
    if (entry.value.kind != TomlKind::array) {
        add_for(entry, wrong_type(entry.value, key, name));
        return std::nullopt;
    }
    PolicyNode node;
    node.place = entry.value.place;
    std::vector<PolicyNode> list;
    for (const TomlValue& item : entry.value.items) {
        auto word = check_list_word(item, key, name);
        if (word) {
            list.push_back(*std::move(word));
        } else {
            add(item.place, item.width, word.error());
        }
    }
    node.inner = std::move(list);
    return node;
}

Checker::MaybeNode Checker::bound(const TomlEntry& entry, const Key& key, const std::string& name) {
    if (!key.bounds) {
        Complaint complaint = wrong_type(entry.value, key, name);
        if (holds_bound(entry.value)) complaint.says = name + " takes no bounds, only " + wanted_text(key.type);
        add_for(entry, std::move(complaint));
        return std::nullopt;
    }
    const std::size_t errors_before = errors_.size();
    PolicyTable bounds;
    for (const TomlEntry& part : entry.value.entries) {
        if (!is_bound_name(part.key)) {
            Complaint complaint;
            complaint.says = name + " takes a value, at-least or at-most; unknown \"" + shortened(part.key) + "\"";
            complaint.fix =
                "write " +
                nearest(part.key, std::vector<std::string>{"at-least", "at-most"}).value_or("at-least or at-most");
            add(part.place, part.width, std::move(complaint));
            continue;
        }
        MaybeNode node = leaf(part, key, part.key, name);
        if (node && !node->number) {
            Complaint complaint;
            complaint.says = "the " + part.key + " of " + name + " is no number";
            complaint.fix = "write for example " + part.key + " = 10";
            add_for(part, std::move(complaint));
        } else if (node) {
            bounds.entries.push_back({part.key, part.place, std::move(*node)});
        }
    }
    if (errors_.size() == errors_before) one_bound_only(entry, bounds, name);
    if (errors_.size() != errors_before) return std::nullopt;
    PolicyNode node;
    node.place = entry.value.place;
    node.inner = std::move(bounds);
    return node;
}

void Checker::one_bound_only(const TomlEntry& entry, const PolicyTable& bounds, const std::string& name) {
    if (bounds.entries.size() == 1) return;
    Complaint complaint;
    const PolicyNode* least = bounds.find("at-least");
    const PolicyNode* most = bounds.find("at-most");
    if (!least || !most) {
        complaint.says = name + " has an empty bound";
        complaint.fix = "write at-least or at-most in it, or take it out";
    } else if (*least->number > *most->number) {
        complaint.says = name + " wants at least " + least->text + " and at most " + most->text + ": no value is both";
        complaint.fix = "keep one of the two bounds";
    } else {
        complaint.says = name + " has two bounds, and only one can be held to";
        complaint.fix = "keep the bound that matters, or write one value";
    }
    add_for(entry, std::move(complaint));
}

std::vector<PlacedWord> placed_words(const PolicyNode* node) {
    std::vector<PlacedWord> words;
    if (!node || !node->list()) return words;
    for (const PolicyNode& word : *node->list()) {
        words.push_back({word.text, word.place, static_cast<int>(word.text.size()) + 2});
    }
    return words;
}

std::vector<Accept> accepts_of(const PolicyNode* node) {
    std::vector<Accept> accepts;
    if (!node || !node->list()) return accepts;
    for (const PolicyNode& rule : *node->list()) {
        const PolicyTable& keys = *rule.table();
        const PolicyNode* address = keys.find("address");
        const PolicyNode* until = keys.find("until");
        const PolicyNode* reason = keys.find("reason");
        if (!address || !until || !reason) continue;  // said already
        Accept accept{address->text, {}, until->text, reason->text, rule.place};
        for (const PlacedWord& word : placed_words(keys.find("planes"))) {
            if (const auto plane = parse_plane(word.text)) accept.planes.push_back(*plane);
        }
        accepts.push_back(std::move(accept));
    }
    return accepts;
}

}  // namespace

CheckedFile check_file(const TomlValue& root, const KeySet& keys, const SourceText& text) {
    Checker checker(keys, text);
    CheckedFile file;
    PolicyTable all = checker.table(root, keys.root(), "");
    file.errors = checker.take_errors();
    file.includes = placed_words(all.find("include"));
    file.unmanaged = placed_words(all.find("unmanaged"));
    file.accepts = accepts_of(all.find("accept"));
    for (PolicyEntry& entry : all.entries) {
        const std::string& name = entry.key;
        if (name == "version" || name == "include" || name == "unmanaged" || name == "accept") continue;
        file.tree.entries.push_back(std::move(entry));
    }
    return file;
}

PolicyError error_in(const SourceText& text, const Place& where, int width, std::string says, std::string fix) {
    PolicyError error;
    error.where = where;
    error.says = std::move(says);
    error.fix = std::move(fix);
    error.width = width;
    error.line = std::string(text.line(where.line));
    return error;
}

}  // namespace storpol
