// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/backing.h"

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

// "CRYPT-LUKS2-<uuid>-name", "CRYPT-PLAIN-name": how cryptsetup marks the mappings it makes (lib/utils_dm.h),
// dm-crypt's and a few that do not encrypt.
bool is_crypt_uuid(std::string_view uuid) {
    static constexpr std::array<std::string_view, 3> others{"CRYPT-INTEGRITY-", "CRYPT-VERITY-", "CRYPT-SUBDEV-"};
    return uuid.starts_with("CRYPT-") &&
           std::ranges::none_of(others, [&](auto head) { return uuid.starts_with(head); });
}

void add(Backing& all, const Backing& part) {
    all.disks.insert(all.disks.end(), part.disks.begin(), part.disks.end());
    std::ranges::sort(all.disks, {}, [](const Disk* disk) { return disk->device.name; });
    all.disks.erase(std::ranges::unique(all.disks).begin(), all.disks.end());
    if (part.is_encrypted == true || all.is_encrypted == true) {
        all.is_encrypted = true;
    } else if (!part.is_encrypted) {
        all.is_encrypted = std::nullopt;
    }
    if (all.unknown.empty()) all.unknown = part.unknown;
}

Backing unknown(std::string why) {
    Backing backing;
    backing.is_encrypted = std::nullopt;
    backing.unknown = std::move(why);
    return backing;
}

// The filesystem that a path lies on: of the mounts at it and the folders above it the nearest.
const Superblock* filesystem_at(const MountTable& table, std::string_view path) {
    for (std::string at = normal_target(path); !at.empty(); at.resize(at.rfind('/'))) {
        if (const auto mount = table.at(at)) return table.superblock_of(*mount);
    }
    const auto root = table.at("/");
    return root ? table.superblock_of(*root) : nullptr;
}

}  // namespace

const Backing& Backings::of(const Superblock& superblock) const {
    const bool is_numbered = !superblock.device.empty() && !superblock.device.starts_with("0:");
    const auto key = is_numbered ? superblock.device : superblock.fstype + " " + superblock.source;
    if (const auto known = by_superblock_.find(key); known != by_superblock_.end()) return known->second;
    return by_superblock_.insert_or_assign(key, find(superblock)).first->second;
}

Backing Backings::find(const Superblock& superblock) const {
    if (superblock.fstype == "btrfs") return of_btrfs(superblock.source);
    if (superblock.device.empty() || superblock.device.starts_with("0:")) {
        if (superblock.fstype != "bcachefs") return of_source(superblock.source);
        Backing all;  // it names all its members, with a colon between them
        for (const auto source : split(superblock.source, ':')) add(all, of_source(source));
        return all;
    }
    const auto device = find_block_device(*host_, superblock.device);
    return device ? below(*device) : unknown("device " + superblock.device + " is not in sysfs");
}

Backing Backings::of_source(std::string_view source) const {
    const auto device = find_block_device_at(*host_, source);
    return device ? below(*device) : unknown(printable(source) + " is no device in sysfs");
}

Backing Backings::of_btrfs(std::string_view source) const {
    const auto device = find_block_device_at(*host_, source);
    if (!device) return unknown(printable(source) + " is no device in sysfs");
    learn_btrfs();
    const auto folder = btrfs_folder_of_->find(device->name);
    if (folder == btrfs_folder_of_->end()) {
        return unknown("the members of the btrfs on " + printable(source) + " are not in " + std::string(btrfs_folder));
    }
    Backing all;
    const auto names = host_->list(folder->second);
    if (!names) return unknown(names.error().what);
    for (const auto& name : *names) {
        const auto part = member(folder->second, name);
        add(all, part ? below(*part) : unknown(printable(name) + ", a member of the btrfs, is not in sysfs"));
    }
    return all;
}

// Which folder each member stands in; every mounted btrfs has one (fs/btrfs/sysfs.c).
void Backings::learn_btrfs() const {
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

// Entries of slaves/ and devices/ are links into the tree of devices, which tell a partition's disk.
std::optional<BlockDevice> Backings::member(const std::string& folder, const std::string& name) const {
    if (const auto link = host_->read_link(folder + "/" + name)) {
        auto device = block_device_of_link(*link);
        if (device.name == name && (device.is_partition() || link->ends_with("/block/" + name))) return device;
    }
    return find_block_device_at(*host_, "/dev/" + name);
}

const Disk& Backings::disk_of(const BlockDevice& device) const {
    if (const auto known = disks_.find(device.disk); known != disks_.end()) return known->second;
    const BlockDevice whole{device.disk, device.disk, "/sys/block/" + device.disk};
    return disks_.emplace(device.disk, read_disk(*host_, whole)).first->second;
}

const Backing& Backings::below(const BlockDevice& device) const {
    const auto& name = device.disk;
    if (const auto known = by_device_.find(name); known != by_device_.end()) return known->second;
    if (walking_.contains(name)) {
        static const Backing loops = unknown("its stack of devices leads back to itself");
        return loops;
    }
    if (walking_.size() >= deepest) {
        static const Backing deep = unknown("its stack of devices is deeper than any real one");
        return deep;
    }
    walking_.insert(name);
    auto found = look_below({name, name, "/sys/block/" + name});
    walking_.erase(name);
    return by_device_.insert_or_assign(name, std::move(found)).first->second;
}

Backing Backings::look_below(const BlockDevice& disk) const {
    const auto number = host_->read_file(disk.sysfs + "/dev");
    if (!number) return unknown(disk.name + " is not in sysfs: " + number.error().what);
    if (disk.name.starts_with("loop")) {
        if (const auto file = host_->read_file(disk.sysfs + "/loop/backing_file"))
            return look_below_loop(disk, std::string(trim(*file)));
    }
    const auto folder = disk.sysfs + "/slaves";
    const auto names = host_->list(folder);
    if (!names && names.error().kind != ErrorKind::no_such_file) return unknown(names.error().what);
    Backing all;
    if (!names || names->empty()) {
        all.disks.push_back(&disk_of(disk));
    } else {
        for (const auto& name : *names) {
            const auto part = member(folder, name);
            add(all, part ? below(*part) : unknown(printable(name) + " below " + disk.name + " is not in sysfs"));
        }
    }
    if (!disk.name.starts_with("dm-") || all.is_encrypted == true) return all;
    const auto uuid = host_->read_file(disk.sysfs + "/dm/uuid");
    if (!uuid || trim(*uuid).empty()) {
        all.is_encrypted = std::nullopt;
    } else if (is_crypt_uuid(trim(*uuid))) {
        all.is_encrypted = true;
    }
    return all;
}

Backing Backings::look_below_loop(const BlockDevice& loop, const std::string& file) const {
    const auto& mounts = topology_->mounts();
    const auto* superblock = mounts && file.starts_with('/') ? filesystem_at(*mounts, file) : nullptr;
    if (superblock == nullptr) return unknown("where the file of " + loop.name + " lies is not known");
    return find(*superblock);
}

const Backings& backings(const Topology& topology, Host& host) {
    return topology.derived<Backings>([&] { return Backings(topology, host); });
}

}  // namespace storpol
