// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// One systemd unit file or drop-in: sections of key=value lines, as systemd.syntax(7) and its parser (systemd
// src/shared/conf-parser.c, config_parse) have them. One file only; what a fragment and its drop-ins come to is for
// those who know the order: they concatenate `assignments` and ask the free functions below.
namespace storpol {

struct UnitAssignment {
    std::string section;  // "Timer"
    std::string key;      // "OnCalendar"
    std::string
        value;     // continuation lines joined by a blank, ends trimmed; empty is a reset, for lists and most others
    int line = 0;  // where the key stands, from 1
    int last_line = 0;  // of its last continuation
    bool operator==(const UnitAssignment&) const = default;
};

struct UnitRejected {  // a line that systemd warns about and ignores
    int line = 0;
    std::string why;
    bool operator==(const UnitRejected&) const = default;
};

struct UnitFile {
    std::vector<UnitAssignment> assignments;  // in file order; a section may come more than once
    std::vector<UnitRejected> rejected;
};

UnitFile parse_unit_file(std::string_view text);

// The last assignment of that key, which wins for a setting with one value; none where there is none. Its value is
// empty where the last one resets the setting to its default.
const UnitAssignment* last_assignment(const std::vector<UnitAssignment>& all,
                                      std::string_view section,
                                      std::string_view key);

// The assignments of a list setting (OnCalendar=, ExecStart=) that stand after its last reset.
std::vector<const UnitAssignment*> list_assignments(const std::vector<UnitAssignment>& all,
                                                    std::string_view section,
                                                    std::string_view key);

// A boolean as systemd spells it (1 yes y true t on, 0 no n false f off, any case); none for anything else.
std::optional<bool> parse_unit_boolean(std::string_view value);

}  // namespace storpol
