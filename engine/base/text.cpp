// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/text.h"

#include <algorithm>
#include <charconv>

namespace storpol {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

// One code point and the bytes it takes; length 0 for a byte that begins no valid UTF-8 sequence.
struct CodePoint {
    std::uint32_t value = 0;
    std::size_t length = 0;
};

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
CodePoint decode_utf8(std::string_view text) {
    const auto byte_at = [text](std::size_t index) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[index]));
    };
    const std::uint32_t first = byte_at(0);
    if (first < 0x80) return {first, 1};
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
    std::uint32_t value = first & (0xffU >> (length + 1));
    for (std::size_t index = 1; index < length; ++index) {
        if ((byte_at(index) & 0xc0) != 0x80) return {};
        value = (value << 6) | (byte_at(index) & 0x3f);
    }
    const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
    const bool surrogate = value >= 0xd800 && value <= 0xdfff;
    if (overlong || surrogate || value > 0x10ffff) return {};
    return {value, length};
}

// C0, DEL, C1; and the bidirectional controls, which can make a line read as something it is not (CVE-2021-42574).
bool is_unprintable(std::uint32_t value) {
    return value < 0x20 || (value >= 0x7f && value < 0xa0) || (value >= 0x202a && value <= 0x202e) ||
           (value >= 0x2066 && value <= 0x2069);
}

void append_hex(std::string& out, char byte) {
    const auto value = static_cast<unsigned char>(byte);
    out += "\\x";
    out += hex_digits[value >> 4];
    out += hex_digits[value & 0xf];
}

std::string escaped(std::string_view text, bool double_backslash) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const CodePoint point = decode_utf8(text);
        const std::size_t length = std::max<std::size_t>(point.length, 1);
        if (point.length == 0 || is_unprintable(point.value)) {
            for (const char byte : text.substr(0, length)) append_hex(out, byte);
        } else if (double_backslash && point.value == '\\') {
            out += "\\\\";
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    return out;
}

int hex_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

void append_json_escape(std::string& out, std::uint32_t value) {
    switch (value) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\t':
            out += "\\t";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\b':
            out += "\\b";
            return;
        case '\f':
            out += "\\f";
            return;
        default:
            out += "\\u";
            for (int shift = 12; shift >= 0; shift -= 4) out += hex_digits[(value >> shift) & 0xf];
    }
}

// Edit distance where a swap of two neighbours counts as one mistake (optimal string alignment).
std::size_t edit_distance(std::string_view left, std::string_view right) {
    const std::size_t width = right.size() + 1;
    std::vector<std::size_t> before_last(width);
    std::vector<std::size_t> last(width);
    std::vector<std::size_t> row(width);
    for (std::size_t column = 0; column < width; ++column) row[column] = column;
    for (std::size_t i = 1; i <= left.size(); ++i) {
        std::swap(before_last, last);
        std::swap(last, row);
        row[0] = i;
        for (std::size_t j = 1; j < width; ++j) {
            const std::size_t change = left[i - 1] == right[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
            const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
    }
    return row.back();
}

}  // namespace

std::string_view trim(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = text.find(separator, begin);
        if (end == std::string_view::npos) break;
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    parts.push_back(text.substr(begin));
    return parts;
}

std::vector<std::string_view> split_words(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    std::vector<std::string_view> words;
    std::size_t begin = text.find_first_not_of(blanks);
    while (begin != std::string_view::npos) {
        const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        begin = text.find_first_not_of(blanks, end);
    }
    return words;
}

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
    std::string text;
    for (std::size_t index = 0; index < parts.size(); ++index) {
        if (index > 0) text += separator;
        text += parts[index];
    }
    return text;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
    // from_chars knows '-' but no '+'; "+-1" must stay an error.
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return number;
}

std::string printable(std::string_view text) {
    return escaped(text, false);
}

std::string escape_bytes(std::string_view bytes) {
    return escaped(bytes, true);
}

std::optional<std::string> unescape_bytes(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size());
    for (std::size_t index = 0; index < text.size(); ++index) {
        if (text[index] != '\\') {
            bytes += text[index];
        } else if (index + 1 < text.size() && text[index + 1] == '\\') {
            bytes += '\\';
            ++index;
        } else {
            if (index + 3 >= text.size() || text[index + 1] != 'x') return std::nullopt;
            const int high = hex_value(text[index + 2]);
            const int low = hex_value(text[index + 3]);
            if (high < 0 || low < 0) return std::nullopt;
            bytes += static_cast<char>(high * 16 + low);
            index += 3;
        }
    }
    return bytes;
}

std::string quote_json(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const CodePoint point = decode_utf8(text);
        if (point.length == 0) {
            // JSON has no way to hold a byte that is not UTF-8; it stands as the text \xNN.
            out += '\\';
            append_hex(out, text.front());
        } else if (point.value == '"' || point.value == '\\' || is_unprintable(point.value)) {
            append_json_escape(out, point.value);
        } else {
            out += text.substr(0, point.length);
        }
        text.remove_prefix(std::max<std::size_t>(point.length, 1));
    }
    return out + '"';
}

bool glob_match(std::string_view pattern, std::string_view text) {
    // On a mismatch only the last star can usefully take one byte more, so the work is at most the product of the
    // lengths.
    std::size_t at = 0;
    std::size_t in_text = 0;
    std::size_t after_star = std::string_view::npos;
    std::size_t star_taken = 0;
    while (in_text < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            after_star = ++at;
            star_taken = in_text;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[in_text])) {
            ++at;
            ++in_text;
        } else if (after_star != std::string_view::npos) {
            at = after_star;
            in_text = ++star_taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
    // A third of the word may be wrong, never all of it; longer words are no typing mistakes and would cost quadratic
    // time.
    constexpr std::size_t longest = 100;
    if (word.empty() || word.size() > longest) return std::nullopt;
    const std::size_t limit = std::max<std::size_t>(word.size() / 3, 1);
    std::optional<std::string> best;
    std::size_t best_distance = limit + 1;
    for (const std::string& candidate : candidates) {
        if (candidate.size() > word.size() + limit) continue;
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace storpol
