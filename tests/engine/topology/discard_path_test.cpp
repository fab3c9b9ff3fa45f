// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/discard_path.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "engine/host/host.h"
#include "engine/topology/topology.h"

namespace storpol {
namespace {

using Verdict = DiscardPath::Verdict;

// A machine with one ext4 at /, whose stack a test puts together device by device.
class DiscardPathTest : public testing::Test {
  protected:
    void put_disk(const std::string& name, const std::string& number, std::uint64_t max, std::uint64_t hardware) {
        put_device(name, number, max, hardware);
        host_.put_file("/sys/block/" + name + "/device/model", "A drive\n");
        host_.put_file("/sys/block/" + name + "/queue/rotational", "0\n");
    }

    void put_device(const std::string& name, const std::string& number, std::uint64_t max, std::uint64_t hardware) {
        const auto sysfs = "/sys/block/" + name;
        host_.put_file(sysfs + "/dev", number + "\n");
        host_.put_file(sysfs + "/queue/discard_max_bytes", std::to_string(max) + "\n");
        host_.put_file(sysfs + "/queue/discard_max_hw_bytes", std::to_string(hardware) + "\n");
        host_.put_file(sysfs + "/queue/discard_granularity", max == 0 ? "0\n" : "512\n");
        host_.put_link("/sys/dev/block/" + number, "../../devices/virtual/block/" + name);
    }

    void put_dm(const std::string& name,
                const std::string& number,
                const std::string& mapping,
                std::uint64_t max,
                const std::string& table) {
        put_device(name, number, max, max);
        host_.put_file("/sys/block/" + name + "/dm/name", mapping + "\n");
        host_.put_file("/sys/block/" + name + "/dm/uuid", "LVM-" + mapping + "\n");
        host_.put({QueryKind::dm_table, {mapping}}, {table, "", {}});
    }

    void put_partition(const std::string& name, const std::string& disk, const std::string& number) {
        host_.put_file("/sys/block/" + disk + "/" + name + "/dev", number + "\n");
        host_.put_file("/sys/block/" + disk + "/" + name + "/partition", "1\n");
        host_.put_link("/sys/dev/block/" + number, "../../devices/pci0/block/" + disk + "/" + name);
    }

    // `below` as its link in slaves/ has it: "nvme0n1", or "nvme0n1/nvme0n1p3" for a partition.
    void put_below(const std::string& name, const std::string& below) {
        const auto slash = below.rfind('/');
        const auto own = slash == std::string::npos ? below : below.substr(slash + 1);
        host_.put_link("/sys/block/" + name + "/slaves/" + own, "../../../../pci0/block/" + below);
    }

    DiscardPath path(const std::string& number, const std::string& fstype = "ext4", const std::string& source = "x") {
        const Topology topology(host_);
        Superblock superblock;
        superblock.device = number;
        superblock.fstype = fstype;
        superblock.source = source;
        topologies_.push_back(std::make_unique<Topology>(host_));
        return find_discard_path(superblock, *topologies_.back(), host_);
    }

    // The LUKS laptop: ext4 on an LV on dm-crypt on a partition of an NVMe drive.
    void put_laptop(const std::string& crypt_flags, std::uint64_t crypt_max, std::uint64_t lv_max) {
        put_disk("nvme0n1", "259:0", 2147483136, 2147483136);
        put_partition("nvme0n1p3", "nvme0n1", "259:3");
        put_dm("dm-0", "254:0", "cryptdata", crypt_max, "target=crypt\nflags=" + crypt_flags + "\nkey=keyring\n");
        put_below("dm-0", "nvme0n1/nvme0n1p3");
        put_dm("dm-1", "254:1", "vg-root", lv_max, "target=linear\n");
        put_below("dm-1", "dm-0");
    }

    MemoryHost host_;
    std::vector<std::unique_ptr<Topology>> topologies_;  // what layers point into
};

TEST_F(DiscardPathTest, EveryLayerPassingReachesTheDevice) {
    put_laptop("allow_discards", 2147483136, 2147483136);
    const auto found = path("254:1");
    EXPECT_EQ(found.verdict, Verdict::reaches) << found.why;
    ASSERT_EQ(found.hops.size(), 4U);
    EXPECT_EQ(found.hops[0].layer->name, "vg-root");
    EXPECT_EQ(found.hops[2].layer->kind, LayerKind::partition);
    EXPECT_EQ(found.hops[3].layer->kind, LayerKind::disk);
    EXPECT_EQ(found.hops[3].depth, 3U);
    EXPECT_EQ(found.hops[3].max_bytes, 2147483136U);
}

TEST_F(DiscardPathTest, CryptWithoutTheFlagBlocksAndNotTheVolumeAboveIt) {
    put_laptop("", 0, 0);
    const auto found = path("254:1");
    ASSERT_EQ(found.blockers.size(), 1U);
    EXPECT_EQ(found.first_blocker()->layer->name, "cryptdata");
    EXPECT_EQ(summary_of(found), "blocked by dm-crypt cryptdata");
    EXPECT_EQ(found.hops[0].blocks, "") << "it refuses only because of what lies below";
    EXPECT_NE(found.first_blocker()->cost, "") << "the trade-off belongs to the cure";
}

TEST_F(DiscardPathTest, VolumeThatKeptItsOldLimitIsStale) {
    put_laptop("allow_discards", 2147483136, 0);
    const auto found = path("254:1");
    ASSERT_EQ(found.blockers.size(), 1U);
    EXPECT_EQ(found.first_blocker()->layer->name, "vg-root");
    EXPECT_NE(found.first_blocker()->cure.find("same table once more"), std::string::npos);
}

TEST_F(DiscardPathTest, VolumeThatGoesOnAcceptingIsNoSuccess) {
    put_laptop("", 0, 2147483136);
    const auto found = path("254:1");
    EXPECT_EQ(summary_of(found), "blocked by dm-crypt cryptdata");
    EXPECT_NE(found.hops[0].note.find("still accepts"), std::string::npos) << "fstrim reports bytes there";
}

TEST_F(DiscardPathTest, WithoutTheTableTheLimitTells) {
    put_laptop("", 0, 0);
    host_.refuse({QueryKind::dm_table, {"cryptdata"}}, EACCES);
    host_.put_file("/sys/block/dm-0/dm/uuid", "CRYPT-LUKS2-0123-cryptdata\n");
    EXPECT_EQ(summary_of(path("254:1")), "blocked by dm-crypt cryptdata");
}

TEST_F(DiscardPathTest, IntegrityNeverPasses) {
    put_disk("sdb", "8:16", 2147450880, 2147450880);
    put_dm("dm-0", "254:0", "sec_dif", 0, "target=integrity\nflags=\n");
    put_below("dm-0", "sdb");
    put_dm("dm-1", "254:1", "sec", 0, "target=crypt\nflags=allow_discards\nintegrity=aead\n");
    put_below("dm-1", "dm-0");
    const auto found = path("254:1");
    EXPECT_EQ(found.verdict, Verdict::blocked);
    EXPECT_NE(found.first_blocker()->blocks.find("integrity"), std::string::npos);
}

TEST_F(DiscardPathTest, ThinPoolIsJudgedByItsStatus) {
    put_disk("sda", "8:0", 2147450880, 2147450880);
    put_dm("dm-1", "253:1", "vg-pool_tdata", 2147450880, "target=linear\n");
    put_below("dm-1", "sda");
    put_dm("dm-4", "253:4", "vg-pool-tpool", 0, "target=thin-pool\nfeatures=\n");
    put_below("dm-4", "dm-1");
    put_dm("dm-5", "253:5", "vg-thin", 17179869184, "target=thin\n");
    put_below("dm-5", "dm-4");
    host_.put({QueryKind::dm_status, {"vg-pool-tpool"}}, {"features=no_discard_passdown\n", "", {}});
    EXPECT_EQ(summary_of(path("253:5")), "blocked by thin-pool vg-pool-tpool");
    host_.put({QueryKind::dm_status, {"vg-pool-tpool"}}, {"features=discard_passdown\n", "", {}});
    EXPECT_EQ(path("253:5").verdict, Verdict::reaches);
    host_.refuse({QueryKind::dm_status, {"vg-pool-tpool"}}, EACCES);
    EXPECT_EQ(path("253:5").verdict, Verdict::unknown) << "without an answer nothing is claimed";
}

TEST_F(DiscardPathTest, PoolMetadataIsNoPartOfThePath) {
    put_disk("sda", "8:0", 2147450880, 2147450880);
    put_disk("sdb", "8:16", 0, 0);
    put_dm("dm-1", "253:1", "vg-pool_tdata", 2147450880, "target=linear\n");
    put_below("dm-1", "sda");
    put_dm("dm-2", "253:2", "vg-pool_tmeta", 0, "target=linear\n");
    put_below("dm-2", "sdb");
    put_dm("dm-4", "253:4", "vg-pool-tpool", 0, "target=thin-pool\nfeatures=\ndata=253:1\n");
    put_below("dm-4", "dm-1");
    put_below("dm-4", "dm-2");
    host_.put({QueryKind::dm_status, {"vg-pool-tpool"}}, {"features=discard_passdown\n", "", {}});
    EXPECT_EQ(path("253:4").verdict, Verdict::reaches);
}

TEST_F(DiscardPathTest, MirrorWithOneDeafMemberIsBlockedByThatMember) {
    put_disk("sda", "8:0", 2147450880, 2147450880);
    put_disk("sdc", "8:32", 0, 0);
    put_device("md0", "9:0", 2147450880, 2147450880);
    host_.put_file("/sys/block/md0/md/level", "raid1\n");
    put_below("md0", "sda");
    put_below("md0", "sdc");
    const auto found = path("9:0");
    ASSERT_EQ(found.blockers.size(), 1U) << "the array itself advertises discards";
    EXPECT_EQ(found.first_blocker()->layer->name, "sdc");
}

TEST_F(DiscardPathTest, ParityRaidWaitsForSomebodyToVouch) {
    put_disk("sda", "8:0", 2147450880, 2147450880);
    put_device("md0", "9:0", 0, 0);
    host_.put_file("/sys/block/md0/md/level", "raid5\n");
    host_.put_file("/sys/module/raid456/parameters/devices_handle_discard_safely", "N\n");
    put_below("md0", "sda");
    const auto found = path("9:0");
    EXPECT_EQ(summary_of(found), "blocked by md raid5 md0");
    EXPECT_NE(found.first_blocker()->blocks.find("devices_handle_discard_safely"), std::string::npos);
}

TEST_F(DiscardPathTest, UsbBridgeInFullModeSaysSo) {
    put_disk("sda", "8:0", 0, 0);
    host_.put_file("/sys/block/sda/usb/idVendor", "04e8\n");
    host_.put_file("/sys/block/sda/device/scsi_disk/0:0:0:0/provisioning_mode", "full\n");
    const auto found = path("8:0");
    ASSERT_EQ(found.blockers.size(), 1U);
    EXPECT_NE(found.first_blocker()->blocks.find("provisioning_mode is full"), std::string::npos);
    EXPECT_EQ(found.first_blocker()->decided_by, "/sys/block/sda/device/scsi_disk/0:0:0:0/provisioning_mode");
}

TEST_F(DiscardPathTest, LimitThatSomebodyWroteIsToldFromADeviceWithout) {
    put_disk("sda", "8:0", 0, 2147450880);
    const auto found = path("8:0");
    ASSERT_EQ(found.blockers.size(), 1U);
    EXPECT_NE(found.first_blocker()->blocks.find("somebody wrote 0"), std::string::npos);
}

TEST_F(DiscardPathTest, EveryMemberOfABtrfsCounts) {
    put_disk("sda", "8:0", 2147450880, 2147450880);
    put_disk("sdb", "8:16", 0, 0);
    host_.put_link("/sys/fs/btrfs/1234/devices/sda", "../../../../devices/pci0/block/sda");
    host_.put_link("/sys/fs/btrfs/1234/devices/sdb", "../../../../devices/pci0/block/sdb");
    const auto found = path("0:40", "btrfs", "/dev/sda");
    ASSERT_EQ(found.blockers.size(), 1U);
    EXPECT_EQ(found.first_blocker()->layer->name, "sdb");
}

TEST_F(DiscardPathTest, DeadEndsSayWhatTheyAre) {
    EXPECT_EQ(path("0:50", "zfs", "tank/home").verdict, Verdict::no_device);
    EXPECT_EQ(path("0:51", "nfs4", "server:/export").verdict, Verdict::no_device);
    EXPECT_EQ(path("0:52", "fuse.sshfs", "host:").verdict, Verdict::no_device);
    EXPECT_EQ(path("7:9").verdict, Verdict::unknown) << "a device that sysfs does not show";
}

TEST_F(DiscardPathTest, StackThatLeadsBackToItselfIsUnknown) {
    put_dm("dm-0", "254:0", "a", 512, "target=linear\n");
    put_dm("dm-1", "254:1", "b", 512, "target=linear\n");
    put_below("dm-0", "dm-1");
    put_below("dm-1", "dm-0");
    EXPECT_EQ(path("254:0").verdict, Verdict::unknown);
    put_dm("dm-2", "254:2", "c", 512, "target=linear\n");
    put_below("dm-2", "dm-2");
    EXPECT_EQ(path("254:2").verdict, Verdict::unknown);
}

TEST_F(DiscardPathTest, GarbageInLimitsIsNotKnown) {
    put_disk("sda", "8:0", 512, 512);
    for (const char* text : {"", "-1", "many", "99999999999999999999999"}) {
        host_.put_file("/sys/block/sda/queue/discard_max_bytes", text);
        EXPECT_EQ(path("8:0").verdict, Verdict::unknown) << text;
    }
}

}  // namespace
}  // namespace storpol
