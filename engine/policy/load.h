// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/policy/keys.h"
#include "engine/policy/policy.h"

namespace storpol {

// Where policy text comes from; engine/host gives the one that checks owners and modes, tests give text.
class PolicySource {
  public:
    virtual ~PolicySource() = default;

    // The bytes of a file as the user or an include names it. `includer` is empty for one from the command line; else
    // the name under which the including file was opened, and a relative `name` is relative to its directory.
    struct Opened {
        std::string name;      // as diagnostics spell it
        std::string identity;  // the same for two names of one file: "builtin:x", or device and inode
        std::string bytes;
    };

    virtual Result<Opened> open(std::string_view name, std::string_view includer) = 0;
};

struct Loaded {
    Policy policy;                    // of the parts that are right; only to be used when there is no error
    std::vector<PolicyError> errors;  // all of them, sorted by place
};

// Reads the files (several merge like includes, in order), follows includes, parses, checks every key against `keys`,
// merges. A file that cannot be opened is an error at the include's place, or at the file's name. Never throws on
// hostile text.
Loaded load_policy(const std::vector<std::string>& names, PolicySource& source, const std::vector<PolicyKeys>& keys);

// The same checks against files held in memory (a saved plan carries its policy so).
Loaded load_policy_files(const std::vector<Policy::File>& files, const std::vector<PolicyKeys>& keys);

// The embedded policies: names without "builtin:", and their text. nullopt for a name there is none of.
std::vector<std::string> builtin_names();
std::optional<std::string_view> builtin_policy(std::string_view name);

// The merged policy as TOML again (`show`): every value with a comment naming the file:line it comes from.
std::string render_merged(const Policy& policy);
// The policy language as JSON Schema (`schema`), and as the reference page of docs/.
std::string render_schema(const std::vector<PolicyKeys>& keys);
std::string render_reference(const std::vector<PolicyKeys>& keys);

}  // namespace storpol
