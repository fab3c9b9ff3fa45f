// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/model/setting.h"
#include "engine/topology/kernel_version.h"
#include "resources/sysctl/effective.h"

// One sysctl's texts brought to the terms of a Condition, and the two planes read in them.
namespace storpol {

class Host;

std::string sysctl_address(std::string_view path);      // vm/swappiness -> sysctl["vm.swappiness"]
std::string path_of_address(std::string_view address);  // and back
std::string proc_path(std::string_view path);           // "/proc/sys/vm/swappiness"

// "0x64" is the number 100, "4096\t131072  6291456" the word "4096 131072 6291456"; of a scalar the kernel stores the
// first number and drops what follows.
Value sysctl_value(std::string_view path, std::string_view text, bool wants_number);
Condition normalised(std::string_view path, const Condition& wanted);
bool wants_number(const Condition& wanted);

// What has to be written so that the condition holds; none for a Not.
std::optional<std::string> text_to_write(const Condition& wanted);

Reading read_live_sysctl(const Setting& setting, Host& host);
Reading persisted_sysctl(const Setting& setting, const SysctlSources& sources);

}  // namespace storpol
