// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/inventory.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/kernel_cmdline.h"
#include "engine/topology/topology.h"
#include "resources/mount/mount_units.h"
#include "resources/mount/option_set.h"

namespace storpol {
namespace {

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

bool has_option(std::string_view options, std::string_view word) {
    return std::ranges::any_of(split_options(options), [&](std::string_view option) { return option == word; });
}

// A mount of a folder or a file of a filesystem that is mounted elsewhere. For btrfs the root of a mount is its
// subvolume.
bool is_bind(const MountInfo& mount) {
    if (mount.root == "/") return false;
    if (mount.fstype != "btrfs") return true;
    for (const auto option : split_options(mount.super_options)) {
        if (option.starts_with("subvol=")) return option.substr(7) != mount.root;
    }
    return false;
}

bool is_bind_line(const FstabEntry& entry) {
    return has_option(entry.options, "bind") || has_option(entry.options, "rbind");
}

class Collector {
  public:
    Collector(const Topology& topology, Host& host) : topology_(topology), host_(host) {}

    MountInventory collect() {
        read_fstab();
        units_ = read_mount_units(host_);
        if (inventory_.unreadable.empty() && !units_.unreadable.empty())
            inventory_.unreadable = units_.unreadable.front();
        if (topology_.mounts()) take_live_mounts(*topology_.mounts());
        take_fstab_lines();
        take_units();
        take_command_line();
        finish();
        return std::move(inventory_);
    }

  private:
    void read_fstab() {
        inventory_.fstab_digest = no_file_digest;
        const auto file = host_.read_file_resolved("/etc/fstab");
        if (!file) {
            if (file.error().kind != ErrorKind::no_such_file)
                inventory_.unreadable = "/etc/fstab: " + file.error().what;
            return;
        }
        inventory_.fstab_path = file->path;
        inventory_.fstab_digest = digest_of(file->bytes);
        inventory_.fstab = parse_fstab(file->bytes);
    }

    void leave_out(std::string target, std::string why) {
        inventory_.left_out.push_back({std::move(target), std::move(why)});
    }

    void take_live_mounts(const MountTable& table) {
        for (const auto& superblock : table.superblocks()) {
            if (const auto why = reason_to_leave_out(superblock.fstype)) {
                for (const auto index : superblock.mounts) leave_out(table.mounts()[index].target, *why);
                continue;
            }
            ManagedFilesystem filesystem;
            filesystem.fstype = superblock.fstype;
            filesystem.device_number = superblock.device;
            for (const auto index : superblock.mounts) add_live_mount(filesystem, table, index);
            if (!filesystem.mounts.empty()) inventory_.filesystems.push_back(std::move(filesystem));
        }
    }

    void add_live_mount(ManagedFilesystem& filesystem, const MountTable& table, std::size_t index) {
        const auto& mount = table.mounts()[index];
        ManagedMount managed;
        managed.target = mount.target;
        managed.source = mount.source;
        managed.live = index;
        managed.is_bind = is_bind(mount);
        by_target_[mount.target] = {inventory_.filesystems.size(), filesystem.mounts.size()};
        filesystem.mounts.push_back(std::move(managed));
    }

    void take_fstab_lines() {
        for (const auto& entry : inventory_.fstab.entries) {
            if (entry.fstype == "swap") {
                leave_out(entry.source, "swap has no mount options");
                continue;
            }
            const auto target = normal_target(entry.target);
            const bool binds = is_bind_line(entry);
            const auto why = reason_to_leave_out(entry.fstype);
            if (!binds && why) {
                leave_out(target, *why);
                continue;
            }
            OptionSource source;
            source.path = inventory_.fstab_path;
            source.line = entry.line;
            source.options = entry.options;
            auto& mount = add_source(target, binds ? "none" : entry.fstype, entry.source, std::move(source));
            mount.is_automount = mount.is_automount || has_option(entry.options, "x-systemd.automount");
            mount.is_bind = mount.is_bind || binds;
        }
    }

    void take_units() {
        for (const auto& unit : units_.units) {
            if (reason_to_leave_out(unit.type) || has_option(unit.options, "bind")) continue;
            OptionSource source;
            source.kind = OptionSource::Kind::unit;
            source.path = unit.options_path;
            source.line = unit.options_line;
            source.options = unit.options;
            source.unit = unit.name;
            auto& mount = add_source(unit.where, unit.type.empty() ? "auto" : unit.type, unit.what, source);
            mount.is_automount = mount.is_automount || unit.is_automount;
            // Of a unit and an fstab line systemd takes the unit from /etc or /run, else what it made of the line.
            if (unit.beats_fstab && mount.sources.size() > 1) {
                std::rotate(mount.sources.begin(), mount.sources.end() - 1, mount.sources.end());
            }
        }
    }

    // The root that nothing else describes is what the kernel command line makes it.
    void take_command_line() {
        const auto root = by_target_.find("/");
        if (root == by_target_.end()) return;
        auto& mount = at(root->second);
        const auto text = host_.read_file_resolved("/proc/cmdline");
        if (!text) return;
        const auto command_line = KernelCommandLine::parse(text->bytes);
        if (!command_line.root()) return;
        OptionSource source;
        source.kind = OptionSource::Kind::command_line;
        source.path = text->path;
        source.options = command_line.rootflags().value_or("");
        if (mount.sources.empty()) mount.sources.push_back(source);
        mount.root_flags = std::move(source);
    }

    // Joins a line or unit to the mount at its target, or to a filesystem known by the same source, or makes one of its
    // own.
    ManagedMount& add_source(const std::string& target,
                             const std::string& fstype,
                             const std::string& what,
                             OptionSource source) {
        const auto known = by_target_.find(target);
        const bool same = known != by_target_.end() && agrees(inventory_.filesystems[known->second.first], fstype);
        if (same) {
            auto& mount = at(known->second);
            if (mount.sources.empty()) mount.source = what;
            mount.sources.push_back(std::move(source));
            by_source_.emplace(what, known->second.first);
            return mount;
        }
        // The line is what the policy is about; what lies over its mount for now is not.
        const bool covered = known != by_target_.end();
        if (covered) {
            leave_out(target, "mounted over what " + source.describe() + " describes");
            at(known->second).is_covering = true;
            by_target_.erase(known);
        }
        ManagedMount mount;
        mount.target = target;
        mount.source = what;
        mount.not_live = covered ? "something else is mounted there" : "not mounted";
        mount.sources.push_back(std::move(source));
        const auto relative = by_source_.find(what);
        const bool joins = relative != by_source_.end() && agrees(inventory_.filesystems[relative->second], fstype);
        if (!joins) {
            ManagedFilesystem filesystem;
            filesystem.fstype = fstype;
            inventory_.filesystems.push_back(std::move(filesystem));
            by_source_[what] = inventory_.filesystems.size() - 1;
        }
        const auto position = by_source_[what];
        auto& mounts = inventory_.filesystems[position].mounts;
        by_target_.emplace(target, std::pair{position, mounts.size()});
        mounts.push_back(std::move(mount));
        return mounts.back();
    }

    // A line may leave the type open ("auto", "ext4,xfs"); ext2 and ext3 are mounted by the ext4 driver under their own
    // names.
    static bool agrees(const ManagedFilesystem& filesystem, const std::string& fstype) {
        if (fstype == "auto" || fstype == "none" || filesystem.fstype == "auto" || fstype == filesystem.fstype)
            return true;
        const auto types = split(fstype, ',');
        return std::ranges::find(types, std::string_view(filesystem.fstype)) != types.end();
    }

    ManagedMount& at(std::pair<std::size_t, std::size_t> position) {
        return inventory_.filesystems[position.first].mounts[position.second];
    }

    void finish() {
        for (auto& filesystem : inventory_.filesystems) {
            std::erase_if(filesystem.mounts, [](const ManagedMount& mount) { return mount.is_covering; });
        }
        std::erase_if(inventory_.filesystems,
                      [](const ManagedFilesystem& filesystem) { return filesystem.mounts.empty(); });
        for (auto& filesystem : inventory_.filesystems) {
            std::ranges::stable_sort(filesystem.mounts, {}, [](const ManagedMount& mount) {
                return std::pair(mount.is_bind, mount.target.size());
            });
            filesystem.device = device_of(filesystem);
        }
        std::ranges::stable_sort(inventory_.filesystems, {},
                                 [](const ManagedFilesystem& filesystem) { return filesystem.target(); });
        std::ranges::stable_sort(inventory_.left_out, {}, [](const LeftOut& left) { return left.target; });
    }

    std::optional<BlockDevice> device_of(const ManagedFilesystem& filesystem) {
        if (!is_block_filesystem(filesystem.fstype)) return std::nullopt;
        if (!filesystem.device_number.empty() && !filesystem.device_number.starts_with("0:")) {
            return find_block_device(host_, filesystem.device_number);
        }
        for (const auto& mount : filesystem.mounts) {
            if (!mount.live || !topology_.mounts()) continue;
            return find_block_device_at(host_, topology_.mounts()->mounts()[*mount.live].source);
        }
        return std::nullopt;
    }

    const Topology& topology_;
    Host& host_;
    MountUnits units_;
    MountInventory inventory_;
    std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> by_target_;  // -> filesystem, mount
    std::unordered_map<std::string, std::size_t> by_source_;  // fstab's or a unit's text -> filesystem
};

}  // namespace

std::string OptionSource::describe() const {
    return line == 0 ? path : path + ":" + std::to_string(line);
}

const MountInventory& mount_inventory(const Topology& topology, Host& host) {
    return topology.derived<MountInventory>([&] { return Collector(topology, host).collect(); });
}

bool is_block_filesystem(std::string_view fstype) {
    static constexpr std::array<std::string_view, 12> types{"ext2", "ext3",  "ext4",  "xfs",   "btrfs", "f2fs",
                                                            "vfat", "msdos", "exfat", "ntfs3", "jfs",   "bcachefs"};
    return is_one_of(fstype, types);
}

bool is_pseudo_filesystem(std::string_view fstype) {
    static constexpr std::array<std::string_view, 22> types{
        "tmpfs",     "ramfs",    "devtmpfs",   "proc",    "sysfs",     "devpts",     "cgroup",   "cgroup2",
        "pstore",    "efivarfs", "bpf",        "debugfs", "tracefs",   "securityfs", "configfs", "fusectl",
        "hugetlbfs", "mqueue",   "rpc_pipefs", "nsfs",    "selinuxfs", "binfmt_misc"};
    return is_one_of(fstype, types);
}

std::optional<std::string> reason_to_leave_out(std::string_view fstype) {
    struct Reason {
        std::span<const std::string_view> types;
        std::string_view why;
    };

    static constexpr std::array<std::string_view, 16> network{
        "nfs",  "nfs4",   "cifs",      "smb3",   "smbfs", "ceph",  "9p",       "afs",
        "coda", "lustre", "glusterfs", "beegfs", "gfs2",  "ocfs2", "virtiofs", "orangefs"};
    static constexpr std::array<std::string_view, 3> stacked{"overlay", "ecryptfs", "aufs"};
    static constexpr std::array<std::string_view, 5> images{"squashfs", "erofs", "cramfs", "romfs", "composefs"};
    static constexpr std::array<std::string_view, 2> media{"iso9660", "udf"};
    static constexpr std::array<Reason, 4> reasons{{
        {network, "a network filesystem: its options belong to its server and client"},
        {stacked, "options belong to the filesystems below it"},
        {images, "an image mount: read-only by nature"},
        {media, "removable or read-only media"},
    }};
    for (const auto& reason : reasons) {
        if (is_one_of(fstype, reason.types)) return std::string(fstype) + ": " + std::string(reason.why);
    }
    if (fstype == "autofs") return "autofs: an automount point, not a filesystem";
    if (fstype == "zfs") return "zfs: dataset properties, not mount options";
    if (fstype.starts_with("fuse") && fstype != "fuseblk")
        return std::string(fstype) + ": a program in user space serves it";
    if (fstype == "none") return "no filesystem type";
    return std::nullopt;
}

}  // namespace storpol
