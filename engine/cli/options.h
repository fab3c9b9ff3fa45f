// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace storpol {

enum class Format { text, json };

// What the command line asked for. A command reads the fields it has options for; the others keep their defaults.
struct Options {
    std::string command;                // "plan", "apply", ...
    std::vector<std::string> policies;  // files or builtin:NAME; of apply also one saved plan, of trim also mounts
    std::string selection;              // explain: an address, a glob or a domain; empty for all
    std::string host_file;              // --host: a capture
    std::string root;                   // --root: a directory tree
    std::string output;                 // -o
    std::vector<std::string> allow;     // --allow VERB:TARGET
    Format format = Format::text;
    bool verbose = false;
    bool strict = false;
    bool prune = false;
    bool yes = false;
    bool ask_passphrase = false;
    bool detailed_exitcode = false;
    bool no_color = false;
    bool reference = false;
    bool dry_run = false;
    bool scheduled = false;
    bool when_due = false;
};

// What no option alone can see: two that exclude each other, a value of the wrong form. Ends as a usage error.
Result<void> check(const Options& options);

}  // namespace storpol
