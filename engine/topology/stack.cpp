// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/stack.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/topology.h"

namespace storpol {
namespace {

// No real stack is a fraction as deep; a made-up one must not use up the program's.
constexpr std::size_t deepest = 64;
constexpr std::string_view btrfs_folder = "/sys/fs/btrfs";

struct KindName {
    LayerKind kind;
    std::string_view name;
};

constexpr std::array kind_names{
    KindName{LayerKind::disk, "disk"},
    KindName{LayerKind::partition, "partition"},
    KindName{LayerKind::dm_crypt, "dm-crypt"},
    KindName{LayerKind::linear, "linear"},
    KindName{LayerKind::striped, "striped"},
    KindName{LayerKind::thin, "thin"},
    KindName{LayerKind::thin_pool, "thin-pool"},
    KindName{LayerKind::snapshot, "snapshot"},
    KindName{LayerKind::snapshot_origin, "snapshot-origin"},
    KindName{LayerKind::cache, "cache"},
    KindName{LayerKind::writecache, "writecache"},
    KindName{LayerKind::vdo, "vdo"},
    KindName{LayerKind::dm_raid, "dm-raid"},
    KindName{LayerKind::multipath, "multipath"},
    KindName{LayerKind::integrity, "dm-integrity"},
    KindName{LayerKind::mapping, "device-mapper"},
    KindName{LayerKind::md, "md"},
    KindName{LayerKind::bcache, "bcache"},
    KindName{LayerKind::loop, "loop"},
    KindName{LayerKind::memory, "memory"},
};

// Names of targets as the kernel's drivers register them (drivers/md/dm-*.c).
LayerKind kind_of_target(std::string_view target) {
    static constexpr std::array targets{
        KindName{LayerKind::dm_crypt, "crypt"},
        KindName{LayerKind::linear, "linear"},
        KindName{LayerKind::striped, "striped"},
        KindName{LayerKind::thin, "thin"},
        KindName{LayerKind::thin_pool, "thin-pool"},
        KindName{LayerKind::snapshot, "snapshot"},
        KindName{LayerKind::snapshot, "snapshot-merge"},
        KindName{LayerKind::snapshot_origin, "snapshot-origin"},
        KindName{LayerKind::cache, "cache"},
        KindName{LayerKind::writecache, "writecache"},
        KindName{LayerKind::vdo, "vdo"},
        KindName{LayerKind::dm_raid, "raid"},
        KindName{LayerKind::multipath, "multipath"},
        KindName{LayerKind::integrity, "integrity"},
    };
    const auto found = std::ranges::find(targets, target, &KindName::name);
    return found == targets.end() ? LayerKind::mapping : found->kind;
}

// What a uuid tells where nobody may ask device-mapper: cryptsetup's marks (lib/utils_dm.h), LVM's suffixes
// (lib/activate/dev_manager.c), multipath's (libmultipath/defaults.h, UUID_PREFIX).
LayerKind kind_of_uuid(std::string_view uuid) {
    if (uuid.starts_with("CRYPT-SUBDEV-") || uuid.starts_with("CRYPT-INTEGRITY-")) return LayerKind::integrity;
    if (uuid.starts_with("CRYPT-VERITY-")) return LayerKind::mapping;
    if (uuid.starts_with("CRYPT-")) return LayerKind::dm_crypt;
    if (uuid.starts_with("mpath-")) return LayerKind::multipath;
    if (uuid.starts_with("LVM-") && uuid.ends_with("-tpool")) return LayerKind::thin_pool;
    return LayerKind::mapping;
}

std::string attribute(Host& host, const std::string& path) {
    const auto text = host.read_file(path);
    return text ? std::string(trim(*text)) : std::string();
}

LayerKind kind_of_name(const BlockDevice& device) {
    if (device.is_partition()) return LayerKind::partition;
    const std::string_view name = device.name;
    if (name.starts_with("dm-")) return LayerKind::mapping;
    if (name.starts_with("loop")) return LayerKind::loop;
    if (name.starts_with("bcache")) return LayerKind::bcache;
    if (name.starts_with("zram") || name.starts_with("ram")) return LayerKind::memory;
    return name.starts_with("md") ? LayerKind::md : LayerKind::disk;
}

void walk_down(const Layer* layer, std::unordered_set<const Layer*>& seen, std::vector<const Layer*>& out) {
    if (!seen.insert(layer).second) return;
    for (const auto* below : layer->below) walk_down(below, seen, out);
    out.push_back(layer);
}

}  // namespace

std::string_view to_text(LayerKind kind) {
    const auto found = std::ranges::find(kind_names, kind, &KindName::kind);
    if (found == kind_names.end()) STORPOL_BUG("a kind of layer without a name");
    return found->name;
}

const Superblock* filesystem_at(const MountTable& table, std::string_view path) {
    for (std::string at = normal_target(path); !at.empty(); at.resize(at.rfind('/'))) {
        if (const auto mount = table.at(at)) return table.superblock_of(*mount);
        if (at.find('/') == std::string::npos) break;
    }
    const auto root = table.at("/");
    return root ? table.superblock_of(*root) : nullptr;
}

std::vector<const Layer*> layers_below(const std::vector<const Layer*>& tops) {
    std::unordered_set<const Layer*> seen;
    std::vector<const Layer*> out;
    for (auto top = tops.rbegin(); top != tops.rend(); ++top) walk_down(*top, seen, out);
    std::ranges::reverse(out);
    return out;
}

// Answers stay where they are: an unordered_map never moves its elements.
const Stack& Stacks::of(const Superblock& superblock) const {
    const bool is_numbered = !superblock.device.empty() && !superblock.device.starts_with("0:");
    const auto key = is_numbered ? superblock.device : superblock.fstype + " " + superblock.source;
    if (const auto known = by_superblock_.find(key); known != by_superblock_.end()) return known->second;
    return by_superblock_.insert_or_assign(key, look_at(superblock)).first->second;
}

Stack Stacks::look_at(const Superblock& superblock) const {
    Stack stack;
    if (superblock.fstype == "btrfs") {
        add_btrfs(stack, superblock.source);
    } else if (superblock.fstype == "bcachefs") {
        // It names all its members, with a colon between them.
        for (const auto source : split(superblock.source, ':')) add_source(stack, source);
    } else if (superblock.device.empty() || superblock.device.starts_with("0:")) {
        add_source(stack, superblock.source);
    } else if (const auto device = find_block_device(*host_, superblock.device)) {
        if (const auto* layer = look(*device, stack.unknown)) stack.tops.push_back(layer);
    } else {
        stack.unknown = "device " + superblock.device + " is not in sysfs";
    }
    return stack;
}

void Stacks::add_source(Stack& stack, std::string_view source) const {
    if (const auto* layer = find_at(source)) {
        stack.tops.push_back(layer);
    } else {
        stack.unknown = printable(source) + " is no device in sysfs";
    }
}

void Stacks::add_btrfs(Stack& stack, std::string_view source) const {
    const auto device = find_block_device_at(*host_, source);
    if (!device) {
        stack.unknown = printable(source) + " is no device in sysfs";
        return;
    }
    learn_btrfs();
    const auto folder = btrfs_folder_of_->find(device->name);
    if (folder == btrfs_folder_of_->end()) {
        // A capture may lack the folder: then the one device that the mount names is known, and others may be there.
        stack.unknown = "the members of the btrfs on " + printable(source) + " are not in " + std::string(btrfs_folder);
        if (const auto* layer = find(*device)) stack.tops.push_back(layer);
        return;
    }
    const auto names = host_->list(folder->second);
    if (!names) {
        stack.unknown = names.error().what;
        return;
    }
    for (const auto& name : *names) add_member(stack.tops, stack.unknown, folder->second, name);
}

// Which folder each member stands in; every mounted btrfs has one (fs/btrfs/sysfs.c).
void Stacks::learn_btrfs() const {
    if (btrfs_folder_of_) return;
    btrfs_folder_of_.emplace();
    const auto filesystems = host_->list(btrfs_folder);
    if (!filesystems) return;
    for (const auto& uuid : *filesystems) {
        const auto folder = std::string(btrfs_folder) + "/" + uuid + "/devices";
        const auto names = host_->list(folder);  // `features` has none
        if (!names) continue;
        for (const auto& name : *names) btrfs_folder_of_->emplace(name, folder);
    }
}

void Stacks::add_member(std::vector<const Layer*>& to,
                        std::string& unknown,
                        const std::string& folder,
                        const std::string& name) const {
    const auto device = member(folder, name);
    std::string why_not = printable(name) + ", listed in " + folder + ", is not in sysfs";
    const auto* layer = device ? look(*device, why_not) : nullptr;
    if (layer != nullptr) {
        to.push_back(layer);
    } else if (unknown.empty()) {
        unknown = why_not;
    }
}

// Entries of slaves/, holders/ and devices/ are links into the tree of devices, which tell a partition's disk.
std::optional<BlockDevice> Stacks::member(const std::string& folder, const std::string& name) const {
    if (const auto link = host_->read_link(folder + "/" + name)) {
        auto device = block_device_of_link(*link);
        if (device.name == name && (device.is_partition() || link->ends_with("/block/" + name))) return device;
    }
    return find_block_device_at(*host_, "/dev/" + name);
}

const Layer* Stacks::find_at(std::string_view path) const {
    const auto device = find_block_device_at(*host_, path);
    return device ? find(*device) : nullptr;
}

const Layer* Stacks::find(const BlockDevice& device) const {
    std::string why_not;
    return look(device, why_not);
}

const Layer* Stacks::look(const BlockDevice& device, std::string& why_not) const {
    if (const auto known = layers_.find(device.name); known != layers_.end()) return known->second.get();
    if (walking_.contains(device.name)) {
        why_not = "the stack of devices leads back to itself";
        return nullptr;
    }
    if (walking_.size() >= deepest) {
        why_not = "the stack of devices is deeper than any real one";
        return nullptr;
    }
    const auto number = host_->read_file(device.sysfs + "/dev");
    if (!number && number.error().kind == ErrorKind::no_such_file) {
        why_not = device.name + " is not in sysfs";
        return nullptr;
    }
    walking_.insert(device.name);
    auto layer = std::make_unique<Layer>();
    layer->device = device;
    layer->kind = kind_of_name(device);
    layer->name = display_name(*host_, device);
    if (layer->is_dm()) look_at_dm(*layer);
    look_below(*layer);
    walking_.erase(device.name);
    return layers_.emplace(device.name, std::move(layer)).first->second.get();
}

void Stacks::look_at_dm(Layer& layer) const {
    layer.dm_uuid = attribute(*host_, layer.device.sysfs + "/dm/uuid");
    layer.kind = kind_of_uuid(layer.dm_uuid);
    const auto table = host_->dm_table(layer.name);
    if (!table) return;
    const auto value = [&table](const char* key) {
        const auto at = table->find(key);
        return at == table->end() ? std::string() : at->second;
    };
    const auto target = value("target");
    // Several kinds of segment in one device: it passes what each of them passes, as a linear one does.
    layer.kind = target.find(',') == std::string::npos ? kind_of_target(target) : LayerKind::linear;
    layer.integrity = value("integrity");
    layer.level = value("level");
}

void Stacks::look_below(Layer& layer) const {
    const auto& sysfs = layer.device.sysfs;
    if (layer.kind == LayerKind::partition) {
        const auto& disk = layer.device.disk;
        const auto* whole = find({disk, disk, "/sys/block/" + disk});
        if (whole != nullptr) layer.below.push_back(whole);
        if (whole == nullptr) layer.unknown = "its disk " + disk + " is not in sysfs";
        return;
    }
    if (layer.kind == LayerKind::loop) return look_below_loop(layer);
    if (layer.kind == LayerKind::disk || layer.kind == LayerKind::memory) return;  // nothing lies below
    if (layer.kind == LayerKind::md) layer.level = attribute(*host_, sysfs + "/md/level");
    const auto names = host_->list(sysfs + "/slaves");
    if (!names && names.error().kind != ErrorKind::no_such_file) layer.unknown = names.error().what;
    if (!names) return;
    for (const auto& name : *names) add_member(layer.below, layer.unknown, sysfs + "/slaves", name);
}

void Stacks::look_below_loop(Layer& loop) const {
    const auto file = host_->read_file(loop.device.sysfs + "/loop/backing_file");
    if (!file) return;  // not in use
    loop.file = trim(*file);
    const auto& mounts = topology_->mounts();
    const auto* superblock = mounts && loop.file.starts_with('/') ? filesystem_at(*mounts, loop.file) : nullptr;
    if (superblock == nullptr) {
        loop.unknown = "where its file " + printable(loop.file) + " lies is not known";
        return;
    }
    const auto stack = look_at(*superblock);
    loop.below = stack.tops;
    loop.unknown = stack.unknown;
}

const std::vector<const Layer*>& Stacks::mappings() const {
    if (mappings_) return *mappings_;
    mappings_.emplace();
    for (const auto& device : list_disks(*host_)) {
        const auto* layer = device.name.starts_with("dm-") ? find(device) : nullptr;
        if (layer != nullptr) mappings_->push_back(layer);
    }
    return *mappings_;
}

std::vector<const Layer*> Stacks::above(const Layer& layer) const {
    std::vector<const Layer*> found;
    std::string unknown;
    const auto folder = layer.device.sysfs + "/holders";
    if (const auto names = host_->list(folder)) {
        for (const auto& name : *names) add_member(found, unknown, folder, name);
    }
    if (!found.empty() || host_->list(folder)) return found;
    // A capture may hold slaves/ alone: then the mappings say what they lie on.
    for (const auto* mapping : mappings()) {
        if (std::ranges::find(mapping->below, &layer) != mapping->below.end()) found.push_back(mapping);
    }
    return found;
}

const Stacks& stacks(const Topology& topology, Host& host) {
    return topology.derived<Stacks>([&] { return Stacks(topology, host); });
}

}  // namespace storpol
