// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/host/host.h"

// The machine of a case: its host/ tree, and its facts.txt on top.
namespace storpol::cases {

// A private copy of a host/ folder, gone with this object. Links that the folder lost on its way here are links again:
// git without core.symlinks, and what copies like it, leaves a file that holds the target and no newline.
class CaseTree {
  public:
    static Result<std::unique_ptr<CaseTree>> copy_of(const std::string& folder);
    ~CaseTree();
    CaseTree(const CaseTree&) = delete;
    CaseTree& operator=(const CaseTree&) = delete;

    const std::string& path() const { return path_; }

    // The path of a file or directory below the root after all links, as this machine follows them; errno else.
    Result<std::string> resolve(std::string_view path) const;
    Result<std::string> read(std::string_view path) const;
    // Every regular file below a folder, as absolute paths of the machine, sorted.
    std::vector<std::string> files_below(std::string_view folder) const;

  private:
    explicit CaseTree(std::string path) : path_(std::move(path)) {}

    std::string path_;
};

// Answers from a tree as if its machine ran: /proc and /sys too. What is not in the tree does not exist there;
// questions that no file answers are not_captured.
std::unique_ptr<Host> make_tree_host(const CaseTree& tree);

// facts.txt by question. Words that storpol does not ask yet are kept by name only.
struct Facts {
    std::map<Query, Answer> answers;
    std::map<std::string, std::map<std::string, std::string>> units;  // properties given, by unit
    std::map<std::string, std::string> journals;                      // lines of the answer, by unit
    std::vector<std::string> unasked;                                 // words no QueryKind has
};

Result<Facts> parse_facts(std::string_view text, std::string_view where);

// `machine` with facts on top, remembering what it was asked. A unit is as the machine's files make it, but for the
// properties that a fact gives.
class FactsHost final : public Host {
  public:
    FactsHost(Host& machine, const Facts& facts) : machine_(machine), facts_(facts) {}

    const std::vector<Query>& asked() const { return asked_; }

  private:
    Answer do_ask(const Query& query) override;
    Host& machine_;
    const Facts& facts_;
    std::vector<Query> asked_;
};

}  // namespace storpol::cases
