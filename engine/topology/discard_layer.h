// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include "engine/topology/discard_path.h"

// What one layer does with discards, by its kind.
namespace storpol {

// The layers below that hold its data: without a thin pool's or cache's metadata and cache devices.
std::vector<const Layer*> data_layers(const Layer& layer, Host& host);

// `below`: the same of its data layers. The hop's depth is left to the caller.
DiscardHop look_at_layer(const Layer& layer, std::span<const DiscardHop> below, const Topology& topology, Host& host);

}  // namespace storpol
