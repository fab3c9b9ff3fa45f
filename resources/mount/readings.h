// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "engine/model/reading.h"
#include "engine/topology/mount_table.h"
#include "resources/mount/inventory.h"
#include "resources/mount/option_set.h"
#include "resources/mount/wishes.h"

namespace storpol {

class Host;
class Topology;

// What the kernel's texts of a mount mean, by those texts: on hosts with thousands of mounts most say the same.
using LiveMeanings = std::unordered_map<std::string, OptionSet>;

// One filesystem as it is read: its options as the kernel has them at each mount, and what would be its defaults.
class FilesystemReader {
  public:
    // `table` is none where nothing is mounted that can be seen (an image).
    FilesystemReader(const ManagedFilesystem& filesystem,
                     const MountTable* table,
                     const MountHostFacts& host_facts,
                     Host& host,
                     LiveMeanings& meanings);

    Reading live(const MountWish& wish, const ManagedMount& mount) const;
    // Of one mount, from the source that applies; `inventory_unreadable` is MountInventory::unreadable.
    Reading persisted(const MountWish& wish, const ManagedMount& mount, const std::string& inventory_unreadable) const;

    const MountFacts& facts() const { return facts_; }

    // What the running kernel has at this mount; null when it is not mounted.
    const OptionSet* live_set(const ManagedMount& mount) const;

    OptionDefault default_for(std::string_view property) const {
        return default_of(filesystem_.fstype, property, facts_);
    }

  private:
    void learn_device_facts();
    void learn_ext4_facts();
    std::string live_source(const MountWish& wish) const;

    const ManagedFilesystem& filesystem_;
    const MountTable* table_;
    Host& host_;
    LiveMeanings& meanings_;
    MountFacts facts_;
    std::optional<std::string> ext4_text_;
    std::string ext4_path_;
};

// The readers of all filesystems, each made on first use.
class MountReaders {
  public:
    MountReaders(const Topology& topology, Host& host) : topology_(topology), host_(host) {}

    const FilesystemReader& of(const ManagedFilesystem& filesystem) const;

  private:
    const Topology& topology_;
    Host& host_;
    mutable LiveMeanings meanings_;
    mutable std::unordered_map<const ManagedFilesystem*, FilesystemReader> readers_;
};

// A remount cannot change it: only a new mount does.
bool is_set_at_first_mount(std::string_view fstype, std::string_view property);

}  // namespace storpol
