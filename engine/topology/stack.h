// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/topology/block_device.h"
#include "engine/topology/mount_table.h"

// The block devices below a filesystem, layer by layer: partitions, mappings, arrays, down to the disks.
namespace storpol {

class Host;
class Topology;

enum class LayerKind {
    disk,       // the bottom: NVMe, SATA, SCSI, virtio, eMMC, ...
    partition,  // below it lies its disk
    dm_crypt,
    linear,  // dm: linear, and what only places extents
    striped,
    thin,
    thin_pool,
    snapshot,
    snapshot_origin,
    cache,
    writecache,
    vdo,
    dm_raid,
    multipath,
    integrity,
    mapping,  // another device-mapper target, or one that nobody may ask about
    md,
    bcache,
    loop,    // below it lies what its file's filesystem lies on
    memory,  // zram, ram
};
std::string_view to_text(LayerKind kind);  // "dm-crypt", "thin-pool", "partition", ...

struct Layer {
    BlockDevice device;
    std::string name;  // what people call it: "cryptdata", "vg-root", "md0", "nvme0n1p3"
    LayerKind kind = LayerKind::disk;
    std::string level;                // of md and dm-raid: "raid5"
    std::string dm_uuid;              // of dm: "CRYPT-LUKS2-..."
    std::string integrity;            // of dm-crypt over dm-integrity: "aead"
    std::string file;                 // of a loop device
    std::vector<const Layer*> below;  // sorted by kernel name
    std::string unknown;              // why what lies below cannot all be seen; empty otherwise

    bool is_dm() const { return device.name.starts_with("dm-"); }
};

struct Stack {
    std::vector<const Layer*> tops;  // what the filesystem lies on: several for btrfs
    std::string unknown;             // why not all of them can be seen
};

// Walks each device once and keeps what it found for the run. Layers point into it and live as long.
class Stacks {
  public:
    Stacks(const Topology& topology, Host& host) : topology_(&topology), host_(&host) {}

    Stacks(const Stacks&) = delete;
    Stacks(Stacks&&) = default;

    // Of a filesystem by its device number or, where it numbers itself or is not mounted, its source. btrfs has all its
    // members (/sys/fs/btrfs/UUID/devices), bcachefs what its source names.
    const Stack& of(const Superblock& superblock) const;

    // By kernel name or path ("dm-0", "/dev/mapper/root"). None where sysfs has no such device.
    const Layer* find(const BlockDevice& device) const;
    const Layer* find_at(std::string_view path) const;

    // Every device-mapper device of this host, by kernel name.
    const std::vector<const Layer*>& mappings() const;

    // The devices that lie directly above this one (holders/, for a disk those of its partitions too), by kernel name.
    std::vector<const Layer*> above(const Layer& layer) const;

  private:
    const Layer* look(const BlockDevice& device, std::string& why_not) const;
    Stack look_at(const Superblock& superblock) const;
    void add_source(Stack& stack, std::string_view source) const;
    void add_btrfs(Stack& stack, std::string_view source) const;
    void learn_btrfs() const;
    void look_below(Layer& layer) const;
    void look_below_loop(Layer& loop) const;
    void look_at_dm(Layer& layer) const;
    void add_member(std::vector<const Layer*>& to,
                    std::string& unknown,
                    const std::string& folder,
                    const std::string& name) const;
    std::optional<BlockDevice> member(const std::string& folder, const std::string& name) const;

    const Topology* topology_;
    Host* host_;
    mutable std::unordered_map<std::string, Stack> by_superblock_;
    mutable std::unordered_map<std::string, std::unique_ptr<Layer>> layers_;  // by kernel name
    mutable std::unordered_set<std::string> walking_;                         // what a loop would come back to
    mutable std::optional<std::unordered_map<std::string, std::string>> btrfs_folder_of_;  // member -> its folder
    mutable std::optional<std::vector<const Layer*>> mappings_;
};

// The run's, made on first use.
const Stacks& stacks(const Topology& topology, Host& host);

// The filesystem that a path lies on: of the mounts at it and the folders above it the nearest.
const Superblock* filesystem_at(const MountTable& table, std::string_view path);

// The layers from these down, each once, upper ones before lower ones.
std::vector<const Layer*> layers_below(const std::vector<const Layer*>& tops);

}  // namespace storpol
