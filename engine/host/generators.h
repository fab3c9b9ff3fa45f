// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/model/step.h"

// The programs that make boot artefacts from files: which ones run at all, and with what arguments. Closed, so that
// neither a policy nor a saved plan can have anything else run as root.
namespace storpol {

enum class Artefact { initramfs, bootloader };

// What the step's program makes; ErrorKind::invalid when it is none of the list or its options are of no shape that
// belongs to it.
Result<Artefact> check_generator(const RunGenerator& step);

}  // namespace storpol
