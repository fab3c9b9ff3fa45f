// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "engine/reconcile/resource.h"

namespace storpol {

std::unique_ptr<Resource> make_md_raid_resource();

// Whether RAID 4, 5 and 6 arrays that are assembled at the next boot will pass discards, as modprobe.d and the command
// line say now.
bool raid456_passes_at_boot(const Topology& topology, Host& host);

}  // namespace storpol
