// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/field_edit.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/base/text.h"

namespace storpol {

namespace {

constexpr std::string_view defaults = "defaults";

struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// The line without its line end ('\n' or "\r\n"), as a span of the bytes.
std::optional<Span> find_line(std::string_view bytes, int line) {
    Span span;
    for (int number = 1; span.begin < bytes.size(); ++number) {
        span.end = std::min(bytes.find('\n', span.begin), bytes.size());
        if (number == line) {
            if (span.end > span.begin && bytes[span.end - 1] == '\r') --span.end;
            return span;
        }
        span.begin = span.end + 1;
    }
    return std::nullopt;
}

// The field's place; behind the last field, and empty, for the one that would come next.
std::optional<Span> find_field(std::string_view bytes, Span line, int field) {
    constexpr std::string_view blanks = " \t";
    Span span{line.begin, line.begin};
    for (int number = 1; number <= field; ++number) {
        const auto begin = bytes.find_first_not_of(blanks, span.end);
        if (begin == std::string_view::npos || begin >= line.end) {
            const bool is_next = number == field && number > 1;
            return is_next ? std::optional(Span{span.end, span.end}) : std::nullopt;
        }
        span = {begin, std::min(bytes.find_first_of(blanks, begin), line.end)};
    }
    return span;
}

bool can_stand(std::string_view word) {
    constexpr std::string_view separators{" \t\r\n,\0", 6};
    return !word.empty() && word.find_first_of(separators) == std::string_view::npos;
}

std::string quoted(std::string_view word) {
    return "\"" + printable(word) + "\"";
}

// By commas; those inside double quotes separate nothing (libmount, mnt_optstr_next_option): context="a,b" is one word.
std::vector<std::string> words_of(std::string_view field) {
    std::vector<std::string> words;
    if (field.empty()) return words;
    std::string word;
    // A quote that nothing closes is a character like any other.
    const bool groups = std::count(field.begin(), field.end(), '"') % 2 == 0;
    bool quotes = false;
    for (const char c : field) {
        if (c == '"' && groups) quotes = !quotes;
        if (c == ',' && !quotes) {
            words.push_back(std::move(word));
            word.clear();
        } else {
            word += c;
        }
    }
    words.push_back(std::move(word));
    return words;
}

// The field's words after the edit; those taken out are looked up from the left, each one once.
Result<std::vector<std::string>> edited(std::string_view field,
                                        std::span<const std::string> take_out,
                                        std::span<const std::string> put_in) {
    std::vector<std::string> words = words_of(field);
    std::vector<bool> gone(words.size(), false);
    for (std::size_t index = 0; index < take_out.size(); ++index) {
        std::size_t at = 0;
        while (at < words.size() && (gone[at] || words[at] != take_out[index])) ++at;
        if (at == words.size())
            return fail(ErrorKind::changed, "the word " + quoted(take_out[index]) + " is not there");
        gone[at] = true;
        // It counts as taken out even with a new word in its place, so that no later one is found in the new word.
        words[at] = index < put_in.size() ? put_in[index] : std::string();
    }
    std::vector<std::string> kept;
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (!gone[at] || !words[at].empty()) kept.push_back(words[at]);
    }
    for (std::size_t index = take_out.size(); index < put_in.size(); ++index) kept.push_back(put_in[index]);
    return kept;
}

}  // namespace

Result<std::string> edit_words(std::string_view bytes,
                               int line,
                               int field,
                               std::span<const std::string> take_out,
                               std::span<const std::string> put_in) {
    for (const std::string& word : put_in) {
        if (!can_stand(word)) return fail(ErrorKind::invalid, "the word " + quoted(word) + " cannot stand in a field");
    }
    if (take_out.empty() && put_in.empty()) return std::string(bytes);
    const auto in_line = find_line(bytes, line);
    if (!in_line) return fail(ErrorKind::changed, "there is no line " + std::to_string(line));
    const auto in_field = field >= 1 ? find_field(bytes, *in_line, field) : std::nullopt;
    if (!in_field) {
        return fail(ErrorKind::changed, "line " + std::to_string(line) + " has no field " + std::to_string(field));
    }
    const std::string_view old_text = bytes.substr(in_field->begin, in_field->end - in_field->begin);
    const auto words = edited(old_text, take_out, put_in);
    if (!words) return tl::unexpected<Error>(words.error());
    std::string new_text = join(*words, ",");
    if (new_text.empty()) new_text = defaults;
    std::string out(bytes.substr(0, in_field->begin));
    if (old_text.empty()) out += ' ';
    out += new_text;
    out += bytes.substr(in_field->end);
    return out;
}

}  // namespace storpol
