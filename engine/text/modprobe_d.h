// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

// One file of modprobe.d, as modprobe.d(5) describes it: a command a line, '#' comments, '\' joins lines.
namespace storpol {

struct ModuleOption {
    std::string module;  // with '_' for '-', as the kernel takes both for the same
    std::string name;    // likewise
    std::string value;
    int line = 0;  // from 1, where the command begins
};

// Of the `options` commands, in the order of the text: of one name the last one holds.
std::vector<ModuleOption> parse_module_options(std::string_view text);

// "dm-raid" -> "dm_raid".
std::string module_name(std::string_view name);

}  // namespace storpol
