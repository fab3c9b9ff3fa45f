// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// One file of tmpfiles.d (man 5 tmpfiles.d), as far as it writes to files: its `w` lines.
//
//     w /sys/kernel/mm/lru_gen/min_ttl_ms - - - - 1000
namespace storpol {

struct TmpfilesWrite {
    std::string path;  // may be a glob
    // What is written, with C escapes undone; none where specifiers (%b, ...) or an escape nobody knows are in it.
    std::optional<std::string> argument;
    std::string written;   // as it stands there
    bool appends = false;  // "w+": several of one path all count; of other lines the first one
    bool at_boot_only = false;
    int line = 0;  // from 1
};

std::vector<TmpfilesWrite> parse_tmpfiles_writes(std::string_view text);

// An argument for such a line: '%' doubled, backslashes and blanks escaped.
std::string render_tmpfiles_argument(std::string_view value);

}  // namespace storpol
