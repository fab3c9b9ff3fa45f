// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/registry.h"

#include "resources/block/block.h"
#include "resources/mount/mount.h"

namespace storpol {

Resources make_resources() {
    Resources all;
    all.push_back(make_block_resource());
    all.push_back(make_mount_resource());
    all.push_back(make_sysctl_resource());
    return all;
}

std::vector<PolicyKeys> keys_of(const Resources& resources) {
    std::vector<PolicyKeys> keys;
    for (const auto& resource : resources) keys.push_back(resource->keys());
    return keys;
}

}  // namespace storpol
