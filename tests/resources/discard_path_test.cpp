// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/discard_path.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "engine/host/host.h"
#include "tests/resources/domain_run.h"

namespace storpol {
namespace {

constexpr const char* address = R"(mount["/"].discard-path)";

// ext4 at / on LUKS2 (dm-0, "root") on nvme0n1p2.
MemoryHost machine(const std::string& crypt_flags, int discards_since_boot) {
    const bool passes = crypt_flags.find("allow_discards") != std::string::npos;
    MemoryHost host;
    host.put_file("/proc/self/mountinfo", "25 1 254:0 / / rw,relatime shared:1 - ext4 /dev/mapper/root rw\n");
    host.put_file("/etc/fstab", "/dev/mapper/root / ext4 defaults 0 1\n");
    host.put_file("/sys/block/nvme0n1/dev", "259:0\n");
    host.put_file("/sys/block/nvme0n1/queue/discard_max_bytes", "2147483136\n");
    host.put_file("/sys/block/nvme0n1/stat",
                  "1 0 8 1 2 0 16 1 0 2 2 " + std::to_string(discards_since_boot) + " 0 8 1\n");
    host.put_file("/sys/block/nvme0n1/nvme0n1p2/dev", "259:2\n");
    host.put_file("/sys/block/dm-0/dev", "254:0\n");
    host.put_file("/sys/block/dm-0/dm/name", "root\n");
    host.put_file("/sys/block/dm-0/dm/uuid", "CRYPT-LUKS2-0123-root\n");
    host.put_file("/sys/block/dm-0/queue/discard_max_bytes", passes ? "2147483136\n" : "0\n");
    host.put_link("/sys/block/dm-0/slaves/nvme0n1p2", "../../../../pci0/block/nvme0n1/nvme0n1p2");
    host.put_link("/sys/dev/block/254:0", "../../devices/virtual/block/dm-0");
    host.put({QueryKind::dm_table, {"root"}}, {"target=crypt\nflags=" + crypt_flags + "\n", "", {}});
    host.refuse({QueryKind::luks, {"/dev/nvme0n1p2"}}, EACCES);
    return host;
}

DomainRun run(const std::string& policy, Host& host) {
    return {make_discard_path_resource(), "[discard]\n" + policy, host};
}

// The keys of the mount resource are not declared in these runs.
TEST(DiscardPathSetting, BlockedWayNamesTheLayer) {
    auto host = machine("", 0);
    const auto it = run("require-end-to-end = true\n", host);
    EXPECT_EQ(it.verdict(address, Plane::live), "drift");
    EXPECT_EQ(it.verdict(address, Plane::evidence), "absent") << "nothing can have arrived";
    EXPECT_NE(it.cannot(address, Plane::live).find("blocked by dm-crypt root"), std::string::npos);
    ASSERT_NE(it.finding("discard-blocked"), nullptr);
    EXPECT_NE(it.finding("discard-blocked")->says.find("allow_discards"), std::string::npos);
    EXPECT_TRUE(it.evaluation.plan.actions.empty()) << "the mapping's own setting acts";
}

TEST(DiscardPathSetting, OpenWayIsInSyncAndCountedDiscardsAreItsEvidence) {
    auto host = machine("allow_discards", 41230);
    const auto it = run("require-end-to-end = true\n", host);
    EXPECT_EQ(it.verdict(address, Plane::live), "in-sync");
    EXPECT_EQ(it.verdict(address, Plane::evidence), "in-sync");
    EXPECT_EQ(it.source(address, Plane::evidence), "/sys/block/nvme0n1/stat");
}

TEST(DiscardPathSetting, HeaderThatSaysSoAlreadyLeavesItToTheNextBoot) {
    auto host = machine("", 0);
    host.put({QueryKind::luks, {"/dev/nvme0n1p2"}}, {"version=2\nflags=no-read-workqueue,allow-discards\n", "", {}});
    const auto it = run("require-end-to-end = true\n", host);
    const auto* state = it.setting(address);
    ASSERT_NE(state, nullptr);
    ASSERT_EQ(it.evaluation.plan.gaps.size(), 1U);
    EXPECT_EQ(it.evaluation.plan.gaps[0].waits, When::next_boot);
}

TEST(DiscardPathSetting, ParityArrayThatSomebodyVouchedForWaitsForItsAssembly) {
    MemoryHost host;
    host.put_file("/proc/self/mountinfo", "25 1 9:0 / / rw - ext4 /dev/md0 rw\n");
    host.put_link("/sys/dev/block/9:0", "../../devices/virtual/block/md0");
    host.put_file("/sys/block/md0/dev", "9:0\n");
    host.put_file("/sys/block/md0/md/level", "raid5\n");
    host.put_file("/sys/block/md0/queue/discard_max_bytes", "0\n");
    host.put_link("/sys/block/md0/slaves/sda", "../../../../pci0/block/sda");
    host.put_file("/sys/block/sda/dev", "8:0\n");
    host.put_file("/sys/block/sda/queue/discard_max_bytes", "2147450880\n");
    EXPECT_NE(run("require-end-to-end = true\n", host).cannot(address, Plane::live).find("md raid5 md0"),
              std::string::npos);
    host.put_file("/etc/modprobe.d/storpol.conf", "options raid456 devices_handle_discard_safely=Y\n");
    const auto it = run("require-end-to-end = true\n", host);
    ASSERT_EQ(it.evaluation.plan.gaps.size(), 1U);
    EXPECT_EQ(it.evaluation.plan.gaps[0].waits, When::next_boot);
}

TEST(DiscardPathSetting, NothingIsAskedForWithoutTheKey) {
    auto host = machine("", 0);
    EXPECT_EQ(run("require-end-to-end = false\n", host).setting(address), nullptr);
}

}  // namespace
}  // namespace storpol
