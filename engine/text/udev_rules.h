// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

// The text of a udev rules file (man 7 udev). Pure; keeps what it does not know, so that a caller can say "unknown"
// rather than overlook it.
namespace storpol {

// KEY{attribute}OP"value", such as ATTR{queue/scheduler}="bfq".
struct UdevToken {
    std::string key;
    std::string attribute;      // between { and }; empty when there is none
    std::string op;             // "==", "!=", "=", "+=", "-=", ":="
    std::string value;          // without quotes, escapes resolved
    bool ignores_case = false;  // i"..."

    bool is_match() const { return op == "==" || op == "!="; }

    bool operator==(const UdevToken&) const = default;
};

struct UdevRule {
    int line = 0;  // of its first physical line
    std::vector<UdevToken> tokens;
    bool operator==(const UdevRule&) const = default;
};

struct UdevRules {
    std::vector<UdevRule> rules;

    struct Broken {
        int line = 0;
        std::string why;
    };

    std::vector<Broken> broken;  // lines udev ignores whole
};

UdevRules parse_udev_rules(std::string_view text);

// A value as a rule writes it: quoted, '"' and backslash escaped. Callers have refused control characters.
std::string quote_udev(std::string_view value);

// udev's globs: fnmatch(3) patterns, several separated by '|'.
bool udev_glob_match(std::string_view pattern, std::string_view text, bool ignores_case = false);

}  // namespace storpol
