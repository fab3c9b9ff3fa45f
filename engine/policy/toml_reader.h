// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/place.h"
#include "engine/policy/diagnostic.h"

// TOML 1.0 text as a tree whose every part knows its place. Knows nothing of keys; the one user of toml++.
namespace storpol {

// A file's text with its lines at hand. Views the text given, which must live longer.
class SourceText {
  public:
    SourceText(std::string name, std::string_view bytes);

    const std::string& name() const { return name_; }

    std::string_view bytes() const { return bytes_; }  // without a byte order mark

    std::string_view line(int number) const;        // counts from 1; empty where there is none
    Place place_of(int line, int character) const;  // of the n-th character of a line; both count from 1

  private:
    std::string name_;
    std::string_view bytes_;
    std::vector<std::string_view> lines_;
    // Where the characters of the line asked for last begin: places on one long line come one after the other.
    mutable int measured_line_ = 0;
    mutable std::vector<int> starts_;
};

enum class TomlKind { string, integer, real, boolean, date, moment, array, table };

struct TomlEntry;

struct TomlValue {
    TomlKind kind = TomlKind::table;
    Place place;       // where it begins; of a [table] its header
    int width = 1;     // bytes on its first line
    std::string text;  // of a string its content, of an integer its decimal form, of the other leaves as written
    std::int64_t integer = 0;
    std::vector<TomlValue> items;    // of an array
    std::vector<TomlEntry> entries;  // of a table, in the order they are written
};

struct TomlEntry {
    std::string key;
    Place place;  // of the key's first appearance
    int width = 1;
    TomlValue value;
};

struct TomlFile {
    TomlValue root;
    std::optional<PolicyError> error;  // the one syntax error; there is then no root
};

// Never throws on hostile text; nesting far beyond what any policy needs is refused before toml++ sees it.
TomlFile read_toml(const SourceText& text);

}  // namespace storpol
