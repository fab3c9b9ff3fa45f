// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/policy/load.h"

// A small language and files in memory for the tests of engine/policy.
namespace storpol::made_up {

inline Key key(std::string name, KeyType type) {
    Key made;
    made.name = std::move(name);
    made.type = type;
    made.doc = "Says " + made.name + ".";
    return made;
}

inline Key ranged(Key made, std::int64_t min, std::int64_t max) {
    made.min = min;
    made.max = max;
    return made;
}

inline Key bounded(Key made) {
    made.bounds = true;
    return made;
}

inline Key chosen(Key made, std::vector<std::string> choices) {
    made.choices = std::move(choices);
    return made;
}

inline Key with_keys(Key made, std::vector<Key> keys) {
    made.keys = std::move(keys);
    return made;
}

inline Key discard_table() {
    return with_keys(key("discard", KeyType::table),
                     {chosen(key("filesystem", KeyType::word), {"periodic", "continuous", "never"}),
                      key("require-end-to-end", KeyType::boolean), key("models", KeyType::word_list)});
}

inline Key fstrim_table() {
    Key evidence =
        with_keys(key("evidence", KeyType::table),
                  {key("max-age", KeyType::duration), ranged(key("max-zero-byte-runs", KeyType::integer), 0, 100)});
    return with_keys(key("fstrim", KeyType::table),
                     {key("enabled", KeyType::boolean), key("schedule", KeyType::word),
                      key("boot-delay", KeyType::duration), ranged(key("nice", KeyType::integer), -20, 19),
                      key("min-extent", KeyType::size), key("since", KeyType::date), evidence});
}

inline Key block_rules() {
    Key match =
        with_keys(key("match", KeyType::table), {key("model", KeyType::word), key("rotational", KeyType::boolean)});
    Key read_ahead = bounded(ranged(key("read-ahead", KeyType::size), 0, std::int64_t{1} << 30));
    return with_keys(
        key("block", KeyType::rule_array),
        {match, chosen(key("scheduler", KeyType::word), {"none", "mq-deadline", "kyber", "bfq"}), read_ahead,
         chosen(key("options", KeyType::word_list), {"noatime", "relatime"}), key("max-used", KeyType::percent)});
}

inline Key sysctl_table() {
    Key any = bounded(key("*", KeyType::integer_or_word));
    any.joins_dots = true;
    any.check = [](const std::string& name, const std::string&) -> std::optional<Key::Objection> {
        if (!name.starts_with("vm.")) return std::nullopt;
        return Key::Objection{name + " stands under [sysctl]", "write it under [vm]"};
    };
    return with_keys(key("sysctl", KeyType::table), {any});
}

inline Key zram_table() {
    Key size = key("size", KeyType::size_or_percent);
    Key other = with_keys(key("*", KeyType::table), {size});
    other.check = [](const std::string& name, const std::string&) -> std::optional<Key::Objection> {
        if (name.starts_with("zram")) return std::nullopt;
        return Key::Objection{name + " is no zram device", "write zram1"};
    };
    return with_keys(key("zram", KeyType::table), {size, other});
}

inline Key vm_table() {
    Key swappiness = bounded(ranged(key("swappiness", KeyType::integer), 0, 200));
    Key factor = ranged(key("factor", KeyType::integer), 0, 3000);
    factor.unit = "1/10000";
    return with_keys(key("vm", KeyType::table), {swappiness, factor});
}

// Two of these share [discard], as resources do.
inline std::vector<PolicyKeys> keys() {
    Key more_discard = with_keys(key("discard", KeyType::table), {key("lvm", KeyType::boolean)});
    return {{{discard_table(), fstrim_table()}},
            {{block_rules(), more_discard}},
            {{sysctl_table(), vm_table(), zram_table()}}};
}

// Files by name; the identity is what stands after '@' in the name, so "a.toml" and "link@a.toml" are one file.
class MemorySource final : public PolicySource {
  public:
    explicit MemorySource(std::map<std::string, std::string> files) : files_(std::move(files)) {}

    Result<Opened> open(std::string_view name, std::string_view) override {
        const auto file = files_.find(std::string(name));
        if (file == files_.end())
            return fail(ErrorKind::no_such_file, "cannot open: No such file or directory", std::string(name));
        return Opened{file->first, file->first.substr(file->first.find('@') + 1), file->second};
    }

  private:
    std::map<std::string, std::string> files_;
};

inline Loaded load(std::map<std::string, std::string> files, const std::vector<std::string>& names = {"p.toml"}) {
    MemorySource source(std::move(files));
    return load_policy(names, source, keys());
}

inline Loaded load_text(const std::string& text) {
    return load({{"p.toml", "version = 1\n" + text}});
}

inline std::string rendered(const Loaded& loaded) {
    std::string out;
    for (const PolicyError& error : loaded.errors) out += render(error);
    return out;
}

// The rendered errors of one file whose second line is where `text` begins.
inline std::string errors_of(const std::string& text) {
    return rendered(load_text(text));
}

// A place-free text of a tree, so that two trees can be compared.
inline std::string outline(const PolicyNode& node);

inline std::string outline(const PolicyTable& table) {
    std::map<std::string, std::string> sorted;
    for (const PolicyEntry& entry : table.entries) sorted[entry.key] = outline(entry.value);
    std::string out = "{";
    for (const auto& [name, value] : sorted) out += name + "=" + value + ";";
    return out + "}";
}

inline std::string outline(const PolicyNode& node) {
    if (const PolicyTable* table = node.table()) return outline(*table);
    std::string out = node.text + (node.number ? "#" + std::to_string(*node.number) : "");
    if (node.boolean()) out += *node.boolean() ? "!true" : "!false";
    const auto* list = node.list();
    if (!list) return out;
    out = "[";
    for (const PolicyNode& item : *list) out += outline(item) + ",";
    return out + "]";
}

}  // namespace storpol::made_up
