// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

// lvm.conf and lvmlocal.conf, as lvm.conf(5) describes them: sections in braces, NAME = VALUE, "SECTION/NAME = VALUE",
// # comments, strings in quotes, arrays in brackets.
namespace storpol {

struct LvmAssignment {
    std::string name;   // "devices/issue_discards"
    std::string value;  // as written: 1, "/dev", [ "a", "b" ]
    int line = 0;       // from 1, of the value
    int field = 0;      // from 1, by blanks on that line: where the value begins
    std::string word;   // the whole run without blanks there, "1", "1}" or "issue_discards=1": what an edit takes out
    std::size_t offset = 0;  // of the value in `word`
};

// Every assignment in the order of the text; of one name the last one holds (LVM warns of the others). What cannot be
// parsed ends the reading there: `broken_line`, and LVM refuses such a file as a whole.
struct LvmConfig {
    std::vector<LvmAssignment> assignments;
    int broken_line = 0;  // 0: none

    const LvmAssignment* find(std::string_view name) const;  // nullptr where nothing sets it
};

LvmConfig parse_lvm_config(std::string_view text);

}  // namespace storpol
