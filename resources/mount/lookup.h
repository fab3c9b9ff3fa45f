// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/model/setting.h"
#include "resources/mount/inventory.h"
#include "resources/mount/wishes.h"

namespace storpol {

class Host;
class Topology;

// From a setting back to the mount it is of.
struct MountSubject {
    const ManagedFilesystem* filesystem = nullptr;
    const ManagedMount* mount = nullptr;
    MountWish wish;
    bool of_superblock = false;  // of the filesystem with all its mounts, not of this one
};

class MountLookup {
  public:
    explicit MountLookup(const MountInventory& inventory);
    // Every setting this resource made is found.
    MountSubject find(const Setting& setting) const;

  private:
    std::unordered_map<std::string, std::pair<const ManagedFilesystem*, const ManagedMount*>> by_prefix_;
};

// Kernel release and, when a rule matches by label, /dev/disk/by-label. Read once per run.
const MountHostFacts& mount_host_facts(const Topology& topology, Host& host);

}  // namespace storpol
