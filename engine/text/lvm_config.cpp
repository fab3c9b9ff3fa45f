// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/lvm_config.h"

#include <algorithm>

#include "engine/base/text.h"

namespace storpol {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

bool is_blank(char c) {
    return blanks.find(c) != std::string_view::npos;
}

bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '/' || c == '.' || c == '+' || c == '@' || c == ':';
}

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    LvmConfig read() {
        while (skip()) {
            if (text_[at_] == '}') {
                if (sections_.empty()) return broken();
                sections_.pop_back();
                ++at_;
                continue;
            }
            const auto name = read_name();
            if (name.empty() || !skip()) return broken();
            if (text_[at_] == '{') {
                ++at_;
                // No real file nests a fraction as deep.
                if (sections_.size() > 32) return broken();
                sections_.push_back(name);
                continue;
            }
            if (text_[at_] != '=') return broken();
            ++at_;
            if (!skip() || !read_value(name)) return broken();
        }
        if (!sections_.empty()) return broken();
        return std::move(config_);
    }

  private:
    LvmConfig broken() {
        config_.broken_line = line_;
        return std::move(config_);
    }

    // To the next byte that means something; false at the end.
    bool skip() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (c == '\n') {
                ++line_;
                line_start_ = ++at_;
            } else if (is_blank(c)) {
                ++at_;
            } else {
                return true;
            }
        }
        return false;
    }

    std::string read_name() {
        if (text_[at_] == '"') return read_string();
        const auto begin = at_;
        while (at_ < text_.size() && is_name_byte(text_[at_])) ++at_;
        return std::string(text_.substr(begin, at_ - begin));
    }

    // With its quotes taken off; empty where it does not end.
    std::string read_string() {
        const char quote = text_[at_];
        const auto begin = ++at_;
        while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
        if (at_ >= text_.size() || text_[at_] != quote) return {};
        return std::string(text_.substr(begin, at_++ - begin));
    }

    bool skip_one_value() {
        const char c = text_[at_];
        if (c == '"' || c == '\'') {
            const auto begin = at_;
            read_string();
            return at_ > begin + 1 && text_[at_ - 1] == c;
        }
        const auto begin = at_;
        while (at_ < text_.size() && is_name_byte(text_[at_])) ++at_;
        return at_ > begin;
    }

    bool skip_array() {
        ++at_;
        while (skip()) {
            if (text_[at_] == ']') {
                ++at_;
                return true;
            }
            if (text_[at_] == ',') {
                ++at_;
            } else if (!skip_one_value()) {
                return false;
            }
        }
        return false;
    }

    bool read_value(const std::string& name) {
        LvmAssignment assignment;
        for (const auto& section : sections_) assignment.name += section + "/";
        assignment.name += name;
        assignment.line = line_;
        const auto begin = at_;
        place(assignment);
        if (!(text_[at_] == '[' ? skip_array() : skip_one_value())) return false;
        assignment.value = text_.substr(begin, at_ - begin);
        config_.assignments.push_back(std::move(assignment));
        return true;
    }

    // Where on its line the value stands, in blank-separated fields.
    void place(LvmAssignment& assignment) const {
        auto word_begin = at_;
        while (word_begin > line_start_ && !is_blank(text_[word_begin - 1])) --word_begin;
        auto word_end = at_;
        while (word_end < text_.size() && text_[word_end] != '\n' && !is_blank(text_[word_end])) ++word_end;
        assignment.word = text_.substr(word_begin, word_end - word_begin);
        assignment.offset = at_ - word_begin;
        assignment.field =
            1 + static_cast<int>(split_words(text_.substr(line_start_, word_begin - line_start_)).size());
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    std::size_t line_start_ = 0;
    std::vector<std::string> sections_;
    LvmConfig config_;
};

}  // namespace

const LvmAssignment* LvmConfig::find(std::string_view name) const {
    const auto found = std::find_if(assignments.rbegin(), assignments.rend(),
                                    [&](const LvmAssignment& assignment) { return assignment.name == name; });
    return found == assignments.rend() ? nullptr : &*found;
}

LvmConfig parse_lvm_config(std::string_view text) {
    return Reader(text).read();
}

}  // namespace storpol
