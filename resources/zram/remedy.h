// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/model/plan.h"
#include "engine/model/setting.h"
#include "resources/zram/persisted.h"

namespace storpol {

class Host;
class Topology;

// What closes the gaps of all zram devices: the owner's configuration, and the running devices, through the owner's
// unit where it has one that sets them up.
Remedy zram_remedy(std::span<const Difference> differences, const Topology& topology, Host& host);

// The owner's configuration, read once per run.
const ZramPersisted& zram_persisted(const Topology& topology, Host& host);

// Why a size of that many bytes is not set up, on any plane: more than twice the memory. Empty where it is.
std::string why_not_so_large(std::int64_t bytes, Host& host);

// Where a device is mounted; empty where it is not.
std::string zram_mounted_at(std::string_view name, const Topology& topology);

}  // namespace storpol
