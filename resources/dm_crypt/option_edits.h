// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/model/plan.h"
#include "engine/topology/crypt_mapping.h"

namespace storpol {

class Host;
class Topology;

// Option words put into and taken out of crypttab lines and words of the command line. Several settings may change one
// line or one word: all of it becomes one edit of that place.
class CryptOptionEdits {
  public:
    CryptOptionEdits(const Topology& topology, Host& host) : topology_(topology), host_(host) {}

    // Sets or clears the flag where this source keeps it. Answers why that cannot be done, or nothing; what was asked
    // is then part of actions().
    std::string change(const CryptMapping& mapping,
                       const CryptSource& source,
                       std::string_view flag,
                       bool on,
                       const std::vector<SettingPlane>& serves);

    // Edits as actions, and gaps for what turns out not to be possible.
    void finish(Remedy& remedy);

  private:
    struct LineEdit {
        CrypttabEntry entry;
        std::string path;
        std::set<std::string> take_out;
        std::vector<std::string> put_in;
        std::vector<SettingPlane> serves;
        std::string names;  // of what is changed, for people
        bool is_luks = true;
    };

    struct WordEdit {
        PlacedArgument argument;
        CryptReader reader = CryptReader::systemd;
        std::map<std::string, bool> flags;  // to set, to clear
        std::vector<SettingPlane> serves;
        std::string names;
    };

    std::string change_line(const CryptMapping& mapping,
                            const CryptSource& source,
                            const std::string& flag,
                            bool on,
                            const std::vector<SettingPlane>& serves);
    std::string change_word(const CryptMapping& mapping,
                            const CryptSource& source,
                            const std::string& flag,
                            bool on,
                            const std::vector<SettingPlane>& serves);
    void finish_lines(Remedy& remedy) const;
    void finish_words(Remedy& remedy) const;

    const Topology& topology_;
    Host& host_;
    std::map<std::pair<std::string, int>, LineEdit> lines_;  // by file and line
    std::map<std::string, WordEdit> words_;                  // by place and word
};

}  // namespace storpol
