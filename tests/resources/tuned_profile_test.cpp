// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/tuned_profile.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "engine/host/host.h"
#include "resources/block/block.h"
#include "tests/resources/domain_run.h"

namespace storpol {
namespace {

using Lines = std::vector<TunedLine>;

TEST(TunedProfile, LinesAreReadAsConfigparserReadsThem) {
    EXPECT_EQ(
        parse_tuned("# c\n; c\n[main]\ninclude = a, b # why\n[disk]\nreadahead=>4096\ndevices=sda,\n  sdb\n  !sdc\n"
                    "no equals\n[sysctl]\nkernel.x=a#b\n"),
        (Lines{{"main", "include", "a, b", 4},
               {"disk", "readahead", ">4096", 6},
               {"disk", "devices", "sda, sdb !sdc", 7},
               {"sysctl", "kernel.x", "a#b", 12}}));
    EXPECT_EQ(parse_tuned("  x=1\n=\n[\n[]\n"), (Lines{{"", "x", "1", 1}, {"", "", "", 2}}));
}

TEST(TunedProfile, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("no crash", [](const std::string& text) {
        for (const auto& line : parse_tuned(text)) RC_ASSERT(line.line > 0);
        MemoryHost host;
        host.put_file("/etc/tuned/active_profile", text);
        host.put_file("/etc/tuned/a/tuned.conf", text);
        static_cast<void>(read_tuned_profile(host));
    }));
}

std::string seen(MemoryHost& host) {
    std::string text;
    for (const auto& unit : read_tuned_profile(host)) {
        text += "[" + unit.name + ":" + unit.plugin + "]";
        for (const auto& option : unit.options) text += option.key + "=" + option.value + " ";
    }
    return text;
}

TEST(TunedProfile, WhatIsIncludedComesFirstAndLosesKeyByKey) {
    MemoryHost host;
    EXPECT_EQ(seen(host), "");
    host.put_file("/etc/tuned/active_profile", "site\n");
    host.put_file("/etc/tuned/profiles/site/tuned.conf", "[main]\ninclude=base\n[disk]\nelevator=bfq\n");
    host.put_file("/usr/lib/tuned/base/tuned.conf", "[disk]\nelevator=none\nreadahead=128\n[x]\ntype=sysctl\nvm.a=1\n");
    EXPECT_EQ(seen(host), "[disk:disk]elevator=bfq readahead=128 [x:sysctl]type=sysctl vm.a=1 ");
    host.put_file("/etc/tuned/profiles/site/tuned.conf",
                  "[main]\ninclude=base\n[disk]\nreplace=1\nelevator=bfq\n[x]\nenabled=false\n");
    EXPECT_EQ(seen(host), "[disk:disk]replace=1 elevator=bfq ");
}

TEST(TunedProfile, AProfileMayBuildOnTheOneOfItsOwnName) {
    MemoryHost host;
    host.put_file("/etc/tuned/active_profile", "base");
    host.put_file("/etc/tuned/profiles/base/tuned.conf", "[main]\ninclude=base\n[disk]\nelevator=bfq\n");
    host.put_file("/usr/lib/tuned/profiles/base/tuned.conf", "[main]\ninclude=base\n[disk]\nreadahead=1\n");
    EXPECT_EQ(seen(host), "[disk:disk]readahead=1 elevator=bfq ");
}

TEST(TunedProfile, AServiceThatIsSwitchedOffSetsNothing) {
    MemoryHost host;
    host.put_file("/etc/tuned/active_profile", "a");
    host.put_file("/etc/tuned/a/tuned.conf", "[disk]\nelevator=bfq\n");
    const auto with = [&](const std::string& unit) {
        host.put({QueryKind::unit, {"tuned.service"}}, Answer{unit, {}, {}});
        return seen(host);
    };
    EXPECT_EQ(with("LoadState=loaded\nUnitFileState=disabled\nActiveState=inactive\n"), "");
    EXPECT_EQ(with("LoadState=not-found\nActiveState=inactive\n"), "");
    EXPECT_NE(with("LoadState=loaded\nUnitFileState=disabled\nActiveState=active\n"), "");
    EXPECT_NE(with("LoadState=loaded\nUnitFileState=enabled\n"), "");
}

constexpr const char* tuned_conf = "/usr/lib/tuned/profiles/base/tuned.conf";
constexpr const char* sda_scheduler = R"(block["sda"].scheduler)";
constexpr const char* sda_read_ahead = R"(block["sda"].read-ahead)";

MemoryHost machine(const std::string& profile) {
    MemoryHost host;
    const auto put = [&](const std::string& name, const std::string& number, const std::string& place) {
        const auto sysfs = "/sys/block/" + name;
        host.put_file(sysfs + "/dev", number + "\n");
        host.put_file(sysfs + "/size", "1000\n");
        host.put_file(sysfs + "/removable", "0\n");
        host.put_file(sysfs + "/queue/scheduler", "[mq-deadline] bfq none\n");
        host.put_file(sysfs + "/queue/read_ahead_kb", "128\n");
        host.put_file(sysfs + "/queue/nr_requests", "64\n");
        host.put_link("/sys/dev/block/" + number, "../../devices/" + place + "/block/" + name);
        host.put_file("/run/udev/data/b" + number, "E:ID_BUS=ata\nE:ID_MODEL=Disk_" + name + "\n");
    };
    put("sda", "8:0", "pci/ata1");
    put("sdb", "8:16", "pci/ata2");
    put("nvme0n1", "259:0", "virtual/nvme-subsystem/nvme-subsys0");
    host.put_file("/etc/tuned/active_profile", "base\n");
    host.put_file(tuned_conf, profile);
    return host;
}

DomainRun run(const std::string& wanted, Host& host, const std::string& name = "sda") {
    return {make_block_resource(), "[[block]]\nmatch = { name = \"" + name + "\" }\n" + wanted + "\n", host};
}

// The persisted plane of sda's setting: "drift" and its source.
std::string persisted(const std::string& profile, const std::string& wanted, const std::string& address) {
    auto host = machine(profile);
    const auto it = run(wanted, host);
    return it.verdict(address, Plane::persisted) + " " + it.source(address, Plane::persisted);
}

TEST(TunedDisks, TheProfileWinsOverUdevAndIsNamed) {
    auto host = machine("[disk]\nelevator=none\n");
    host.put_file("/etc/udev/rules.d/60-io.rules", "KERNEL==\"sda\", ATTR{queue/scheduler}=\"bfq\"\n");
    const auto it = run("scheduler = \"bfq\"", host);
    EXPECT_EQ(it.verdict(sda_scheduler, Plane::persisted), "drift");
    EXPECT_EQ(it.source(sda_scheduler, Plane::persisted), std::string(tuned_conf) + ":2");
    EXPECT_EQ(it.setting(sda_scheduler)->on(Plane::persisted)->reading.shadows,
              std::vector<std::string>{"/etc/udev/rules.d/60-io.rules:1"});
    EXPECT_EQ(it.cannot(sda_scheduler, Plane::persisted), "overridden by " + std::string(tuned_conf) + ":2");
    EXPECT_EQ(it.file_after("/etc/udev/rules.d/99-storpol.rules"), "");
    ASSERT_NE(it.finding("tuned-sets-attribute"), nullptr);
    EXPECT_EQ(it.finding("tuned-sets-attribute")->where, std::string(tuned_conf) + ":2");
    EXPECT_NE(it.finding("tuned-sets-attribute")->says.find(sda_scheduler), std::string::npos);
}

TEST(TunedDisks, AProfileThatWantsTheSameIsInSync) {
    auto host = machine("[disk]\nelevator=bfq\n");
    const auto it = run("scheduler = \"bfq\"", host);
    EXPECT_EQ(it.verdict(sda_scheduler, Plane::persisted), "in-sync");
    EXPECT_EQ(it.finding("tuned-sets-attribute"), nullptr);
}

TEST(TunedDisks, OneFindingNamesALineForAllItsDisks) {
    auto host = machine("[disk]\nelevator=none\n");
    const auto it = run("scheduler = \"bfq\"", host, "sd*");
    int count = 0;
    for (const auto& finding : it.evaluation.findings) count += finding.code == "tuned-sets-attribute" ? 1 : 0;
    EXPECT_EQ(count, 1);
    EXPECT_NE(it.finding("tuned-sets-attribute")->says.find(R"(block["sdb"])"), std::string::npos);
}

TEST(TunedDisks, ReadAheadIsRaisedLoweredOrSet) {
    const std::string at = std::string(tuned_conf) + ":2";
    const auto raise = [&](const std::string& wanted) {
        return persisted("[disk]\nreadahead=>4096\n", "read-ahead = " + wanted, sda_read_ahead);
    };
    EXPECT_EQ(raise("\"128KiB\""), "drift " + at);
    EXPECT_EQ(raise("\"4MiB\""), "in-sync " + at);
    EXPECT_EQ(raise("{ at-least = \"1MiB\" }"), "in-sync " + at);
    EXPECT_EQ(persisted("[disk]\nreadahead=8192 s\n", "read-ahead = \"4MiB\"", sda_read_ahead), "in-sync " + at);
    EXPECT_EQ(persisted("[disk]\nreadahead=<4096\n", "read-ahead = \"4MiB\"", sda_read_ahead), "drift " + at);
    EXPECT_EQ(persisted("[disk]\nreadahead=<4096\n", "read-ahead = \"128KiB\"", sda_read_ahead), "in-sync " + at);
    EXPECT_EQ(persisted("[disk]\nreadahead=much\n", "read-ahead = \"4MiB\"", sda_read_ahead), "drift ");
    EXPECT_EQ(persisted("[disk]\nreadahead=>99999999999999999999\n", "read-ahead = \"4MiB\"", sda_read_ahead),
              "drift ");
    EXPECT_EQ(persisted("[disk]\nreadahead_multiply=2\n", "read-ahead = \"4MiB\"", sda_read_ahead), "unknown " + at);
}

TEST(TunedDisks, ARuleOfOursIsWrittenWhereTheProfileOnlyRaisesLowerValues) {
    auto host = machine("[disk]\nreadahead=>4096\n");
    const auto it = run("read-ahead = \"8MiB\"", host);
    EXPECT_NE(it.file_after("/etc/udev/rules.d/99-storpol.rules").find("8192"), std::string::npos);
    EXPECT_EQ(it.cannot(sda_read_ahead, Plane::persisted), "");
}

TEST(TunedDisks, DevicesNarrowWhatAUnitTakes) {
    const auto verdict = [](const std::string& narrowing, const std::string& disk = "sda") {
        auto host = machine("[disk]\nelevator=none\n" + narrowing);
        const auto it = run("scheduler = \"bfq\"", host, disk);
        return it.source("block[\"" + disk + "\"].scheduler", Plane::persisted).empty()
                   ? "left alone"
                   : it.verdict("block[\"" + disk + "\"].scheduler", Plane::persisted);
    };
    EXPECT_EQ(verdict("devices=sd*\n"), "drift");
    EXPECT_EQ(verdict("devices=sd[b-z]\n"), "left alone");
    EXPECT_EQ(verdict("devices=!sda\n"), "left alone");
    EXPECT_EQ(verdict("devices=!sdb, \n"), "drift");
    EXPECT_EQ(verdict("devices=${disks}\n"), "unknown");
    EXPECT_EQ(verdict("devices_udev_regex=^ID_BUS=ata$\n"), "drift");
    EXPECT_EQ(verdict("devices_udev_regex=ID_MODEL=.*sdb\n"), "left alone");
    EXPECT_EQ(verdict("devices_udev_regex=DEVNAME=/dev/sda\n"), "drift");
    EXPECT_EQ(verdict("devices_udev_regex=(ID_BUS=ata)|(ID_BUS=scsi)\n"), "unknown");
    EXPECT_EQ(verdict("devices_udev_regex=(((((a*)*)*)*)*)*$\n"), "unknown");
    EXPECT_EQ(verdict("uname_regex=aarch64\n"), "unknown");
    EXPECT_EQ(verdict("", "nvme0n1"), "left alone") << "below an NVMe subsystem the plugin takes none";
}

TEST(TunedDisks, ADiskBelongsToTheFirstUnitThatTakesIt) {
    const std::string profile = "[a]\ntype=disk\ndevices=sda\nelevator=bfq\n[disk]\nelevator=none\n";
    EXPECT_EQ(persisted(profile, "scheduler = \"bfq\"", sda_scheduler), "in-sync " + std::string(tuned_conf) + ":4");
    EXPECT_EQ(persisted("[a]\ntype=disk\nspindown=1\n[disk]\nelevator=none\n", "scheduler = \"bfq\"", sda_scheduler),
              "drift ");
    EXPECT_EQ(persisted("[a]\ntype=disk\nuname_regex=x\nspindown=1\n[disk]\nelevator=none\n", "scheduler = \"bfq\"",
                        sda_scheduler),
              "unknown " + std::string(tuned_conf) + ":6");
    EXPECT_EQ(persisted("[disk]\nelevator=none\n[a]\ntype=disk\npriority=-1\nelevator=bfq\n", "scheduler = \"bfq\"",
                        sda_scheduler),
              "in-sync " + std::string(tuned_conf) + ":6");
}

TEST(TunedDisks, PathsOfTheSysfsPluginCountToo) {
    const auto address = R"(block["sda"].nr-requests)";
    EXPECT_EQ(persisted("[sysfs]\n/sys/block/sd*/queue/nr_requests=256\n", "nr-requests = 512", address),
              "drift " + std::string(tuned_conf) + ":2");
    EXPECT_EQ(persisted("[sysfs]\n/sys/block/sdb/queue/nr_requests=256\n", "nr-requests = 512", address), "drift ");
    EXPECT_EQ(persisted("[sysfs]\n/sys/block/sda/queue/nr_requests=${n}\n", "nr-requests = 512", address),
              "unknown " + std::string(tuned_conf) + ":2");
}

TEST(TunedDisks, ASchedulerThatTheKernelRefusesIsNotSet) {
    EXPECT_EQ(persisted("[disk]\nelevator=deadline\n", "scheduler = \"bfq\"", sda_scheduler), "drift ");
}

}  // namespace
}  // namespace storpol
