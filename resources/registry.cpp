// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/registry.h"

#include "resources/block/block.h"
#include "resources/discard_path.h"
#include "resources/dm_crypt/dm_crypt.h"
#include "resources/fstrim/fstrim.h"
#include "resources/lvm.h"
#include "resources/md_raid.h"
#include "resources/mglru.h"
#include "resources/mount/mount.h"
#include "resources/thin_pool.h"
#include "resources/zram/zram.h"

namespace storpol {

Resources make_resources() {
    Resources all;
    all.push_back(make_block_resource());
    all.push_back(make_discard_path_resource());
    all.push_back(make_dm_crypt_resource());
    all.push_back(make_fstrim_resource());
    all.push_back(make_lvm_resource());
    all.push_back(make_md_raid_resource());
    all.push_back(make_mglru_resource());
    all.push_back(make_mount_resource());
    all.push_back(make_sysctl_resource());
    all.push_back(make_thin_pool_resource());
    all.push_back(make_zram_resource());
    return all;
}

std::vector<PolicyKeys> keys_of(const Resources& resources) {
    std::vector<PolicyKeys> keys;
    for (const auto& resource : resources) keys.push_back(resource->keys());
    return keys;
}

}  // namespace storpol
