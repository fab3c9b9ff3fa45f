// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model/reading.h"
#include "engine/model/setting.h"
#include "resources/sysctl/sources.h"

// The own sysctl.d file: what it would have to hold for a setting, and what that would change. Pure.
namespace storpol {

// The line for a setting: "vm.swappiness = 150"; none where no value makes the condition hold.
std::optional<std::string> drop_in_line(const Setting& setting);

// The lines of the setting's entry. Mostly that one; where systemd-sysctl would apply a foreign line of the counterpart
// after it (a value repeated keeps its first place), an exclusion of the counterpart stands above it.
std::vector<std::string> drop_in_lines(const Setting& setting, const SysctlSources& sources);

// The own file's text, and the text it has once the setting's entry is in it and its counterpart's is not.
std::string own_text(const SysctlSources& sources);
std::string own_text_with(const Setting& setting, const SysctlSources& sources);

// True where the own file holds an entry of this address.
bool own_file_has(const std::string& address, const SysctlSources& sources);

// The reading once the own file has that text.
Reading with_drop_in(const Setting& setting, const SysctlSources& sources);

}  // namespace storpol
