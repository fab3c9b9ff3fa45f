// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

#include "engine/model/plan.h"
#include "engine/model/setting.h"

namespace storpol {

class Host;

// The own drop-in for what the next boot would get wrong, a write for what the kernel holds now.
Remedy sysctl_remedy(std::span<const Difference> differences, Host& host);

}  // namespace storpol
