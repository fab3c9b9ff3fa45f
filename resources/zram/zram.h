// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "engine/reconcile/resource.h"

namespace storpol {

std::unique_ptr<Resource> make_zram_resource();

}  // namespace storpol
