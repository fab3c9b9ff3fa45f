// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/backing.h"

#include <algorithm>

#include "engine/host/host.h"
#include "engine/topology/topology.h"

namespace storpol {

const Backing& Backings::of(const Superblock& superblock) const {
    const auto& stack = stacks(*topology_, *host_).of(superblock);
    if (const auto known = by_stack_.find(&stack); known != by_stack_.end()) return known->second;
    return by_stack_.emplace(&stack, find(stack)).first->second;
}

Backing Backings::find(const Stack& stack) const {
    Backing backing;
    backing.unknown = stack.unknown;
    bool says_nothing = !stack.unknown.empty();
    for (const auto* layer : layers_below(stack.tops)) {
        if (backing.unknown.empty()) backing.unknown = layer->unknown;
        says_nothing = says_nothing || !layer->unknown.empty();
        if (layer->kind == LayerKind::dm_crypt) backing.is_encrypted = true;
        says_nothing = says_nothing || (layer->kind == LayerKind::mapping && layer->dm_uuid.empty());
        if (layer->below.empty() && layer->unknown.empty()) backing.disks.push_back(&disk_of(*layer));
    }
    if (says_nothing && backing.is_encrypted != true) backing.is_encrypted = std::nullopt;
    std::ranges::sort(backing.disks, {}, [](const Disk* disk) { return disk->device.name; });
    return backing;
}

const Disk& Backings::disk_of(const Layer& layer) const {
    const auto& name = layer.device.disk;
    if (const auto known = disks_.find(name); known != disks_.end()) return known->second;
    return disks_.emplace(name, read_disk(*host_, {name, name, "/sys/block/" + name})).first->second;
}

const Backings& backings(const Topology& topology, Host& host) {
    return topology.derived<Backings>([&] { return Backings(topology, host); });
}

}  // namespace storpol
