// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <string>

namespace storpol {

// A position in a text that people wrote: a policy file, or a file of the host. Lines and columns count from 1, columns
// in bytes; 0 means the whole file (line) or the whole line (column).
struct Place {
    std::string file;
    int line = 0;
    int column = 0;

    auto operator<=>(const Place&) const = default;
    bool operator==(const Place&) const = default;
};

// "laptop.toml:14:12", "/etc/fstab:3", "/etc/fstab".
std::string to_text(const Place& place);

}  // namespace storpol
