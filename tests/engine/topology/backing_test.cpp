// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/backing.h"

#include <gtest/gtest.h>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/topology.h"

namespace storpol {
namespace {

void put_device(MemoryHost& host, const std::string& name, const std::string& number, const std::string& place) {
    host.put_file("/sys/block/" + name + "/dev", number + "\n");
    host.put_file("/sys/block/" + name + "/queue/rotational", "0\n");
    host.put_link("/sys/dev/block/" + number, "../../devices/" + place + "/block/" + name);
}

void put_partition(MemoryHost& host, const std::string& disk, const std::string& name, const std::string& number) {
    host.put_file("/sys/block/" + disk + "/" + name + "/dev", number + "\n");
    host.put_link("/sys/dev/block/" + number, "../../devices/pci/ata1/block/" + disk + "/" + name);
}

void put_below(MemoryHost& host, const std::string& name, const std::string& below) {
    const auto at = below.find('/');  // "sda/sda2" is a partition
    const auto last = at == std::string::npos ? below : below.substr(at + 1);
    host.put_link("/sys/block/" + name + "/slaves/" + last, "../../../../pci/ata1/block/" + below);
}

void put_mapping(MemoryHost& host,
                 const std::string& name,
                 const std::string& number,
                 const std::string& uuid,
                 const std::string& below) {
    put_device(host, name, number, "virtual");
    host.put_file("/sys/block/" + name + "/dm/uuid", uuid + "\n");
    if (!below.empty()) put_below(host, name, below);
}

// sda2 -> LUKS (dm-0) -> logical volume (dm-1); sdb spins; nvme0n1 bare.
MemoryHost machine() {
    MemoryHost host;
    put_device(host, "sda", "8:0", "pci/ata1");
    put_partition(host, "sda", "sda2", "8:2");
    put_mapping(host, "dm-0", "253:0", "CRYPT-LUKS2-0123-root", "sda/sda2");
    put_mapping(host, "dm-1", "253:1", "LVM-abcdef", "dm-0");
    put_device(host, "sdb", "8:16", "pci/ata2");
    host.put_file("/sys/block/sdb/queue/rotational", "1\n");
    put_device(host, "nvme0n1", "259:0", "pci/nvme/nvme0");
    put_partition(host, "nvme0n1", "nvme0n1p3", "259:3");
    return host;
}

std::string seen(const Backing& backing) {
    std::string text;
    for (const auto* disk : backing.disks) text += disk->device.name + " ";
    text += !backing.is_encrypted ? "encrypted?" : *backing.is_encrypted ? "encrypted" : "plain";
    return text + (backing.unknown.empty() ? "" : "; " + backing.unknown);
}

std::string below(MemoryHost& host,
                  const std::string& number,
                  const std::string& fstype = "ext4",
                  const std::string& source = "") {
    const Topology topology(host);
    Superblock superblock;
    superblock.device = number;
    superblock.fstype = fstype;
    superblock.source = source;
    return seen(backings(topology, host).of(superblock));
}

bool is_unknown(const std::string& text, const std::string& why) {
    return text.find("encrypted?; ") != std::string::npos && text.find(why) != std::string::npos;
}

TEST(Backing, APartitionLiesOnItsDisk) {
    auto host = machine();
    EXPECT_EQ(below(host, "8:2"), "sda plain");
    EXPECT_EQ(below(host, "259:3"), "nvme0n1 plain");
}

TEST(Backing, AMappingIsFollowedThroughEncryptionToTheDisk) {
    auto host = machine();
    EXPECT_EQ(below(host, "253:1"), "sda encrypted");
    EXPECT_EQ(below(host, "253:0"), "sda encrypted");
}

TEST(Backing, CryptsetupsOtherMappingsEncryptNothing) {
    for (const std::string uuid : {"CRYPT-INTEGRITY-x", "CRYPT-VERITY-x", "CRYPT-SUBDEV-x", "LVM-x", "mpath-x"}) {
        auto host = machine();
        put_mapping(host, "dm-2", "253:2", uuid, "sdb");
        EXPECT_EQ(below(host, "253:2"), "sdb plain") << uuid;
    }
}

TEST(Backing, AMappingThatSaysNothingMayEncrypt) {
    auto host = machine();
    put_mapping(host, "dm-2", "253:2", "", "sdb");
    EXPECT_EQ(below(host, "253:2"), "sdb encrypted?");
    put_mapping(host, "dm-3", "253:3", "", "dm-0");
    EXPECT_EQ(below(host, "253:3"), "sda encrypted") << "what lies below it does for sure";
}

TEST(Backing, AnArrayLiesOnAllItsMembers) {
    auto host = machine();
    put_device(host, "md0", "9:0", "virtual");
    put_below(host, "md0", "sdb");
    put_below(host, "md0", "dm-1");
    EXPECT_EQ(below(host, "9:0"), "sda sdb encrypted");
}

TEST(Backing, BtrfsLiesOnAllItsMembersAndNotOnItsSourceAlone) {
    auto host = machine();
    host.put_file("/sys/fs/btrfs/features/skinny_metadata", "1\n");
    const std::string devices = "/sys/fs/btrfs/1b2c/devices/";
    host.put_link(devices + "dm-0", "../../../../devices/virtual/block/dm-0");
    host.put_link(devices + "nvme0n1p3", "../../../../devices/pci/nvme/nvme0/block/nvme0n1/nvme0n1p3");
    EXPECT_EQ(below(host, "0:31", "btrfs", "/dev/nvme0n1p3"), "nvme0n1 sda encrypted");
    EXPECT_TRUE(is_unknown(below(host, "0:31", "btrfs", "/dev/sdb"), "members of the btrfs on /dev/sdb"));
    EXPECT_TRUE(is_unknown(below(host, "0:31", "btrfs", "/dev/nothing"), "/dev/nothing is no device"));
    EXPECT_EQ(below(host, "0:50", "bcachefs", "/dev/sdb:/dev/sda2"), "sda sdb plain");
    EXPECT_TRUE(is_unknown(below(host, "0:50", "bcachefs", "/dev/sdb:/dev/sdq"), "/dev/sdq"));
}

TEST(Backing, ALoopDeviceLiesWhereItsFileDoes) {
    auto host = machine();
    host.put_file("/proc/self/mountinfo",
                  "25 1 259:3 / / rw - ext4 /dev/nvme0n1p3 rw\n"
                  "26 25 253:1 / /home rw - ext4 /dev/mapper/home rw\n"
                  "27 25 0:44 / /net rw - nfs4 server:/x rw\n");
    put_device(host, "loop0", "7:0", "virtual");
    const auto with_file = [&](const std::string& file) {
        host.put_file("/sys/block/loop0/loop/backing_file", file + "\n");
        return below(host, "7:0");
    };
    EXPECT_EQ(with_file("/home/user/image"), "sda encrypted");
    EXPECT_EQ(with_file("/homes/image"), "nvme0n1 plain");
    EXPECT_EQ(with_file("/image (deleted)"), "nvme0n1 plain");
    EXPECT_TRUE(is_unknown(with_file("/net/image"), "server:/x is no device"));
    EXPECT_TRUE(is_unknown(with_file("image"), "not known"));
    EXPECT_TRUE(is_unknown(with_file(""), "not known"));
}

TEST(Backing, AStackThatLeadsBackToItselfIsUnknown) {
    auto host = machine();
    put_mapping(host, "dm-2", "253:2", "LVM-x", "dm-2");
    EXPECT_TRUE(is_unknown(below(host, "253:2"), "back to itself"));
    put_mapping(host, "dm-3", "253:3", "LVM-x", "dm-4");
    put_mapping(host, "dm-4", "253:4", "LVM-x", "dm-3");
    EXPECT_TRUE(is_unknown(below(host, "253:4"), "back to itself"));
    host.put_file("/proc/self/mountinfo", "25 1 7:0 / / rw - ext4 /dev/loop0 rw\n");
    put_device(host, "loop0", "7:0", "virtual");
    host.put_file("/sys/block/loop0/loop/backing_file", "/image\n");
    EXPECT_TRUE(is_unknown(below(host, "7:0"), "back to itself"));
}

TEST(Backing, AnEndlessStackIsCutOff) {
    auto host = machine();
    for (int i = 10; i < 5000; ++i) {
        put_mapping(host, "dm-" + std::to_string(i), "253:" + std::to_string(i), "LVM-x",
                    "dm-" + std::to_string(i + 1));
    }
    EXPECT_TRUE(is_unknown(below(host, "253:10"), "deeper than any real one"));
}

TEST(Backing, WhatVanishedIsUnknown) {
    auto host = machine();
    host.remove("/sys/block/sdb/dev");
    EXPECT_TRUE(is_unknown(below(host, "8:16"), "sdb is not in sysfs"));
    put_mapping(host, "dm-2", "253:2", "LVM-x", "sdz");
    EXPECT_TRUE(below(host, "253:2").find("sdz is not in sysfs") != std::string::npos);
    EXPECT_TRUE(is_unknown(below(host, "99:9"), "99:9 is not in sysfs"));
    EXPECT_TRUE(is_unknown(below(host, ""), "no device"));
    host.refuse({QueryKind::list, {"/sys/block/dm-0/slaves"}}, 13);
    EXPECT_FALSE(below(host, "253:1").ends_with("encrypted")) << "what cannot be listed is not plain";
}

TEST(Backing, NamesWithStrangeBytesAreSurvived) {
    auto host = machine();
    put_mapping(host, "dm-2", "253:2", "CRYPT-LUKS2-\"*,\\x-", "");
    host.put_link("/sys/block/dm-2/slaves/..x", "..");
    host.put_link("/sys/block/dm-2/slaves/p1", "/");
    host.put_link("/sys/block/dm-2/slaves/12", "../12");
    EXPECT_NE(below(host, "253:2").find("is not in sysfs"), std::string::npos);
    EXPECT_FALSE(find_block_device_at(host, "/dev/").has_value());
    EXPECT_FALSE(find_block_device_at(host, "/dev/1").has_value());
    EXPECT_EQ(block_device_of_link("").name, "");
}

TEST(Backing, EachDeviceIsAskedOnceForTheRun) {
    auto machine_host = machine();
    for (int i = 0; i < 50; ++i) {
        put_mapping(machine_host, "dm-1" + std::to_string(i), "253:1" + std::to_string(i), "LVM-x", "dm-0");
    }
    Picture host(machine_host);
    const Topology topology(host);
    const auto& all = backings(topology, host);
    Superblock superblock;
    superblock.fstype = "ext4";
    superblock.device = "253:1";
    const auto& first = all.of(superblock);
    const auto asked = host.questions();
    superblock.device = "253:10";
    EXPECT_EQ(seen(all.of(superblock)), seen(first));
    EXPECT_LE(host.questions() - asked, 7U) << "dm-10 itself, and nothing below dm-0 again";
    superblock.device = "253:1";
    EXPECT_EQ(&all.of(superblock), &first);
}

}  // namespace
}  // namespace storpol
