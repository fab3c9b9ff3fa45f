// SPDX-License-Identifier: GPL-3.0-or-later
#include <map>

#include "engine/base/text.h"
#include "engine/host/host.h"

namespace storpol {
namespace {

// Answers from a capture alone; the machine that reads it is never asked.
class SnapshotHost final : public Host {
  public:
    explicit SnapshotHost(std::map<Query, Answer> answers) : answers_(std::move(answers)) {}

  private:
    Answer do_ask(const Query& query) override {
        const auto known = answers_.find(query);
        return known == answers_.end() ? not_captured(query) : known->second;
    }

    std::map<Query, Answer> answers_;
};

// "storpol-capture 1 0.1.0 2026-11-30T12:00:00Z"; a facts.txt has no such line.
Result<bool> has_first_line(std::string_view text, std::string_view where) {
    const auto words = split_words(text.substr(0, text.find('\n')));
    if (words.empty() || words[0] != "storpol-capture") return false;
    if (words.size() >= 2 && words[1] == "1") return true;
    return fail(ErrorKind::unsupported,
                "a capture of format " + (words.size() >= 2 ? printable(words[1]) : std::string("?")) +
                    "; this storpol reads format 1",
                std::string(where) + ":1", "capture the host again, or use a newer storpol");
}

}  // namespace

Result<std::unique_ptr<Host>> make_snapshot_host(std::string_view text, std::string_view where) {
    const auto headed = has_first_line(text, where);
    if (!headed) return tl::make_unexpected(headed.error());
    int first_line = 1;
    if (*headed) {
        const auto end = text.find('\n');
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        first_line = 2;
    }
    // A newer release may have asked what this one never asks.
    auto entries = parse_entries(text, where, first_line, UnknownWords::are_left_out);
    if (!entries) return tl::make_unexpected(entries.error());
    std::map<Query, Answer> answers;
    std::map<Query, int> lines;
    for (auto& entry : *entries) {
        const auto [first, is_new] = lines.emplace(entry.query, entry.line);
        if (!is_new)
            return fail(ErrorKind::invalid,
                        "asked twice: line " + std::to_string(first->second) + " and line " +
                            std::to_string(entry.line) + " answer the same question",
                        std::string(where) + ":" + std::to_string(entry.line), "remove one of the two");
        answers.emplace(std::move(entry.query), std::move(entry.answer));
    }
    return std::make_unique<SnapshotHost>(std::move(answers));
}

}  // namespace storpol
