// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/plan.h"
#include "engine/model/reading.h"

// The assertions of a case's expect.txt as data, one alternative per line of the grammar. Parsing is strict: a line
// that is not understood is an Error, so that a case never passes by an assertion nobody checks.
namespace storpol::cases {

struct ActionPattern {
    std::optional<Verb> verb;  // none: any
    std::string target;        // the whole target, or, ending in '/', a folder it lies in; empty: any
    std::optional<When> when;
    std::optional<Risk> risk;
};

struct PlaneIs {  // P plane address verdict [src=...]
    Plane plane = Plane::live;
    std::string address;
    Verdict verdict = Verdict::in_sync;
    std::string source;  // how the winning source begins; empty: any
};

struct HasAction {  // A has/lacks ...
    bool wanted = true;
    ActionPattern action;
};

struct NoAction {};  // A empty

struct CountsActions {  // A count verb n
    ActionPattern action;
    int count = 0;
};

struct Orders {  // A order verb target before verb target
    ActionPattern first;
    ActionPattern second;
};

struct Says {  // S says/says-not text
    bool wanted = true;
    std::string text;
};

struct NotListed {  // S not-listed/not-applicable addr
    std::string address;
    bool needs_finding = false;
};

struct ListsSuperblocks {  // S superblocks-listed n
    int count = 0;
};

struct KeepsFlags {  // S keeps-flags FLAG,...
    std::vector<std::string> flags;
};

struct AsksNothingBelow {  // S syscalls-none path ...
    std::vector<std::string> paths;
};

struct PolicyIsValid {};  // V ok

struct PolicyFails {  // V error line words
    int line = 0;
    std::vector<std::string> words;
};

struct FileLine {  // F line file:n text
    std::string file;
    int line = 0;
    std::string text;
};

struct FileSame {  // F same file
    std::string file;
};

struct FileLines {  // F lines file n
    std::string file;
    int count = 0;
};

struct NoFinalNewline {  // F nonewline-at-end file
    std::string file;
};

struct FileMatches {  // F count file regex n; the file may be a glob
    std::string file;
    std::string regex;
    int count = 0;
};

struct WroteMatch {  // F holds folder regex
    std::string folder;
    std::string regex;
};

struct ExitsWith {  // X drift/plan n
    bool plan = false;
    int code = 0;
};

struct SecondPlanIsEmpty {};  // X apply2 empty

using Assertion = std::variant<PlaneIs,
                               HasAction,
                               NoAction,
                               CountsActions,
                               Orders,
                               Says,
                               NotListed,
                               ListsSuperblocks,
                               KeepsFlags,
                               AsksNothingBelow,
                               PolicyIsValid,
                               PolicyFails,
                               FileLine,
                               FileSame,
                               FileLines,
                               NoFinalNewline,
                               FileMatches,
                               WroteMatch,
                               ExitsWith,
                               SecondPlanIsEmpty>;

struct Expectation {
    Assertion assertion;
    std::string text;  // the line as written
    int line = 0;
};

// One line, without blanks at its ends. An Error says what is not understood.
Result<Assertion> parse_assertion(std::string_view line);
// A whole expect.txt: blank lines and lines that start with '#' mean nothing; one without any assertion is an Error.
Result<std::vector<Expectation>> parse_expectations(std::string_view text, std::string_view where);

}  // namespace storpol::cases
