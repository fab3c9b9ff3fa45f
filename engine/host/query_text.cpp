// SPDX-License-Identifier: GPL-3.0-or-later
// The text form of questions and answers, both ways. The grammar stands in query.h.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/text.h"
#include "engine/host/query.h"

namespace storpol {
namespace {

constexpr std::string_view resolved_key = "resolved=";

bool answers_with_path(QueryKind kind) {
    return kind == QueryKind::file || kind == QueryKind::list || kind == QueryKind::stat;
}

bool answers_with_properties(QueryKind kind) {
    return kind == QueryKind::unit || kind == QueryKind::stat || kind == QueryKind::ext4_super ||
           kind == QueryKind::dm_table || kind == QueryKind::dm_status || kind == QueryKind::luks;
}

bool answers_with_lines(QueryKind kind) {
    return kind == QueryKind::file || kind == QueryKind::list || kind == QueryKind::lvs ||
           kind == QueryKind::image_member || kind == QueryKind::journal;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

// One word: no blanks, never empty, no quote at its start.
std::string render_word(std::string_view text) {
    if (text.empty()) return "\"\"";
    auto word = replace_all(escape_bytes(text), " ", "\\x20");
    if (word.front() == '"') word.replace(0, 1, "\\x22");
    return word;
}

std::optional<std::string> parse_word(std::string_view word) {
    if (word == "\"\"") return "";
    return unescape_bytes(word);
}

std::string render_value(std::string_view value) {
    const auto escaped = escape_bytes(value);
    if (escaped.find(' ') == std::string::npos && !escaped.starts_with('"')) return escaped;
    return '"' + replace_all(escaped, "\"", "\\x22") + '"';
}

bool is_property_key(std::string_view key) {
    const auto is_key_byte = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    };
    return !key.empty() && std::ranges::all_of(key, is_key_byte);
}

// " key=value key=value" when the text is nothing but such lines, else nothing: it then stands behind '|'.
std::optional<std::string> render_inline_properties(std::string_view text, bool has_resolved) {
    if (text.empty() || text.back() != '\n') return std::nullopt;
    std::string out;
    for (const auto line : split_lines(text)) {
        const auto equals = line.find('=');
        if (equals == std::string_view::npos || !is_property_key(line.substr(0, equals))) return std::nullopt;
        if (out.empty() && !has_resolved && line.starts_with(resolved_key)) return std::nullopt;
        out += ' ';
        out += line.substr(0, equals + 1);
        out += render_value(line.substr(equals + 1));
    }
    return out;
}

// " text" for an answer of one line that reads back as itself.
std::optional<std::string> render_inline_line(std::string_view text) {
    if (text.empty() || text.find('\n') != std::string_view::npos || text.front() == '!' || text != trim(text))
        return std::nullopt;
    return " " + escape_bytes(text);
}

std::string render_lines(std::string_view text) {
    std::string out;
    for (const auto line : split_lines(text)) out += "|" + escape_bytes(line) + "\n";
    if (!text.empty() && text.back() != '\n') out.insert(out.size() - 1, "\\");
    return out;
}

class EntryParser {
  public:
    EntryParser(std::string_view where, int first_line, UnknownWords unknown)
        : where_(where), line_(first_line - 1), unknown_(unknown) {}

    Result<std::vector<Entry>> parse(std::string_view text) {
        for (const auto line : split_lines(text)) {
            ++line_;
            const auto done = parse_line(line);
            if (!done) return tl::make_unexpected(done.error());
        }
        return std::move(entries_);
    }

  private:
    Result<void> parse_line(std::string_view line) {
        if (line.starts_with('|')) return parse_answer_line(line.substr(1));
        if (line.starts_with('#') || trim(line).empty()) return {};
        return parse_head(line);
    }

    Result<void> parse_head(std::string_view line) {
        rest_ = trim(line);
        skipping_ = false;
        const auto word = next_word();
        const auto kind = parse_query_kind(word);
        if (!kind) return parse_unknown(word);
        Entry entry;
        entry.query.kind = *kind;
        entry.line = line_;
        for (int i = 0; i < argument_count(*kind); ++i) {
            const auto raw = next_word();
            if (raw.empty()) return fault("\"" + std::string(word) + "\" lacks its argument");
            const auto argument = parse_word(raw);
            if (!argument) return fault("malformed escape in \"" + printable(raw) + "\"");
            entry.query.args.push_back(*argument);
        }
        const auto done = parse_rest(entry);
        if (!done) return done;
        answered_ = entry.answer.refusal.has_value() || !entry.answer.text.empty();
        lacks_newline_ = false;
        entries_.push_back(std::move(entry));
        return {};
    }

    Result<void> parse_unknown(std::string_view word) {
        if (unknown_ == UnknownWords::are_errors)
            return fault("unknown word \"" + printable(word) +
                         "\"; known are file, link, list, stat, now, unit, uid, program-exists, ext4-super, "
                         "dm-table, dm-status, luks, lvs, journal, package, image-member");
        skipping_ = true;
        return {};
    }

    Result<void> parse_rest(Entry& entry) {
        const auto kind = entry.query.kind;
        if (answers_with_path(kind) && rest_.starts_with(resolved_key)) {
            const auto path = parse_word(next_word().substr(resolved_key.size()));
            if (!path) return fault("malformed escape in resolved=");
            entry.answer.resolved = *path;
        }
        if (rest_.empty()) return {};
        if (rest_.front() == '!') return parse_refusal(entry);
        if (answers_with_properties(kind)) return parse_properties_into(entry.answer.text);
        const auto text = unescape_bytes(rest_);
        if (!text) return fault("malformed escape in the answer");
        entry.answer.text = *text + (answers_with_lines(kind) ? "\n" : "");
        return {};
    }

    Result<void> parse_refusal(Entry& entry) {
        const auto name = next_word().substr(1);
        if (!rest_.empty()) return fault("text after the refusal !" + printable(name));
        const auto resolved = entry.answer.resolved;
        if (name == "not-captured") {
            entry.answer = not_captured(entry.query);
        } else if (const int code = name_to_errno(name); code != 0) {
            entry.answer = refuse(entry.query, code);
        } else {
            return fault("\"!" + printable(name) + "\" is no errno name");
        }
        entry.answer.resolved = resolved;
        return {};
    }

    Result<void> parse_properties_into(std::string& text) {
        while (!rest_.empty()) {
            const auto equals = rest_.find('=');
            if (equals == std::string_view::npos || !is_property_key(rest_.substr(0, equals)))
                return fault("expected key=value at \"" + printable(rest_) + "\"");
            text += rest_.substr(0, equals + 1);
            rest_.remove_prefix(equals + 1);
            const auto value = next_value();
            if (!value) return fault("malformed value before \"" + printable(rest_) + "\"");
            if (value->find('\n') != std::string::npos) return fault("a line break in a value");
            text += *value + "\n";
        }
        return {};
    }

    Result<void> parse_answer_line(std::string_view line) {
        if (skipping_) return {};
        if (entries_.empty()) return fault("an answer line before any question");
        if (answered_) return fault("an answer line after an answer on the question's own line, or a refusal");
        if (lacks_newline_) return fault("an answer line after one that ends without a newline");
        const auto last = line.find_last_not_of('\\');
        const auto backslashes = last == std::string_view::npos ? line.size() : line.size() - last - 1;
        lacks_newline_ = backslashes % 2 == 1;
        if (lacks_newline_) line.remove_suffix(1);
        const auto bytes = unescape_bytes(line);
        if (!bytes) return fault("malformed escape in an answer line");
        entries_.back().answer.text += *bytes + (lacks_newline_ ? "" : "\n");
        return {};
    }

    std::string_view next_word() {
        const auto end = std::min(rest_.find_first_of(" \t"), rest_.size());
        const auto word = rest_.substr(0, end);
        skip(end);
        return word;
    }

    std::optional<std::string> next_value() {
        if (!rest_.starts_with('"')) return unescape_bytes(next_word());
        const auto close = rest_.find('"', 1);
        if (close == std::string_view::npos) return std::nullopt;
        const auto value = unescape_bytes(rest_.substr(1, close - 1));
        if (close + 1 < rest_.size() && rest_[close + 1] != ' ' && rest_[close + 1] != '\t') return std::nullopt;
        skip(close + 1);
        return value;
    }

    // Past `bytes` and the blanks behind them.
    void skip(std::size_t bytes) {
        rest_.remove_prefix(bytes);
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    }

    tl::unexpected<Error> fault(std::string what) const {
        return fail(ErrorKind::invalid, std::move(what), std::string(where_) + ":" + std::to_string(line_));
    }

    std::string_view where_;
    int line_;
    UnknownWords unknown_;
    std::string_view rest_;  // of the line being parsed
    bool skipping_ = false;  // the entry's word is of no known kind
    bool answered_ = false;  // the last entry's answer stands on its own line
    bool lacks_newline_ = false;
    std::vector<Entry> entries_;
};

}  // namespace

std::string render_entry(const Query& query, const Answer& answer) {
    std::string out(to_text(query.kind));
    for (const auto& arg : query.args) out += " " + render_word(arg);
    if (!answer.resolved.empty() && answers_with_path(query.kind))
        out += " " + std::string(resolved_key) + render_word(answer.resolved);
    if (answer.refusal) {
        const bool has_errno = answer.refusal->kind != ErrorKind::not_captured && answer.refusal->code != 0;
        return out + " !" + (has_errno ? errno_name(answer.refusal->code) : std::string("not-captured")) + "\n";
    }
    std::optional<std::string> inline_text;
    if (answers_with_properties(query.kind))
        inline_text = render_inline_properties(answer.text, !answer.resolved.empty());
    else if (!answers_with_lines(query.kind))
        inline_text = render_inline_line(answer.text);
    return inline_text ? out + *inline_text + "\n" : out + "\n" + render_lines(answer.text);
}

Result<std::vector<Entry>> parse_entries(std::string_view text,
                                         std::string_view where,
                                         int first_line,
                                         UnknownWords unknown) {
    return EntryParser(where, first_line, unknown).parse(text);
}

}  // namespace storpol
