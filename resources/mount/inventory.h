// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/fstab.h"
#include "engine/topology/block_device.h"
#include "engine/topology/mount_table.h"

// What is mounted on this host, or will be: live mounts joined with what makes them at the next mount, grouped by
// filesystem, and what is left out with its reason.
namespace storpol {

class Host;
class Topology;

// Something that gives a mount its options at the next mount.
struct OptionSource {
    enum class Kind {
        fstab,         // a line of /etc/fstab
        unit,          // a mount unit, with its drop-ins
        command_line,  // rootflags= and ro/rw: the root filesystem alone
    };
    Kind kind = Kind::fstab;
    std::string path;     // after links; of a unit, the file whose Options= wins (or the fragment, when none does)
    int line = 0;         // 0: the whole file
    std::string options;  // the words as written
    std::string unit;     // "srv-data.mount"; units only
    std::string describe() const;  // "/etc/fstab:3"
};

struct ManagedMount {
    std::string target;
    std::string source;                 // as fstab or the unit names it, else as the kernel does
    std::optional<std::size_t> live;    // index into the mount table
    std::string not_live;               // why there is no live mount
    std::vector<OptionSource> sources;  // the one that applies first; then those it hides (a unit and an fstab line)
    bool is_automount = false;
    std::optional<OptionSource> root_flags;  // of "/": the kernel command line, for what only the first mount can set
    bool is_covering = false;                // lies over the mount that a line describes: left out
    bool is_bind = false;  // shows a piece of a filesystem: has flags of its own, never the filesystem's options

    const OptionSource* persisted() const { return sources.empty() ? nullptr : &sources.front(); }
};

struct ManagedFilesystem {
    std::string fstype;                 // the kernel's; "auto" where only fstab knows it and does not say
    std::string device_number;          // "8:3"; empty when it is not mounted
    std::optional<BlockDevice> device;  // below it; the first one of several
    std::vector<ManagedMount> mounts;   // binds last, else shortest target first

    const std::string& target() const { return mounts.front().target; }  // what addresses its options
};

struct LeftOut {
    std::string target;
    std::string why;  // "swap has no mount options", "overlay: options belong to the filesystems below it"
};

struct MountInventory {
    std::vector<ManagedFilesystem> filesystems;  // sorted by target
    std::vector<LeftOut> left_out;               // sorted by target
    std::string fstab_path;                      // after links; empty when there is none
    std::string fstab_digest;
    Fstab fstab;
    std::string unreadable;  // why persisted is not known for mounts without a line: fstab or units cannot be read
};

// Taken once per run.
const MountInventory& mount_inventory(const Topology& topology, Host& host);

// Filesystems that rules mean without naming them: on a local block device, with options worth declaring.
bool is_block_filesystem(std::string_view fstype);
// Why mounts of this type are never managed: network, FUSE, overlay, read-only media, ...; nothing for those that are.
std::optional<std::string> reason_to_leave_out(std::string_view fstype);
// No device below: proc, sysfs, tmpfs, ...; managed only by a rule that names the type.
bool is_pseudo_filesystem(std::string_view fstype);

}  // namespace storpol
