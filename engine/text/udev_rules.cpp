// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/udev_rules.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "engine/base/text.h"

namespace storpol {
namespace {

// Rules as one logical line each: a backslash at the end of a line joins the next one, comments among them are skipped
// (systemd src/udev/udev-rules.c, udev_rules_parse_file).
struct LogicalLine {
    int number = 0;
    std::string text;
};

std::vector<LogicalLine> logical_lines(std::string_view text) {
    std::vector<LogicalLine> lines;
    LogicalLine open;
    bool continues = false;
    int number = 0;
    for (auto line : split_lines(text)) {
        ++number;
        if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
        if (line.ends_with('\r')) line.remove_suffix(1);
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
        if (line.starts_with('#') || (line.empty() && !continues)) continue;
        if (!continues) open = {number, {}};
        continues = line.ends_with('\\');
        if (continues) line.remove_suffix(1);
        open.text += line;
        if (!continues) lines.push_back(std::move(open));
    }
    if (continues)
        lines.push_back(std::move(open));  // udev warns and drops it; the caller sees it as broken or as a rule
    return lines;
}

// Reads one rule's tokens from left to right.
class Tokenizer {
  public:
    explicit Tokenizer(std::string_view text) : rest_(text) {}

    // None at the end of the line; an empty `key` and a reason in `why` where the line is not a rule.
    std::optional<UdevToken> next(std::string& why) {
        skip_separators();
        if (rest_.empty()) return std::nullopt;
        UdevToken token;
        if (!read_key(token) || !read_operator(token) || !read_value(token)) {
            why = why_;
            return UdevToken{};
        }
        return token;
    }

  private:
    bool fail_with(std::string why) {
        why_ = std::move(why);
        return false;
    }

    void skip_separators() {
        while (!rest_.empty() &&
               (rest_.front() == ',' || std::isspace(static_cast<unsigned char>(rest_.front())) != 0)) {
            rest_.remove_prefix(1);
        }
    }

    void skip_blanks() {
        while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
    }

    bool read_key(UdevToken& token) {
        std::size_t length = 0;
        while (length < rest_.size() &&
               (std::isupper(static_cast<unsigned char>(rest_[length])) != 0 || rest_[length] == '_')) {
            ++length;
        }
        if (length == 0) return fail_with("no key where one should stand");
        token.key = rest_.substr(0, length);
        rest_.remove_prefix(length);
        if (!rest_.starts_with('{')) return true;
        const auto close = rest_.find('}');
        if (close == std::string_view::npos) return fail_with("'{' without '}'");
        token.attribute = rest_.substr(1, close - 1);
        rest_.remove_prefix(close + 1);
        return true;
    }

    bool read_operator(UdevToken& token) {
        skip_blanks();
        for (const std::string_view op : {"==", "!=", "+=", "-=", ":=", "="}) {
            if (!rest_.starts_with(op)) continue;
            token.op = op;
            rest_.remove_prefix(op.size());
            skip_blanks();
            return true;
        }
        return fail_with("no operator behind " + token.key);
    }

    bool read_value(UdevToken& token) {
        bool c_escapes = false;
        while (rest_.starts_with('e') || rest_.starts_with('i')) {
            (rest_.front() == 'e' ? c_escapes : token.ignores_case) = true;
            rest_.remove_prefix(1);
        }
        if (!rest_.starts_with('"')) return fail_with("the value of " + token.key + " is not quoted");
        rest_.remove_prefix(1);
        for (std::size_t at = 0; at < rest_.size(); ++at) {
            if (rest_[at] == '"') {
                rest_.remove_prefix(at + 1);
                return true;
            }
            // Without e"...", only \" is an escape; with it C's escapes are, of which rules use \\ and \".
            const bool escapes = rest_[at] == '\\' && at + 1 < rest_.size() &&
                                 (rest_[at + 1] == '"' || (c_escapes && rest_[at + 1] == '\\'));
            if (escapes) ++at;
            token.value += rest_[at];
        }
        return fail_with("the value of " + token.key + " does not end");
    }

    std::string_view rest_;
    std::string why_;
};

}  // namespace

UdevRules parse_udev_rules(std::string_view text) {
    UdevRules parsed;
    for (const auto& line : logical_lines(text)) {
        UdevRule rule;
        rule.line = line.number;
        Tokenizer tokens(line.text);
        std::string why;
        while (auto token = tokens.next(why)) {
            if (token->key.empty()) break;
            rule.tokens.push_back(std::move(*token));
        }
        if (!why.empty()) {
            parsed.broken.push_back({line.number, why});
        } else if (!rule.tokens.empty()) {
            parsed.rules.push_back(std::move(rule));
        }
    }
    return parsed;
}

std::string quote_udev(std::string_view value) {
    const bool needs_escapes = value.find('\\') != std::string_view::npos;
    std::string out = needs_escapes ? "e\"" : "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

bool udev_glob_match(std::string_view pattern, std::string_view text, bool ignores_case) {
    const std::string subject(text);
    const int flags = ignores_case ? FNM_CASEFOLD : 0;
    const auto alternatives = split(pattern, '|');
    return std::ranges::any_of(alternatives, [&](std::string_view alternative) {
        return ::fnmatch(std::string(alternative).c_str(), subject.c_str(), flags) == 0;
    });
}

}  // namespace storpol
