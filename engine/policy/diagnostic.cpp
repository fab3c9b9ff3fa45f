// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/diagnostic.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "engine/base/text.h"

namespace storpol {
namespace {

bool continues(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

// One line for a terminal: a tab takes one column, so that what stands under it lines up.
std::string shown(std::string_view text) {
    std::string spaced(text);
    std::replace(spaced.begin(), spaced.end(), '\t', ' ');
    return printable(spaced);
}

std::size_t character_start(std::string_view text, std::size_t at) {
    while (at > 0 && at < text.size() && continues(text[at])) --at;
    return std::min(at, text.size());
}

// The parts of a line before, under and after the underline; a very long line is cut around it.
struct Excerpt {
    std::string before;
    std::string marked;
    std::string after;
};

Excerpt excerpt_of(std::string_view line, int column, int width) {
    constexpr std::size_t most_before = 100;
    constexpr std::size_t kept_before = 60;
    constexpr std::size_t most_after = 100;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::size_t begin = character_start(line, static_cast<std::size_t>(std::max(column, 1) - 1));
    const std::size_t wanted = std::min(static_cast<std::size_t>(std::max(width, 1)), most_after);
    const std::size_t end = character_start(line, std::min(begin + wanted, line.size()));
    const std::size_t from = begin > most_before ? character_start(line, begin - kept_before) : 0;
    const std::size_t to = character_start(line, std::min(end + most_after, line.size()));
    Excerpt excerpt;
    excerpt.before = (from > 0 ? "..." : "") + shown(line.substr(from, begin - from));
    excerpt.marked = shown(line.substr(begin, end - begin));
    excerpt.after = shown(line.substr(end, to - end)) + (to < line.size() ? "..." : "");
    return excerpt;
}

std::string render_excerpt(const PolicyError& error) {
    constexpr std::size_t gutter = 5;
    std::string number = std::to_string(error.where.line);
    if (number.size() < gutter) number.insert(0, gutter - number.size(), ' ');
    const Excerpt excerpt = excerpt_of(error.line, error.where.column, error.width);
    std::string out = number + " | " + excerpt.before + excerpt.marked + excerpt.after + "\n";
    if (error.where.column <= 0) return out;
    out += std::string(number.size(), ' ') + " | " + std::string(columns_of(excerpt.before), ' ') + "^";
    const std::size_t marked = columns_of(excerpt.marked);
    if (marked > 1) out += std::string(marked - 1, '~');
    if (!error.note.empty()) out += " " + printable(error.note);
    return out + "\n";
}

}  // namespace

std::string render(const PolicyError& error) {
    std::string out = printable(to_text(error.where)) + ": error: " + printable(error.says) + "\n";
    const bool has_excerpt = error.where.line > 0 && !trim(error.line).empty();
    if (has_excerpt) out += render_excerpt(error);
    const bool note_is_shown = has_excerpt && error.where.column > 0;
    if (!error.note.empty() && !note_is_shown) out += "  note: " + printable(error.note) + "\n";
    if (!error.fix.empty()) out += "  fix: " + printable(error.fix) + "\n";
    return out;
}

}  // namespace storpol
