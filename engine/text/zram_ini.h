// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// One file of zram-generator, as the Rust library rust-ini 0.18 reads it, which is not quite how systemd reads such
// files: ':' is as good as '=', a line without either runs on into the next, a comment needs the first column, there
// are quotes and escapes, and anything else wrong makes the whole file an error.
namespace storpol {

struct ZramIniLine {
    std::optional<std::string> section;  // none above the first header
    std::string key;                     // empty: this is the header itself
    std::string value;
    int line = 0;  // where it begins, from 1
    bool operator==(const ZramIniLine&) const = default;
};

struct ZramIni {
    std::vector<ZramIniLine> lines;  // up to the error, if there is one
    std::string error;               // empty: none
    int error_line = 0;
};

ZramIni parse_zram_ini(std::string_view bytes);

}  // namespace storpol
