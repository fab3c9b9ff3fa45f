// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/toml_reader.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/base/result.h"
#include "engine/base/text.h"

namespace storpol {

SourceText::SourceText(std::string name, std::string_view bytes) : name_(std::move(name)), bytes_(bytes) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (bytes_.starts_with(byte_order_mark)) bytes_.remove_prefix(byte_order_mark.size());
    lines_ = split_lines(bytes_);
}

std::string_view SourceText::line(int number) const {
    if (number <= 0 || static_cast<std::size_t>(number) > lines_.size()) return {};
    return lines_[static_cast<std::size_t>(number) - 1];
}

Place SourceText::place_of(int line_number, int character) const {
    const std::string_view text = line(line_number);
    if (line_number != measured_line_) {
        starts_.clear();
        for (std::size_t at = 0; at < text.size(); ++at) {
            if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80) starts_.push_back(static_cast<int>(at) + 1);
        }
        measured_line_ = line_number;
    }
    const auto index = static_cast<std::size_t>(std::max(character, 1)) - 1;
    const int past_end = static_cast<int>(text.size()) + 1;
    return {name_, line_number, index < starts_.size() ? starts_[index] : past_end};
}

namespace {

// Deeper than any policy and shallow enough for the recursive destructors of toml++ and of this file.
constexpr int most_nested = 32;

// Past a string that begins at `at`; a one-line string ends with its line, as the parser will then stop there.
std::size_t skip_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const std::string triple(3, quote);
    const bool is_long = text.substr(at).starts_with(triple);
    at += is_long ? 3 : 1;
    while (at < text.size()) {
        if (quote == '"' && text[at] == '\\') {
            at += 2;
        } else if (is_long && text.substr(at).starts_with(triple)) {
            return at + 3;
        } else if (!is_long && (text[at] == quote || text[at] == '\n')) {
            return at + (text[at] == quote ? 1 : 0);
        } else {
            ++at;
        }
    }
    return text.size();
}

// toml++ bounds nested arrays and inline tables but not the parts of a dotted key, each of which is a table too:
// "a.a.a. ..." of a few hundred kilobytes would overflow the stack when it is destroyed.
std::optional<std::size_t> find_too_deep(std::string_view text) {
    int brackets = 0;
    int dots = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char byte = text[at];
        if (byte == '"' || byte == '\'') {
            at = skip_string(text, at);
            continue;
        }
        if (byte == '#') {
            at = std::min(text.find('\n', at), text.size());
            continue;
        }
        if (byte == '.') ++dots;
        if (byte == '[' || byte == '{') ++brackets;
        if ((byte == ']' || byte == '}') && brackets > 0) --brackets;
        if (std::string_view("[]{}=,\n").find(byte) != std::string_view::npos) dots = 0;
        if (dots > most_nested || brackets > most_nested) return at;
        ++at;
    }
    return std::nullopt;
}

PolicyError error_at(const SourceText& text, Place where, std::string says, std::string fix) {
    PolicyError error;
    error.line = std::string(text.line(where.line));
    error.where = std::move(where);
    error.says = std::move(says);
    error.fix = std::move(fix);
    return error;
}

PolicyError too_deep(const SourceText& text, std::size_t offset) {
    const std::string_view before = text.bytes().substr(0, offset);
    const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    const Place where{text.name(), line, static_cast<int>(offset - line_start) + 1};
    return error_at(text, where, "tables and arrays are nested more than " + std::to_string(most_nested) + " deep",
                    "no part of the policy language goes this deep");
}

class Converter {
  public:
    explicit Converter(const SourceText& text) : text_(text) {}

    TomlValue value(const toml::node& node) const {
        TomlValue out;
        locate(node.source(), out.place, out.width);
        switch (node.type()) {
            case toml::node_type::table:
                fill_table(*node.as_table(), out);
                break;
            case toml::node_type::array:
                fill_array(*node.as_array(), out);
                break;
            case toml::node_type::string:
                fill(out, TomlKind::string, node.as_string()->get());
                break;
            case toml::node_type::integer:
                fill_integer(node.as_integer()->get(), out);
                break;
            case toml::node_type::floating_point:
                fill(out, TomlKind::real, written(out));
                break;
            case toml::node_type::boolean:
                fill(out, TomlKind::boolean, node.as_boolean()->get() ? "true" : "false");
                break;
            case toml::node_type::date:
                fill(out, TomlKind::date, written(out));
                break;
            case toml::node_type::time:
            case toml::node_type::date_time:
                fill(out, TomlKind::moment, written(out));
                break;
            case toml::node_type::none:
                STORPOL_BUG("toml++ gave a node without a type");
        }
        return out;
    }

  private:
    static void fill(TomlValue& out, TomlKind kind, std::string text) {
        out.kind = kind;
        out.text = std::move(text);
    }

    static void fill_integer(std::int64_t number, TomlValue& out) {
        fill(out, TomlKind::integer, std::to_string(number));
        out.integer = number;
    }

    void fill_array(const toml::array& array, TomlValue& out) const {
        out.kind = TomlKind::array;
        out.items.reserve(array.size());
        for (const toml::node& item : array) out.items.push_back(value(item));
    }

    void fill_table(const toml::table& table, TomlValue& out) const {
        out.kind = TomlKind::table;
        out.entries.reserve(table.size());
        for (auto entry = table.cbegin(); entry != table.cend(); ++entry) {
            TomlEntry made;
            made.key = std::string(entry->first.str());
            locate(entry->first.source(), made.place, made.width);
            made.value = value(entry->second);
            out.entries.push_back(std::move(made));
        }
        // toml++ keeps a table sorted by name; people mean the order they wrote.
        std::stable_sort(out.entries.begin(), out.entries.end(),
                         [](const TomlEntry& left, const TomlEntry& right) { return left.place < right.place; });
    }

    // toml++ counts columns in characters, a Place in bytes.
    void locate(const toml::source_region& region, Place& place, int& width) const {
        const auto line = static_cast<int>(region.begin.line);
        place = text_.place_of(line, static_cast<int>(region.begin.column));
        const int line_end = static_cast<int>(text_.line(line).size()) + 1;
        const int end = region.end.line == region.begin.line
                            ? text_.place_of(line, static_cast<int>(region.end.column)).column
                            : line_end;
        width = std::max(end - place.column, 1);
    }

    std::string written(const TomlValue& at) const {
        const std::string_view line = text_.line(at.place.line);
        return std::string(
            line.substr(static_cast<std::size_t>(at.place.column) - 1, static_cast<std::size_t>(at.width)));
    }

    const SourceText& text_;
};

}  // namespace

TomlFile read_toml(const SourceText& text) {
    TomlFile file;
    if (const auto offset = find_too_deep(text.bytes())) {
        file.error = too_deep(text, *offset);
        return file;
    }
    try {
        const toml::table root = toml::parse(text.bytes(), std::string_view(text.name()));
        file.root = Converter(text).value(root);
    } catch (const toml::parse_error& error) {
        const toml::source_position at = error.source().begin;
        const Place where = text.place_of(static_cast<int>(at.line), static_cast<int>(at.column));
        file.error = error_at(text, where, "not TOML: " + printable(error.description()),
                              "correct this first; the rest of the file is checked once it can be read");
    }
    return file;
}

}  // namespace storpol
