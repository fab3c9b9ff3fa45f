// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/md_raid.h"

#include <gtest/gtest.h>

#include "engine/host/host.h"
#include "tests/resources/domain_run.h"

namespace storpol {
namespace {

constexpr const char* address = "md-raid.raid456-discard";
constexpr const char* own_file = "/etc/modprobe.d/storpol.conf";
constexpr const char* live_file = "/sys/module/raid456/parameters/devices_handle_discard_safely";

void put_disk(MemoryHost& host, const std::string& name, const std::string& number, const std::string& model) {
    host.put_file("/sys/block/" + name + "/dev", number + "\n");
    host.put_file("/sys/block/" + name + "/device/model", model + "\n");
    host.put_link("/sys/block/md0/slaves/" + name, "../../../../pci0/block/" + name);
}

MemoryHost machine(const std::string& level) {
    MemoryHost host;
    host.put_file("/sys/block/md0/dev", "9:0\n");
    host.put_file("/sys/block/md0/md/level", level + "\n");
    put_disk(host, "sda", "8:0", "Samsung SSD 860 EVO 1TB");
    put_disk(host, "sdb", "8:16", "Samsung SSD 870 EVO 1TB");
    host.put_file(live_file, "N\n");
    return host;
}

DomainRun run(const std::string& models, Host& host) {
    return {make_md_raid_resource(), "[discard]\nmd-raid456-discard = [" + models + "]\n", host};
}

TEST(MdRaid, EveryMemberVouchedForTurnsItOn) {
    auto host = machine("raid5");
    const auto it = run(R"("Samsung SSD 8*")", host);
    EXPECT_EQ(it.verdict(address, Plane::live), "drift");
    EXPECT_EQ(it.verdict(address, Plane::persisted), "drift");
    ASSERT_NE(it.action(Verb::write, live_file), nullptr);
    EXPECT_NE(it.file_after(own_file).find("options raid456 devices_handle_discard_safely=Y\n"), std::string::npos);
}

TEST(MdRaid, OneMemberThatIsNotVouchedForKeepsItOff) {
    auto host = machine("raid6");
    put_disk(host, "sdc", "8:32", "WDC WD40EFRX");
    const auto it = run(R"("Samsung SSD 8*")", host);
    EXPECT_EQ(it.verdict(address, Plane::live), "in-sync") << "N is what is wanted then";
    EXPECT_EQ(it.verdict(address, Plane::persisted), "in-sync");
    ASSERT_NE(it.finding("md-raid456-not-vouched"), nullptr);
    EXPECT_NE(it.finding("md-raid456-not-vouched")->says.find("sdc (WDC WD40EFRX) in md0"), std::string::npos);
}

TEST(MdRaid, EmptyListMeansOff) {
    auto host = machine("raid5");
    host.put_file(live_file, "Y\n");
    host.put_file("/etc/modprobe.d/raid.conf", "# x\noptions raid456 \\\n  devices_handle_discard_safely=1\n");
    const auto it = run("", host);
    EXPECT_EQ(it.verdict(address, Plane::live), "drift");
    EXPECT_EQ(it.source(address, Plane::persisted), "/etc/modprobe.d/raid.conf:2");
    EXPECT_NE(it.file_after(own_file).find("=N\n"), std::string::npos);
}

TEST(MdRaid, LaterFileNamesAndHigherDirectoriesWin) {
    auto host = machine("raid5");
    host.put_file("/usr/lib/modprobe.d/zz.conf", "options raid456 devices_handle_discard_safely=Y\n");
    host.put_file("/etc/modprobe.d/zz.conf", "options raid456 devices-handle-discard-safely=N\n");
    host.put_file("/etc/modprobe.d/aa.conf", "options raid456 devices_handle_discard_safely=Y\n");
    const auto it = run(R"("Samsung*")", host);
    EXPECT_EQ(it.source(address, Plane::persisted), "/etc/modprobe.d/zz.conf:1");
    EXPECT_EQ(it.verdict(address, Plane::persisted), "drift");
    // It holds over whatever our file says, so nothing is written, and no initramfs made for nothing.
    EXPECT_NE(it.cannot(address, Plane::persisted).find("overridden by /etc/modprobe.d/zz.conf:1"), std::string::npos);
    EXPECT_EQ(it.file_after(own_file), "");
}

TEST(MdRaid, ArraysWithoutParityHaveNoSuchSetting) {
    auto host = machine("raid1");
    EXPECT_EQ(run(R"("Samsung*")", host).setting(address), nullptr);
}

}  // namespace
}  // namespace storpol
