// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "engine/reconcile/resource.h"

// One factory per resource, each beside its class; resources/registry.cpp calls them all.
namespace storpol {

std::unique_ptr<Resource> make_sysctl_resource();

}  // namespace storpol
