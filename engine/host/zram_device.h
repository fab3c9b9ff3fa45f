// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/model/step.h"

// Changes to one zram device by the kernel's own files (Documentation/admin-guide/blockdev/zram.rst).
namespace storpol {

// Makes /dev/zramN where there is none: loads the module, and adds a device. The kernel gives the lowest free number,
// so an Error where that is another.
Result<void> add_zram(int number);

// Takes away all that the device has. Tried again for a moment while something has it open.
Result<void> reset_zram(int number);

// A device that is reset, set up in the kernel's order and, where it is to be, made and taken into use as swap.
Result<void> set_up_zram(int number, const SetUpZram& wanted);

// An Error for what no device takes: before anything is touched.
Result<void> check_zram(const SetUpZram& wanted);

}  // namespace storpol
