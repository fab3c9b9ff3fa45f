// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/shell_assignments.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/text.h"

namespace storpol {
namespace {

constexpr std::size_t longest_value = std::size_t{64} << 10U;

bool is_name_start(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_name_byte(char c) {
    return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

// One file. A shell's grammar is not parsed: a command that is no assignment counts as one word that opens or closes a
// condition, as code that may assign anything, or as one that assigns nothing.
class ShellReader {
  public:
    ShellReader(ShellAssignments& all, std::string_view bytes) : all_(all), bytes_(bytes) {
        file_ = static_cast<std::uint32_t>(all.paths_.size() - 1);
    }

    void read() {
        while (at_ < bytes_.size()) read_command();
    }

  private:
    using Value = ShellAssignments::Value;
    using Origin = ShellAssignments::Origin;

    bool is_end() const { return at_ >= bytes_.size(); }

    // 0 at the end, where step() stays: a file may end in the middle of anything.
    char here() const { return is_end() ? '\0' : bytes_[at_]; }

    std::string where() const { return all_.paths_[file_] + ":" + std::to_string(line_); }

    void step() {
        if (is_end()) return;
        if (here() == '\n') {
            ++line_;
            line_begin_ = at_ + 1;
        }
        ++at_;
    }

    void skip_blanks() {
        while (!is_end() && (here() == ' ' || here() == '\t' || here() == '\r')) step();
    }

    void skip_line() {
        while (!is_end() && here() != '\n') step();
    }

    // Up to what separates commands, quotes and continued lines taken for what they are.
    void skip_command() {
        while (!is_end() && here() != '\n' && here() != ';' && here() != '&' && here() != '|') {
            if (here() == '\\') {
                step();
            } else if (here() == '\'' || here() == '"') {
                skip_quoted(here());
            }
            step();
        }
    }

    void skip_quoted(char quote) {
        step();
        while (!is_end() && here() != quote) {
            if (quote == '"' && here() == '\\') step();
            step();
        }
    }

    void read_command() {
        while (!is_end() && (std::isspace(static_cast<unsigned char>(here())) != 0 || is_separator(here()))) {
            if (here() == '\n' || here() == ';') depends_on_last_ = false;
            if (here() == '&' || here() == '|') depends_on_last_ = true;
            step();
        }
        if (is_end()) return;
        if (here() == '#') return skip_line();
        auto name = peek_name();
        if (name == "export") {
            at_ += name.size();
            skip_blanks();
            name = peek_name();
        }
        const auto after = at_ + name.size();
        const bool appends = bytes_.substr(std::min(after, bytes_.size())).starts_with("+=");
        if (!name.empty() && after < bytes_.size() && (bytes_[after] == '=' || appends)) {
            at_ = after + (appends ? 2 : 1);
            return read_assignment(std::string(name), appends);
        }
        read_other();
    }

    static bool is_separator(char c) { return c == ';' || c == '&' || c == '|'; }

    std::string_view peek_name() const {
        if (is_end() || !is_name_start(here())) return {};
        auto end = at_;
        while (end < bytes_.size() && is_name_byte(bytes_[end])) ++end;
        return bytes_.substr(at_, end - at_);
    }

    void read_other() {
        const auto end = std::min(bytes_.find_first_of(" \t\r\n;&|(){}", at_), bytes_.size());
        const auto word = bytes_.substr(at_, std::max(end, at_ + 1) - at_);
        const auto place = where();
        if (is_one_of(word, {"if", "case", "for", "while", "until", "{", "("})) ++depth_;
        if (is_one_of(word, {"fi", "esac", "done", "}", ")"}) && depth_ > 0) --depth_;
        // After these a command follows at once.
        if (is_one_of(word, {"if", "then", "else", "elif", "do", "while", "until", "{", "(", "}", ")", "fi", "done",
                             "esac", "!"})) {
            at_ += word.size();
            return;
        }
        const bool may_assign =
            is_one_of(word, {".", "source", "eval", "read", "unset", "set"}) || bytes_.substr(end).starts_with("(");
        if (may_assign && all_.unknown_.empty()) all_.unknown_ = place + " runs code that may set anything";
        skip_command();
    }

    void read_assignment(std::string name, bool appends) {
        const auto place = where();
        Value value;
        value.file = file_;
        value.line = line_;
        if (appends) refer(value, name);
        read_value(value);
        skip_blanks();
        const bool ends = is_end() || here() == '\n' || here() == '#' || is_separator(here());
        if (!ends) {
            // X=1 command: the variable is the command's alone.
            return skip_command();
        }
        if (!is_end() && here() == '#') skip_line();
        if (depth_ > 0 || depends_on_last_) value.unknown = place + " sets it under a condition";
        if (value.text.size() > longest_value) give_up(value, "its value is too long");
        all_.values_.insert_or_assign(std::move(name), std::move(value));
    }

    void read_value(Value& value) {
        while (!is_end()) {
            const char c = here();
            if (c == '\'') {
                read_single_quoted(value);
            } else if (c == '"') {
                read_double_quoted(value);
            } else if (c == '\\') {
                read_escaped(value, false);
            } else if (c == '$' || c == '`') {
                read_expansion(value);
            } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || is_separator(c) || c == '(' || c == ')') {
                if (c == '(') give_up(value, "it is a list");
                if (c == '(') skip_command();
                return;
            } else {
                take(value, true);
            }
        }
    }

    void read_single_quoted(Value& value) {
        step();
        while (!is_end() && here() != '\'') take(value, true);
        if (is_end()) return give_up(value, "a quote is not closed");
        step();
    }

    void read_double_quoted(Value& value) {
        step();
        while (!is_end() && here() != '"') {
            if (here() == '\\') {
                read_escaped(value, true);
            } else if (here() == '$' || here() == '`') {
                read_expansion(value);
            } else {
                take(value, true);
            }
        }
        if (is_end()) return give_up(value, "a quote is not closed");
        step();
    }

    // A backslash at the end of a line continues it; within double quotes it is itself before most characters.
    void read_escaped(Value& value, bool quoted) {
        if (at_ + 1 >= bytes_.size()) return take(value, true);
        const char next = bytes_[at_ + 1];
        if (next == '\n') {
            step();
            return step();
        }
        if (quoted && std::string_view("$`\"\\").find(next) == std::string_view::npos)
            take(value, true);
        else
            step();
        if (!is_end()) take(value, false);
    }

    void read_expansion(Value& value) {
        const auto rest = bytes_.substr(at_);
        if (rest.starts_with("`") || rest.starts_with("$(")) {
            give_up(value, "it runs a command");
            return skip_substitution(rest.starts_with("`") ? '`' : ')');
        }
        const bool braces = rest.starts_with("${");
        at_ += braces ? 2 : 1;
        const auto name = std::string(peek_name());
        at_ += name.size();
        if (name.empty()) return give_up(value, "a parameter of the shell stands in it");
        if (braces) {
            if (is_end() || here() != '}') {
                give_up(value, "an expansion of the shell stands in it");
                return skip_substitution('}');
            }
            step();
        }
        refer(value, name);
    }

    void skip_substitution(char close) {
        step();
        int open = 1;
        while (!is_end()) {
            const char c = here();
            if (close == ')' && c == '(') ++open;
            step();
            if (c == close && (close != ')' || --open <= 1)) return;
        }
    }

    void refer(Value& value, const std::string& name) {
        const auto found = all_.values_.find(name);
        if (found == all_.values_.end()) return;
        const auto& other = found->second;
        if (!other.unknown.empty()) value.unknown = other.unknown;
        if (other.text.size() > all_.budget_ || value.text.size() > longest_value)
            return give_up(value, "its value is too long");
        all_.budget_ -= other.text.size();
        value.text += other.text;
        value.origins.insert(value.origins.end(), other.origins.begin(), other.origins.end());
    }

    void take(Value& value, bool is_plain) {
        if (value.text.size() <= longest_value) {
            value.text += here();
            value.origins.push_back({file_, line_, static_cast<std::uint32_t>(at_ - line_begin_), is_plain ? 1U : 0U});
        }
        step();
    }

    void give_up(Value& value, std::string_view why) {
        if (value.unknown.empty()) value.unknown = where() + ": " + std::string(why);
    }

    ShellAssignments& all_;
    std::string_view bytes_;
    std::uint32_t file_ = 0;
    std::size_t at_ = 0;
    std::size_t line_begin_ = 0;
    std::uint32_t line_ = 1;
    int depth_ = 0;                 // of conditions and functions around
    bool depends_on_last_ = false;  // behind "&&" or "||"
};

void ShellAssignments::source(std::string path, std::string_view bytes) {
    paths_.push_back(std::move(path));
    ShellReader(*this, bytes).read();
}

const ShellAssignments::Value* ShellAssignments::find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
}

}  // namespace storpol
