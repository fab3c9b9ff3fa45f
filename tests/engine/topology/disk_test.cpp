// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/disk.h"

#include <gtest/gtest.h>

#include "engine/host/host.h"

namespace storpol {
namespace {

void put_disk(MemoryHost& host, const std::string& name, const std::string& number, const std::string& place) {
    host.put_file("/sys/block/" + name + "/dev", number + "\n");
    host.put_file("/sys/block/" + name + "/size", "1000\n");
    host.put_file("/sys/block/" + name + "/queue/rotational", "0\n");
    host.put_link("/sys/dev/block/" + number, "../../devices/" + place + "/block/" + name);
}

TEST(BlockDevices, AreFoundByNumberAndPath) {
    MemoryHost host;
    put_disk(host, "nvme0n1", "259:0", "pci0000:00/nvme/nvme0");
    host.put_file("/sys/block/nvme0n1/nvme0n1p2/dev", "259:2\n");
    host.put_link("/sys/dev/block/259:2", "../../devices/pci0000:00/nvme/nvme0/block/nvme0n1/nvme0n1p2");
    const BlockDevice partition{"nvme0n1p2", "nvme0n1", "/sys/block/nvme0n1/nvme0n1p2"};
    EXPECT_EQ(find_block_device(host, "259:2"), partition);
    EXPECT_EQ(find_block_device_at(host, "/dev/nvme0n1p2"), partition);
    EXPECT_TRUE(find_block_device_at(host, "/dev/nvme0n1p2")->is_partition());
    EXPECT_EQ(find_block_device(host, "0:31"), std::nullopt);
    EXPECT_EQ(find_block_device_at(host, "server:/export"), std::nullopt);
    EXPECT_EQ(queue_attribute(host, partition, "rotational"), "0");
    EXPECT_EQ(queue_attribute(host, partition, "no_such"), std::nullopt);
}

TEST(BlockDevices, AMappingIsFoundByLinkOrByItsName) {
    MemoryHost host;
    put_disk(host, "dm-1", "253:1", "virtual");
    host.put_file("/sys/block/dm-1/dm/name", "vg-root\n");
    EXPECT_EQ(find_block_device_at(host, "/dev/mapper/vg-root")->name, "dm-1");
    host.put_link("/dev/mapper/other", "../dm-1");
    EXPECT_EQ(find_block_device_at(host, "/dev/mapper/other")->name, "dm-1");
    EXPECT_EQ(display_name(host, *find_block_device(host, "253:1")), "vg-root");
}

TEST(BlockDevices, TagsAreLinksAsUdevSpellsThem) {
    EXPECT_EQ(path_of_tag("UUID=12-AB"), "/dev/disk/by-uuid/12-AB");
    EXPECT_EQ(path_of_tag("LABEL=\"my disk\""), "/dev/disk/by-label/my\\x20disk");
    EXPECT_EQ(path_of_tag("/dev/sda1"), "/dev/sda1");
    EXPECT_EQ(path_of_tag("tmpfs=x"), "tmpfs=x");
}

TEST(Disks, TransportIsWhereTheDeviceHangs) {
    MemoryHost host;
    put_disk(host, "nvme0n1", "259:0", "pci0000:00/0000:00:1d.0/nvme/nvme0");
    put_disk(host, "sda", "8:0", "pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0");
    put_disk(host, "sdb", "8:16", "pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0");
    put_disk(host, "vda", "254:0", "pci0000:00/0000:00:05.0/virtio2");
    host.put_file("/sys/block/sda/device/model", "Samsung SSD 860 \n");
    host.put_file("/sys/block/sda/device/vendor", "ATA     \n");
    host.put_file("/sys/block/vda/serial", "abc\n");
    const auto disks = read_disks(host);
    ASSERT_EQ(disks.size(), 4U);
    EXPECT_EQ(disks[0].transport, "nvme");
    EXPECT_EQ(disks[1].transport, "sata");
    EXPECT_EQ(disks[1].model, "Samsung SSD 860");
    EXPECT_EQ(disks[2].transport, "usb");
    EXPECT_EQ(disks[3].transport, "virtio");
    EXPECT_EQ(disks[3].identity, "abc");
    EXPECT_FALSE(disks[0].is_virtual);
}

TEST(Disks, PathsOfAMultipathDeviceAreKnownAsSuch) {
    MemoryHost host;
    put_disk(host, "sdb", "8:16", "x");
    put_disk(host, "dm-1", "253:1", "virtual");
    host.put_file("/sys/block/dm-1/dm/name", "mpatha\n");
    host.put_file("/sys/block/dm-1/dm/uuid", "mpath-36001405\n");
    host.put_link("/sys/block/dm-1/slaves/sdb", "../../sdb");
    const auto disks = read_disks(host);
    ASSERT_EQ(disks.size(), 2U);
    EXPECT_TRUE(disks[0].is_multipath);
    EXPECT_FALSE(disks[0].is_virtual);
    EXPECT_EQ(disks[0].name, "mpatha");
    EXPECT_EQ(disks[0].identity, "mpath-36001405");
    EXPECT_TRUE(disks[1].is_path);
}

TEST(Disks, UnusedLoopsAreNone) {
    MemoryHost host;
    put_disk(host, "loop0", "7:0", "virtual");
    host.put_file("/sys/block/loop0/size", "0\n");
    EXPECT_TRUE(read_disks(host).empty());
}

}  // namespace
}  // namespace storpol
