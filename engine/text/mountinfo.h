// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

// /proc/self/mountinfo, as proc(5) describes it. A value of the moment it was read.
namespace storpol {

struct MountInfo {
    int id = 0;
    int parent = 0;
    unsigned major = 0;
    unsigned minor = 0;
    std::string root;  // what of the filesystem is mounted: "/", a bind's folder, a btrfs subvolume's path
    std::string target;
    std::string mount_options;      // of this mount: rw or ro, nosuid, nodev, noexec, noatime or relatime, ...
    std::vector<std::string> tags;  // optional fields: "shared:1", "master:2", "unbindable"
    std::string fstype;             // with a subtype: "fuse.sshfs"
    std::string source;             // may be empty: some pseudo filesystems are mounted from nothing
    std::string super_options;      // raw, still escaped: of the superblock, so the same at all its mounts

    std::string device_number() const;  // "8:1"
    bool operator==(const MountInfo&) const = default;
};

struct MountInfoTable {
    std::vector<MountInfo> mounts;  // in the kernel's order: of two with one target the later lies on top
    std::vector<int> rejected;      // numbers, from 1, of lines that are none
};

// Linear in the text. Escapes (\040 \011 \012 \134 \043) are undone in root, target, source and tags; super options
// keep them, as a comma or quote inside an option must stay told from one between options.
MountInfoTable parse_mountinfo(std::string_view text);

}  // namespace storpol
