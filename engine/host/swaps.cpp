// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/swaps.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"

namespace storpol {
namespace {

// Blank, tab, newline and backslash of a path stand as three octal digits (kernel mm/swapfile.c, swap_show).
std::string unescape_octal(std::string_view text) {
    const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_escape = text[at] == '\\' && at + 3 < text.size() && is_octal(text[at + 1]) &&
                               is_octal(text[at + 2]) && is_octal(text[at + 3]);
        if (!is_escape) {
            out += text[at];
            continue;
        }
        out += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
        at += 3;
    }
    return out;
}

}  // namespace

// Filename				Type		Size		Used		Priority
// /dev/zram0                              partition	8142680		4000000		100
std::vector<SwapArea> parse_swaps(std::string_view text) {
    std::vector<SwapArea> areas;
    for (const auto line : split_lines(text)) {
        const auto words = split_words(line);
        if (words.size() != 5 || !words[0].starts_with('/')) continue;
        const auto size = parse_int(words[2]);
        const auto used = parse_int(words[3]);
        const auto priority = parse_int(words[4]);
        if (!size || !used || !priority || *priority < -32768 || *priority > 32767) continue;
        areas.push_back({unescape_octal(words[0]), std::string(words[1]), *size, *used, static_cast<int>(*priority)});
    }
    return areas;
}

const SwapArea* find_swap(const std::vector<SwapArea>& areas, std::string_view path) {
    const auto found = std::ranges::find(areas, path, &SwapArea::path);
    return found == areas.end() ? nullptr : &*found;
}

std::optional<std::int64_t> meminfo_kib(std::string_view text, std::string_view name) {
    for (const auto line : split_lines(text)) {
        const auto words = split_words(line);
        if (words.size() < 2 || !words[0].ends_with(':') || words[0].substr(0, words[0].size() - 1) != name) continue;
        const auto number = parse_int(words[1]);
        return number && *number >= 0 ? std::optional<std::int64_t>(*number) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<ZramAlgorithms> parse_zram_algorithms(std::string_view text) {
    ZramAlgorithms found;
    for (auto word : split_words(text)) {
        const bool is_selected = word.size() > 2 && word.front() == '[' && word.back() == ']';
        if (is_selected) word = word.substr(1, word.size() - 2);
        if (is_selected) found.selected = word;
        found.known.emplace_back(word);
    }
    if (found.selected.empty()) return std::nullopt;
    return found;
}

// "  166322176  82451012  85045248        0 85045248    12800        0        0        0"
std::optional<ZramMemory> parse_zram_memory(std::string_view text) {
    const auto words = split_words(text);
    if (words.size() < 4) return std::nullopt;
    std::array<std::int64_t, 4> columns{};
    for (std::size_t at = 0; at < columns.size(); ++at) {
        const auto number = parse_int(words[at]);
        if (!number || *number < 0) return std::nullopt;
        columns[at] = *number;
    }
    return ZramMemory{columns[0], columns[1], columns[2], columns[3]};
}

}  // namespace storpol
