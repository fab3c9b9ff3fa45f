// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "engine/host/zram_state.h"
#include "engine/model/reading.h"

// What the running kernel has of a zram device, in the terms of the persisted plane (resources/zram/persisted.h).
namespace storpol {

class Host;

Reading read_zram_live(const ZramState& state, std::string_view name, std::string_view property, Host& host);

// Whether this kernel takes levels: /sys/block/zramN/algorithm_params, Linux 6.12. not_captured and the like: taken to.
bool zram_takes_levels(std::string_view name, Host& host);

// Why no device can be added where there is none; empty where one can.
std::string why_no_zram(Host& host);

}  // namespace storpol
