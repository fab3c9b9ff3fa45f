// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/tmpfiles_d.h"

#include "engine/base/text.h"

namespace storpol {
namespace {

// The first `count` blank-separated words; the rest of the line is the argument, blanks and all.
std::vector<std::string_view> take_words(std::string_view& line, std::size_t count) {
    std::vector<std::string_view> words;
    while (words.size() < count) {
        const auto begin = line.find_first_not_of(" \t");
        if (begin == std::string_view::npos) break;
        const auto end = std::min(line.find_first_of(" \t", begin), line.size());
        words.push_back(line.substr(begin, end - begin));
        line.remove_prefix(end);
    }
    line = trim(line);
    return words;
}

// Specifiers but %% depend on the machine; of escapes those that a number or word could hold.
std::optional<std::string> undo_escapes(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        const char next = at + 1 < text.size() ? text[at + 1] : '\0';
        if (c == '%') {
            if (next != '%') return std::nullopt;
            ++at;
            out += '%';
        } else if (c == '\\') {
            if (next == 'n') {
                out += '\n';
            } else if (next == 't') {
                out += '\t';
            } else if (next == 's') {
                out += ' ';
            } else if (next == '\\') {
                out += '\\';
            } else {
                return std::nullopt;
            }
            ++at;
        } else {
            out += c;
        }
    }
    return out;
}

std::string_view unquoted(std::string_view word) {
    const bool is_quoted =
        word.size() >= 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front();
    return is_quoted ? word.substr(1, word.size() - 2) : word;
}

}  // namespace

std::vector<TmpfilesWrite> parse_tmpfiles_writes(std::string_view text) {
    std::vector<TmpfilesWrite> writes;
    int number = 0;
    for (auto line : split_lines(text)) {
        ++number;
        if (trim(line).empty() || trim(line).front() == '#') continue;
        const auto words = take_words(line, 6);
        if (words.size() < 2 || words[0].front() != 'w') continue;
        TmpfilesWrite write;
        write.path = unquoted(words[1]);
        write.written = line;
        write.argument = undo_escapes(unquoted(line));
        write.appends = words[0].find('+') != std::string_view::npos;
        write.at_boot_only = words[0].find('!') != std::string_view::npos;
        write.line = number;
        writes.push_back(std::move(write));
    }
    return writes;
}

std::string render_tmpfiles_argument(std::string_view value) {
    std::string out;
    for (const char c : value) {
        if (c == '%') out += '%';
        if (c == '\\') out += '\\';
        out += c == ' ' ? std::string("\\s") : std::string(1, c);
    }
    return out;
}

}  // namespace storpol
