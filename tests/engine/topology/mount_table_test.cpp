// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/mount_table.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace storpol {
namespace {

MountTable table(std::string_view text) {
    return MountTable(parse_mountinfo(text).mounts);
}

TEST(MountTable, SubvolumesAreOneSuperblockByItsShortestTarget) {
    const auto mounts = table(
        "26 25 0:34 /@log /var/log rw,noatime - btrfs /dev/nvme0n1p1 rw,subvol=/@log\n"
        "25 1 0:34 /@root / rw,noatime - btrfs /dev/nvme0n1p1 rw,subvol=/@root\n"
        "27 25 8:1 / /boot rw,relatime - ext4 /dev/sda1 rw\n");
    ASSERT_EQ(mounts.superblocks().size(), 2U);
    const auto& btrfs = mounts.superblocks()[0];
    ASSERT_EQ(btrfs.mounts.size(), 2U);
    EXPECT_EQ(mounts.mounts()[btrfs.mounts[0]].target, "/");
    EXPECT_EQ(mounts.mounts()[btrfs.mounts[1]].target, "/var/log");
    EXPECT_EQ(mounts.superblock_of(2)->fstype, "ext4");
}

TEST(MountTable, AMountUnderAnotherOneIsOutOfReach) {
    const auto mounts = table(
        "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "26 25 8:2 / /data rw - ext4 /dev/sda2 rw\n"
        "27 26 8:3 / /data rw - xfs /dev/sda3 rw\n"
        "28 26 8:4 / /data/sub rw - xfs /dev/sda4 rw\n"
        "29 27 8:5 / /data/top rw - xfs /dev/sda5 rw\n");
    EXPECT_FALSE(mounts.is_reachable(1)) << "covered by the mount on its own root";
    EXPECT_TRUE(mounts.is_reachable(2));
    EXPECT_FALSE(mounts.is_reachable(3)) << "its parent's root is covered";
    EXPECT_TRUE(mounts.is_reachable(4));
    EXPECT_EQ(mounts.at("/data"), 2U);
    EXPECT_EQ(mounts.at("/data/sub"), std::nullopt);
    EXPECT_EQ(mounts.superblock_of(1), nullptr);
}

TEST(MountTable, AMountOverAFolderAboveHidesWhatWasBelow) {
    const auto mounts = table(
        "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "26 25 8:2 / /srv/a/b rw - ext4 /dev/sda2 rw\n"
        "27 25 8:3 / /srv rw - xfs /dev/sda3 rw\n");
    EXPECT_FALSE(mounts.is_reachable(1));
    EXPECT_TRUE(mounts.is_reachable(2));
}

TEST(MountTable, ARootOverARootIsTheOneReached) {
    const auto mounts = table(
        "1 0 0:1 / / rw - rootfs rootfs rw\n"
        "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "26 25 8:2 / /home rw - ext4 /dev/sda2 rw\n");
    EXPECT_FALSE(mounts.is_reachable(0));
    EXPECT_EQ(mounts.at("/"), 1U);
    EXPECT_TRUE(mounts.is_reachable(2));
}

TEST(MountTable, LoopsAmongParentsEnd) {
    const auto mounts = table(
        "25 26 8:1 / /a rw - ext4 /dev/sda1 rw\n"
        "26 25 8:2 / /b rw - ext4 /dev/sda2 rw\n"
        "27 27 8:3 / / rw - ext4 /dev/sda3 rw\n");
    EXPECT_EQ(mounts.mounts().size(), 3U);
}

TEST(MountTable, AnyTextGivesATable) {
    EXPECT_TRUE(rc::check("no crash", [] {
        const auto mounts = table(*rc::gen::arbitrary<std::string>());
        RC_ASSERT(mounts.superblocks().size() <= mounts.mounts().size());
    }));
}

TEST(NormalTarget, SlashesAndDotsMakeNoDifference) {
    EXPECT_EQ(normal_target("/home/a/pictures/"), "/home/a/pictures");
    EXPECT_EQ(normal_target("//srv/./x//"), "/srv/x");
    EXPECT_EQ(normal_target("/"), "/");
    EXPECT_EQ(normal_target("none"), "/none");
}

}  // namespace
}  // namespace storpol
