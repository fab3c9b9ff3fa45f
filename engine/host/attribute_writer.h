// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/step.h"

// Values of the running kernel below /proc/sys and /sys. A path whose links lead anywhere else is refused.
namespace storpol {

Result<std::string> read_attribute(const std::string& path);      // trimmed
Result<std::string> write_attribute(const WriteAttribute& step);  // answers what the kernel shows afterwards

}  // namespace storpol
