// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/network_mounts.h"

#include <gtest/gtest.h>

namespace storpol {
namespace {

using Paths = std::vector<std::string>;

TEST(NetworkMounts, AreToldByTheirType) {
    const auto* text =
        "22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n"
        "36 22 0:31 / /mnt/nas rw - nfs4 server:/x rw\n"
        "37 22 0:32 / /mnt/a\\040b rw shared:3 master:1 - cifs //s/x rw\n"
        "38 22 0:33 / /run/user/1000/gvfs rw - fuse.gvfsd-fuse gvfsd-fuse rw\n"
        "39 22 8:17 / /media/stick rw - fuseblk /dev/sdb1 rw\n"
        "40 22 0:34 / /misc rw - autofs auto.misc rw\n"
        "41 22 0:35 / /run rw - tmpfs tmpfs rw\n";
    EXPECT_EQ(network_mounts(text, "/"), (Paths{"/misc", "/mnt/a b", "/mnt/nas", "/run/user/1000/gvfs"}));
}

TEST(NetworkMounts, WhatLiesOverAnAutomountCounts) {
    const auto* text =
        "40 22 0:34 / /boot rw - autofs systemd-1 rw\n"
        "41 40 8:1 / /boot rw - vfat /dev/sda1 rw\n";
    EXPECT_EQ(network_mounts(text, "/"), Paths{});
}

TEST(NetworkMounts, TheRootsOwnDoesNotCount) {
    const auto* text =
        "22 1 0:31 / / rw - nfs4 server:/ rw\n"
        "30 22 0:32 / /mnt/image rw - fuse.guestmount x rw\n"
        "31 30 0:33 / /mnt/image/nas rw - nfs server:/x rw\n";
    EXPECT_EQ(network_mounts(text, "/"), (Paths{"/mnt/image", "/mnt/image/nas"}));
    EXPECT_EQ(network_mounts(text, "/mnt/image"), Paths{"/mnt/image/nas"});
}

TEST(NetworkMounts, MalformedLinesAreLeftOut) {
    EXPECT_EQ(network_mounts("\n - \nx - nfs\n1 2 3 4 /a rw -\n1 2 3 4 /b rw - \n", "/"), Paths{});
    EXPECT_EQ(unmangle_mount_path("/a\\040\\134\\9\\04"), "/a \\\\9\\04");
}

}  // namespace
}  // namespace storpol
