// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/zram_ini.h"

#include <cstdint>
#include <utility>

#include "engine/base/text.h"

namespace storpol {
namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

// Whether all of it is UTF-8: the generator reads a file into a Rust String.
bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at]);
        std::size_t more = 0;
        std::uint32_t code = 0;
        if (first < 0x80) {
            ++at;
            continue;
        }
        if ((first & 0xe0U) == 0xc0) {
            more = 1;
            code = first & 0x1fU;
        } else if ((first & 0xf0U) == 0xe0) {
            more = 2;
            code = first & 0x0fU;
        } else if ((first & 0xf8U) == 0xf0) {
            more = 3;
            code = first & 0x07U;
        } else {
            return false;
        }
        if (at + more >= text.size()) return false;
        for (std::size_t next = 1; next <= more; ++next) {
            const auto byte = static_cast<unsigned char>(text[at + next]);
            if ((byte & 0xc0U) != 0x80) return false;
            code = (code << 6U) | (byte & 0x3fU);
        }
        constexpr std::uint32_t least[]{0, 0x80, 0x800, 0x10000};
        if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return false;
        at += more + 1;
    }
    return true;
}

std::string utf8_of(std::uint32_t code) {
    std::string bytes;
    const auto add = [&bytes](std::uint32_t byte) { bytes += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) {
        add(code);
    } else if (code < 0x800) {
        add(0xc0U | (code >> 6U));
        add(0x80U | (code & 0x3fU));
    } else {
        add(0xe0U | (code >> 12U));
        add(0x80U | ((code >> 6U) & 0x3fU));
        add(0x80U | (code & 0x3fU));
    }
    return bytes;
}

std::optional<unsigned> hex_digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
}

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    ZramIni read() {
        std::optional<std::string> section;
        skip_blanks();
        while (at_ < text_.size() && ini_.error.empty()) {
            const char c = text_[at_];
            ZramIniLine line;
            line.line = line_;
            if (c == '#' || c == ';') {
                if (at_ != 0 && text_[at_ - 1] != '\n') {
                    fail("a comment must begin in the first column");
                } else {
                    while (at_ < text_.size() && text_[at_] != '\n') step();
                }
            } else if (c == '[') {
                step();
                const auto name = read_until("]");
                if (!name) break;
                step();
                section = std::string(trim(*name));
                line.section = section;
                ini_.lines.push_back(std::move(line));
            } else {
                line.section = section;
                if (!read_assignment(line)) break;
                ini_.lines.push_back(std::move(line));
            }
            skip_blanks();
        }
        return std::move(ini_);
    }

  private:
    void step() {
        if (text_[at_] == '\n') ++line_;
        ++at_;
    }

    void skip_blanks() {
        while (at_ < text_.size() && is_blank(text_[at_])) step();
    }

    void fail(std::string why) {
        ini_.error = std::move(why);
        ini_.error_line = line_;
    }

    bool read_assignment(ZramIniLine& line) {
        const auto key = read_until("=:");
        if (!key) return false;
        line.key = std::string(trim(*key));
        if (line.key.empty()) {
            fail("there is no key before the \"=\"");
            return false;
        }
        step();
        while (at_ < text_.size() && is_blank(text_[at_]) && text_[at_] != '\n' && text_[at_] != '\r') step();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        std::string value;
        if (quote == '"' || quote == '\'') {
            step();
            const auto quoted = read_until(std::string_view(&quote, 1));
            if (!quoted) return false;
            step();
            value = *quoted;
        }
        const auto rest = read_until("\n\r", true);
        if (!rest) return false;
        value += *rest;
        line.value = std::string(trim(value));
        return true;
    }

    // None after an error: none of the ends comes.
    std::optional<std::string> read_until(std::string_view ends, bool or_file_end = false) {
        std::string found;
        const int begin = line_;
        for (; at_ < text_.size(); step()) {
            const char c = text_[at_];
            if (ends.find(c) != std::string_view::npos) return found;
            if (c != '\\') {
                found += c;
                continue;
            }
            step();
            if (at_ >= text_.size()) break;
            if (!read_escape(found)) return std::nullopt;
        }
        if (or_file_end) return found;
        fail(std::string("the file ends before a \"") + ends.front() + "\"");
        ini_.error_line = begin;
        return std::nullopt;
    }

    // At the character after a backslash; leaves it at the last one of the escape.
    bool read_escape(std::string& found) {
        constexpr std::string_view letters = "0abtrn";
        constexpr std::string_view meanings("\0\a\b\t\r\n", 6);
        const char c = text_[at_];
        const auto letter = letters.find(c);
        if (letter != std::string_view::npos) {
            found += meanings[letter];
        } else if (c == 'x') {
            std::uint32_t code = 0;
            for (int digit = 0; digit < 4; ++digit) {
                step();
                const auto value = at_ < text_.size() ? hex_digit(text_[at_]) : std::nullopt;
                if (!value) {
                    fail("an \\x needs four hexadecimal digits");
                    return false;
                }
                code = code * 16 + *value;
            }
            if (code >= 0xd800 && code <= 0xdfff) {
                fail("an \\x that is no character");
                return false;
            }
            found += utf8_of(code);
        } else if (c != '\n') {
            found += c;
        }
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    ZramIni ini_;
};

}  // namespace

ZramIni parse_zram_ini(std::string_view bytes) {
    if (!is_utf8(bytes)) {
        ZramIni ini;
        ini.error = "it is not UTF-8";
        return ini;
    }
    if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
    return Reader(bytes).read();
}

}  // namespace storpol
