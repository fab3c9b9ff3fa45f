// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/units.h"

// What one ExecStart= line of the service trims. Pure.
namespace storpol {

struct TrimCommand {
    enum class Program { fstrim, storpol, other };  // other: a shell, a script: what it trims is not known

    Program program = Program::other;
    std::string text;                  // as written
    std::string path;                  // of the program
    std::vector<std::string> lists;    // files it takes its filesystems from: the first one that is not empty
    std::vector<std::string> targets;  // mount points it names
    std::optional<Bytes> minimum;      // --minimum
    std::vector<std::string> types;    // --types
    bool is_old = false;               // options that only util-linux before 2.36 has (--quiet)
    bool is_dry = false;               // --dry-run trims nothing
};

TrimCommand parse_trim_command(std::string_view text);

// The same line with another floor; none takes the option out.
std::string with_minimum(const TrimCommand& command, std::optional<Bytes> minimum);

// A mount point as a word of ExecStart= (man 5 systemd.service: escapes, specifiers, variables), and back.
std::string escape_exec_word(std::string_view word);
std::string unescape_exec_word(std::string_view word);

inline constexpr std::string_view stock_trim_options =
    "--listed-in /etc/fstab:/proc/self/mountinfo --verbose --quiet-unsupported";

}  // namespace storpol
