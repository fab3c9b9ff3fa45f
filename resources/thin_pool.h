// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "engine/reconcile/resource.h"

namespace storpol {

struct Layer;

std::unique_ptr<Resource> make_thin_pool_resource();

// thin-pool["vg0/pool"].discards of an active pool of LVM; empty for another layer.
std::string thin_pool_address(const Layer& layer);

}  // namespace storpol
