// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/policy/keys.h"

// All keys of the language as one tree, and the words messages and pages use for them.
namespace storpol {

class KeySet {
  public:
    // The keys of the resources, joined where two share a table, and those of engine/policy itself (version, include,
    // ...).
    explicit KeySet(const std::vector<PolicyKeys>& keys);

    const Key& root() const { return root_; }

    // The tables that have a key of this name, as people write them: "[zram]", "[[mount]] free-space".
    std::vector<std::string> tables_with(std::string_view name) const;

    const std::vector<std::string>& names_in_tables() const {
        return names_;
    }  // every key name that tables_with() knows

  private:
    void note_tables(const Key& table, const std::string& label);

    Key root_;
    std::map<std::string, std::vector<std::string>, std::less<>> tables_;
    std::vector<std::string> names_;
};

// The key of a table by name, else its "*"; nullptr when it has neither.
const Key* find_key(const Key& table, std::string_view name);
bool is_table_like(const Key& key);  // table or rule_array

// How the part `name` of a labelled table is named: "[vm]" and "x" give "[vm.x]"; "[[mount]]" and "x" give "[[mount]]
// x".
std::string child_label(const std::string& parent, const Key& child, std::string_view name);

std::string render_toml_key(std::string_view name);     // bare where it can be, else quoted
std::string render_toml_string(std::string_view text);  // with its quotes; any text without control characters

std::string quantity_text(const Key& key, std::int64_t number);  // in the key's unit: "64KiB", "5ms", "15%", "200"
std::string range_text(const Key& key);                          // "0 to 200 pages", "at least 1KiB"; empty for none
std::string wanted_text(KeyType type);                           // "a whole number", "a size"
std::string example_text(const Key& key);                        // a right value as TOML: "1MiB" with quotes, 10, true

// Host-printable and short: for a text of unknown length within a sentence.
std::string shortened(std::string_view text);

}  // namespace storpol
