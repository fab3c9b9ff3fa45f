// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cases/expectation.h"

#include <utility>

#include "engine/base/text.h"

namespace storpol::cases {
namespace {

tl::unexpected<Error> not_understood(std::string what) {
    return fail(ErrorKind::invalid, std::move(what));
}

// Takes words off the front of a line. Blanks inside a JSON string do not end a word: addresses hold them.
class Words {
  public:
    explicit Words(std::string_view line) : rest_(trim(line)) {}

    std::string next() {
        bool quoted = false;
        std::size_t end = 0;
        for (; end < rest_.size() && (quoted || rest_[end] != ' '); ++end) {
            if (quoted && rest_[end] == '\\')
                ++end;
            else if (rest_[end] == '"')
                quoted = !quoted;
        }
        end = std::min(end, rest_.size());
        const std::string word{rest_.substr(0, end)};
        rest_.remove_prefix(end);
        rest_ = rest_.substr(std::min(rest_.find_first_not_of(' '), rest_.size()));
        return word;
    }

    bool empty() const { return rest_.empty(); }

    std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
};

std::optional<int> parse_count(std::string_view text) {
    const auto number = parse_int(text);
    if (!number || *number < 0 || *number > 1'000'000) return std::nullopt;
    return static_cast<int>(*number);
}

std::optional<Verdict> parse_verdict(std::string_view text) {
    for (const auto verdict : {Verdict::in_sync, Verdict::absent, Verdict::unknown, Verdict::drift}) {
        if (text == to_text(verdict)) return verdict;
    }
    return std::nullopt;
}

std::optional<Risk> parse_risk(std::string_view text) {
    for (const auto risk : {Risk::safe, Risk::guarded, Risk::disruptive}) {
        if (text == to_text(risk)) return risk;
    }
    return std::nullopt;
}

// <TAB> and <CR> stand for the bytes.
std::string with_bytes(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        if (text.substr(0, 5) == "<TAB>") {
            out += '\t';
            text.remove_prefix(5);
        } else if (text.substr(0, 4) == "<CR>") {
            out += '\r';
            text.remove_prefix(4);
        } else {
            out += text.front();
            text.remove_prefix(1);
        }
    }
    return out;
}

Result<ActionPattern> parse_pattern(const std::string& verb) {
    ActionPattern pattern;
    if (verb == "*") return pattern;
    pattern.verb = parse_verb(verb);
    if (!pattern.verb) return not_understood("there is no verb '" + verb + "'");
    return pattern;
}

// verb [target] [when] [risk]
Result<ActionPattern> parse_action(Words& words) {
    auto pattern = parse_pattern(words.next());
    while (pattern && !words.empty()) {
        const std::string word = words.next();
        if (const auto when = parse_when(word); when && !pattern->when)
            pattern->when = when;
        else if (const auto risk = parse_risk(word); risk && !pattern->risk)
            pattern->risk = risk;
        else if (pattern->target.empty() && !pattern->when && !pattern->risk)
            pattern->target = word;
        else
            return not_understood("'" + word + "' is no time and no risk");
    }
    return pattern;
}

Result<Assertion> parse_plane_line(Words& words) {
    PlaneIs is;
    const auto plane = parse_plane(words.next());
    if (!plane) return not_understood("there is no such plane");
    is.plane = *plane;
    is.address = words.next();
    const auto verdict = parse_verdict(words.next());
    if (is.address.empty() || !verdict) return not_understood("an address and a verdict belong here");
    is.verdict = *verdict;
    if (words.empty()) return is;
    const std::string source{words.rest()};
    if (source.rfind("src=/", 0) != 0) return not_understood("'" + source + "' is no source");
    is.source = source.substr(4);
    return is;
}

Result<Assertion> parse_order_line(Words& words) {
    auto first = parse_pattern(words.next());
    if (!first) return tl::unexpected(first.error());
    first->target = words.next();
    if (words.next() != "before") return not_understood("'before' is missing");
    auto second = parse_pattern(words.next());
    if (!second) return tl::unexpected(second.error());
    second->target = words.next();
    if (first->target.empty() || second->target.empty() || !words.empty())
        return not_understood("two targets belong here");
    return Orders{*first, *second};
}

Result<Assertion> parse_action_line(Words& words) {
    const std::string what = words.next();
    if (what == "empty" && words.empty()) return NoAction{};
    if (what == "order") return parse_order_line(words);
    if (what == "has" || what == "lacks") {
        auto action = parse_action(words);
        if (!action) return tl::unexpected(action.error());
        return HasAction{what == "has", *action};
    }
    if (what != "count") return not_understood("'A " + what + "' is not in the grammar");
    const auto pattern = parse_pattern(words.next());
    if (!pattern) return tl::unexpected(pattern.error());
    const auto count = parse_count(words.rest());
    if (!count) return not_understood("a number belongs here");
    return CountsActions{*pattern, *count};
}

std::vector<std::string> rest_words(std::string_view text, char separator) {
    std::vector<std::string> out;
    for (const auto word : split(text, separator)) {
        if (!word.empty()) out.emplace_back(word);
    }
    return out;
}

Result<Assertion> parse_says_line(Words& words) {
    const std::string what = words.next();
    const std::string rest{words.rest()};
    if (rest.empty()) return not_understood("'S " + what + "' needs more words");
    if (what == "says" || what == "says-not") return Says{what == "says", rest};
    if (what == "not-listed" || what == "not-applicable") return NotListed{rest, what == "not-applicable"};
    if (what == "keeps-flags") {
        std::vector<std::string> flags;
        for (const auto& word : rest_words(rest, ' ')) {
            for (auto& flag : rest_words(word, ',')) flags.push_back(std::move(flag));
        }
        return KeepsFlags{flags};
    }
    if (what == "syscalls-none") return AsksNothingBelow{rest_words(rest, ' ')};
    const auto count = parse_count(rest);
    if (what == "superblocks-listed" && count) return ListsSuperblocks{*count};
    return not_understood("'S " + what + "' is not in the grammar");
}

Result<Assertion> parse_validate_line(Words& words) {
    const std::string what = words.next();
    if (what == "ok" && words.empty()) return PolicyIsValid{};
    const auto line = parse_count(words.next());
    if (what != "error" || !line || *line == 0) return not_understood("'V ok' or 'V error LINE WORDS' belongs here");
    return PolicyFails{*line, rest_words(words.rest(), ' ')};
}

Result<Assertion> parse_file_line(Words& words) {
    const std::string what = words.next();
    const std::string file = words.next();
    if (file.empty() || file.front() != '/') return not_understood("an absolute path belongs here");
    if (what == "same" && words.empty()) return FileSame{file};
    if (what == "nonewline-at-end" && words.empty()) return NoFinalNewline{file};
    if (what == "holds" && !words.empty()) return WroteMatch{file, with_bytes(words.rest())};
    if (what == "lines") {
        if (const auto count = parse_count(words.rest())) return FileLines{file, *count};
    }
    if (what == "line") {
        const auto colon = file.rfind(':');
        const auto line =
            parse_count(std::string_view(file).substr(colon == std::string::npos ? file.size() : colon + 1));
        if (line && *line > 0) return FileLine{file.substr(0, colon), *line, with_bytes(words.rest())};
    }
    if (what == "count") {
        const auto blank = words.rest().rfind(' ');
        if (blank != std::string_view::npos) {
            const auto count = parse_count(words.rest().substr(blank + 1));
            if (count) return FileMatches{file, with_bytes(trim(words.rest().substr(0, blank))), *count};
        }
    }
    return not_understood("'F " + what + "' is not in the grammar, or lacks words");
}

Result<Assertion> parse_exit_line(Words& words) {
    const std::string what = words.next();
    if (what == "apply2" && words.rest() == "empty") return SecondPlanIsEmpty{};
    const auto code = parse_count(words.rest());
    if ((what == "drift" || what == "plan") && code && *code <= 3) return ExitsWith{what == "plan", *code};
    return not_understood("'X drift N', 'X plan N' or 'X apply2 empty' belongs here");
}

}  // namespace

Result<Assertion> parse_assertion(std::string_view line) {
    Words words(line);
    const std::string kind = words.next();
    if (kind == "P") return parse_plane_line(words);
    if (kind == "A") return parse_action_line(words);
    if (kind == "S") return parse_says_line(words);
    if (kind == "V") return parse_validate_line(words);
    if (kind == "F") return parse_file_line(words);
    if (kind == "X") return parse_exit_line(words);
    return not_understood("'" + kind + "' is none of P, A, S, V, F, X");
}

Result<std::vector<Expectation>> parse_expectations(std::string_view text, std::string_view where) {
    std::vector<Expectation> out;
    int number = 0;
    for (const auto line : split_lines(text)) {
        ++number;
        const auto content = trim(line);
        if (content.empty() || content.front() == '#') continue;
        auto assertion = parse_assertion(content);
        if (!assertion) {
            return fail(ErrorKind::invalid, "not understood: " + std::string(content) + ": " + assertion.error().what,
                        std::string(where) + ":" + std::to_string(number));
        }
        out.push_back(Expectation{std::move(*assertion), std::string(content), number});
    }
    if (out.empty()) return fail(ErrorKind::invalid, "holds no assertion", std::string(where));
    return out;
}

}  // namespace storpol::cases
