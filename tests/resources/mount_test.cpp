// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/mount.h"

#include <gtest/gtest.h>

#include "engine/host/host.h"
#include "tests/resources/domain_run.h"

namespace storpol {
namespace {

// A host with ext4 on /home and /srv, xfs on /data and btrfs on /, all on disks that discard.
MemoryHost machine() {
    MemoryHost host;
    host.put_file("/proc/sys/kernel/osrelease", "6.12.0\n");
    host.put_file(
        "/proc/self/mountinfo",
        "25 1 0:31 /@ / rw,relatime shared:1 - btrfs /dev/sda2 "
        "rw,ssd,discard=async,space_cache=v2,subvolid=256,subvol=/@\n"
        "26 25 0:31 /@log /var/log rw,noatime shared:2 - btrfs /dev/sda2 "
        "rw,ssd,discard=async,space_cache=v2,subvolid=257,subvol=/@log\n"
        "27 25 8:3 / /home rw,nosuid,relatime shared:3 - ext4 /dev/sda3 rw,commit=30\n"
        "28 25 8:4 / /data rw,relatime shared:4 - xfs /dev/sda4 rw,attr2,inode64,logbufs=8,logbsize=32k,noquota\n"
        "29 25 0:40 / /net rw,relatime shared:5 - nfs4 server:/export rw,vers=4.2\n"
        "30 25 0:41 / /tmp rw,nosuid - tmpfs tmpfs rw\n"
        "31 28 8:4 /log /bind rw,relatime shared:4 - xfs /dev/sda4 rw,attr2,inode64,logbufs=8,logbsize=32k,noquota\n");
    host.put_file("/etc/fstab",
                  "# comment stays\n"
                  "UUID=1\t/\tbtrfs\tsubvol=@  0 0\n"
                  "UUID=1 /var/log btrfs noatime,subvol=@log 0 0\n"
                  "UUID=3 /home ext4 defaults,nosuid,nofail,commit=60 0 2\n"
                  "UUID=4 /data xfs defaults 0 0\n"
                  "/data/log /bind none bind 0 0\n"
                  "UUID=9 none swap sw 0 0\n");
    for (const auto* part : {"2", "3", "4"}) {
        const std::string number = std::string("8:") + part;
        host.put_file(std::string("/sys/block/sda/sda") + part + "/dev", number + "\n");
        host.put_link("/sys/dev/block/" + number, std::string("../../devices/pci/ata1/block/sda/sda") + part);
    }
    host.put_file("/sys/block/sda/dev", "8:0\n");
    host.put_file("/sys/block/sda/queue/discard_max_bytes", "2147450880\n");
    host.put_file("/sys/block/sda/queue/rotational", "0\n");
    host.put_file("/proc/fs/ext4/sda3/options", "rw\nbarrier\nnodiscard\ncommit=30\ndata=ordered\n");
    return host;
}

DomainRun run(const std::string& policy, Host& host, bool image = false) {
    return {make_mount_resource(), policy, host, image};
}

TEST(Mount, AnOptionIsComparedLiveAndPersistedByMeaning) {
    auto host = machine();
    const auto it = run("[[mount]]\nmatch = { target = \"/home\" }\noptions = [\"noatime\", \"commit=60\"]\n", host);
    const std::string commit = R"(mount["/home"].commit)";
    EXPECT_EQ(it.verdict(commit, Plane::live), "drift");
    EXPECT_EQ(it.source(commit, Plane::live), "/proc/fs/ext4/sda3/options");
    EXPECT_EQ(it.verdict(commit, Plane::persisted), "in-sync");
    EXPECT_EQ(it.source(commit, Plane::persisted), "/etc/fstab:4");
    const std::string atime = R"(mount["/home"].atime)";
    EXPECT_EQ(it.verdict(atime, Plane::persisted), "drift");
    EXPECT_EQ(it.source(atime, Plane::live), "/proc/self/mountinfo");
}

TEST(Mount, OneRemountNamesOnlyWhatChangesAndKnowsItsUndo) {
    auto host = machine();
    const auto it = run("[[mount]]\nmatch = { target = \"/home\" }\noptions = [\"noatime\", \"commit=60\"]\n", host);
    const auto* action = it.action(Verb::remount, "/home");
    ASSERT_NE(action, nullptr);
    const auto& step = std::get<Remount>(action->step);
    EXPECT_EQ(step.mount_id, "27");
    EXPECT_EQ(step.flags, std::vector<std::string>{"noatime"});
    EXPECT_EQ(step.parameters, std::vector<std::string>{"commit=60"});
    ASSERT_EQ(action->undo.size(), 1U);
    const auto& undo = std::get<Remount>(action->undo.front());
    EXPECT_EQ(undo.flags, std::vector<std::string>{"relatime"});
    EXPECT_EQ(undo.parameters, std::vector<std::string>{"commit=30"});
}

TEST(Mount, TheOptionsFieldChangesAndNoOtherByte) {
    auto host = machine();
    const auto it = run("[[mount]]\nmatch = { target = \"/home\" }\noptions = [\"noatime\", \"commit=300\"]\n", host);
    EXPECT_EQ(it.file_after("/etc/fstab"),
              "# comment stays\n"
              "UUID=1\t/\tbtrfs\tsubvol=@  0 0\n"
              "UUID=1 /var/log btrfs noatime,subvol=@log 0 0\n"
              "UUID=3 /home ext4 defaults,nosuid,nofail,commit=300,noatime 0 2\n"
              "UUID=4 /data xfs defaults 0 0\n"
              "/data/log /bind none bind 0 0\n"
              "UUID=9 none swap sw 0 0\n");
}

TEST(Mount, ADefaultTakesTheWordOutRatherThanWritingItDown) {
    auto host = machine();
    const auto it = run("[[mount]]\nmatch = { target = \"/home\" }\noptions = [\"commit=5\"]\n", host);
    EXPECT_NE(it.file_after("/etc/fstab").find("UUID=3 /home ext4 defaults,nosuid,nofail 0 2\n"), std::string::npos);
}

TEST(Mount, SubvolumesAreOneSettingOfTheShortestTarget) {
    auto host = machine();
    const auto it = run("[[mount]]\nmatch = { fstype = \"btrfs\" }\noptions = [\"nodiscard\", \"noatime\"]\n", host);
    const auto* discard = it.setting(R"(mount["/"].discard)");
    ASSERT_NE(discard, nullptr);
    EXPECT_EQ(discard->setting.also_at, std::vector<std::string>{"/var/log"});
    EXPECT_EQ(it.setting(R"(mount["/var/log"].discard)"), nullptr);
    EXPECT_EQ(it.verdict(R"(mount["/"].atime)", Plane::live), "drift");
    EXPECT_EQ(it.verdict(R"(mount["/var/log"].atime)", Plane::live), "in-sync") << "flags are of each mount";
    EXPECT_EQ(it.verdict(R"(mount["/"].discard)", Plane::persisted), "drift")
        << "without a word btrfs discards since 6.2";
    const auto after = it.file_after("/etc/fstab");
    EXPECT_NE(after.find("UUID=1\t/\tbtrfs\tsubvol=@,noatime,nodiscard  0 0\n"), std::string::npos) << after;
    EXPECT_NE(after.find("UUID=1 /var/log btrfs noatime,subvol=@log,nodiscard 0 0\n"), std::string::npos) << after;
}

TEST(Mount, BeforeKernel62ASilentBtrfsDoesNotDiscard) {
    auto host = machine();
    host.put_file("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    const auto it = run("[discard]\nfilesystem = \"periodic\"\n", host);
    EXPECT_EQ(it.verdict(R"(mount["/"].discard)", Plane::persisted), "in-sync");
}

TEST(Mount, PeriodicMeansNoDiscardWordAndContinuousMeansOne) {
    auto host = machine();
    const auto periodic = run("[discard]\nfilesystem = \"periodic\"\n", host);
    EXPECT_EQ(periodic.verdict(R"(mount["/home"].discard)", Plane::live), "in-sync");
    EXPECT_EQ(periodic.verdict(R"(mount["/data"].discard)", Plane::persisted), "in-sync");
    EXPECT_EQ(periodic.verdict(R"(mount["/"].discard)", Plane::live), "drift");
    const auto continuous = run("[[mount]]\nmatch = { target = \"/home\" }\ndiscard = \"continuous\"\n", host);
    EXPECT_EQ(continuous.verdict(R"(mount["/home"].discard)", Plane::live), "drift");
    EXPECT_NE(continuous.file_after("/etc/fstab").find("commit=60,discard 0 2"), std::string::npos);
}

TEST(Mount, AWordIsMoreExactThanTheRuleAndTheRuleThanTheTable) {
    auto host = machine();
    const auto it =
        run("[discard]\nfilesystem = \"periodic\"\n"
            "[[mount]]\nmatch = { target = \"/home\" }\ndiscard = \"continuous\"\n"
            "[[mount]]\nmatch = { target = \"/data\" }\noptions = [\"discard\"]\n",
            host);
    EXPECT_EQ(it.setting(R"(mount["/home"].discard)")->setting.wanted, "continuous");
    EXPECT_EQ(it.setting(R"(mount["/data"].discard)")->setting.wanted, "discard");
    EXPECT_EQ(it.setting(R"(mount["/"].discard)")->setting.wanted, "periodic");
}

TEST(Mount, WhatARemountCannotChangeWaitsForTheNextMount) {
    auto host = machine();
    const auto it = run("[[mount]]\nmatch = { target = \"/data\" }\noptions = [\"discard\"]\n", host);
    EXPECT_EQ(it.verdict(R"(mount["/data"].discard)", Plane::live), "drift");
    EXPECT_EQ(it.action(Verb::remount, "/data"), nullptr) << "xfs answers success and does nothing";
    ASSERT_EQ(it.evaluation.plan.gaps.size(), 1U);
    EXPECT_EQ(it.evaluation.plan.gaps[0].waits, When::next_mount);
    EXPECT_EQ(it.evaluation.plan.gaps[0].mount_id, "28");
    EXPECT_NE(it.action(Verb::edit, "/etc/fstab"), nullptr);
}

TEST(Mount, BindsAreLeftAloneUnlessARuleNamesThem) {
    auto host = machine();
    const auto by_type = run("[[mount]]\nmatch = { fstype = \"xfs\" }\noptions = [\"noatime\"]\n", host);
    EXPECT_EQ(by_type.setting(R"(mount["/bind"].atime)"), nullptr);
    const auto by_name = run("[[mount]]\nmatch = { target = \"/bind\" }\noptions = [\"noexec\", \"discard\"]\n", host);
    EXPECT_EQ(by_name.verdict(R"(mount["/bind"].noexec)", Plane::live), "drift");
    EXPECT_EQ(by_name.setting(R"(mount["/bind"].discard)"), nullptr);
    EXPECT_NE(by_name.file_after("/etc/fstab").find("/data/log /bind none bind,noexec 0 0\n"), std::string::npos);
}

TEST(Mount, NetworkAndPseudoFilesystemsAreNotMeantByAWildcard) {
    auto host = machine();
    const auto it = run("[[mount]]\nmatch = { target = \"*\" }\noptions = [\"noatime\"]\n", host);
    EXPECT_EQ(it.setting(R"(mount["/net"].atime)"), nullptr);
    EXPECT_EQ(it.setting(R"(mount["/tmp"].atime)"), nullptr);
    EXPECT_NE(it.finding("mount-left-out"), nullptr);
    const auto named = run("[[mount]]\nmatch = { fstype = \"tmpfs\" }\noptions = [\"noexec\"]\n", host);
    EXPECT_EQ(named.verdict(R"(mount["/tmp"].noexec)", Plane::live), "drift");
}

TEST(Mount, AnOptionOfAnotherFilesystemIsSkippedOrDriftThatNothingCures) {
    auto host = machine();
    const auto wildcard = run("[[mount]]\nmatch = { target = \"*\" }\noptions = [\"commit=300\"]\n", host);
    EXPECT_EQ(wildcard.setting(R"(mount["/data"].commit)"), nullptr);
    EXPECT_NE(wildcard.finding("option-not-of-filesystem"), nullptr);
    const auto named = run("[[mount]]\nmatch = { target = \"/data\" }\noptions = [\"commit=300\"]\n", host);
    EXPECT_EQ(named.verdict(R"(mount["/data"].commit)", Plane::persisted), "drift");
    EXPECT_NE(named.cannot(R"(mount["/data"].commit)", Plane::persisted).find("not an option of xfs"),
              std::string::npos);
    EXPECT_TRUE(named.evaluation.plan.actions.empty());
}

TEST(Mount, WordsThatNeverReachTheKernelHaveAPersistedPlaneOnly) {
    auto host = machine();
    const auto it = run(
        "[[mount]]\nmatch = { target = \"/data\" }\noptions = [\"nofail\", \"x-systemd.device-timeout=10s\"]\n", host);
    EXPECT_EQ(it.verdict(R"(mount["/data"].nofail)", Plane::live), "none");
    EXPECT_EQ(it.verdict(R"(mount["/data"].nofail)", Plane::persisted), "drift");
    EXPECT_NE(it.file_after("/etc/fstab").find("UUID=4 /data xfs defaults,nofail,x-systemd.device-timeout=10s 0 0\n"),
              std::string::npos);
    EXPECT_EQ(run("[[mount]]\nmatch = { target = \"/home\" }\noptions = [\"nofail\"]\n", host)
                  .verdict(R"(mount["/home"].nofail)", Plane::persisted),
              "in-sync");
}

TEST(Mount, AForbiddenOptionIsDriftWhereItHolds) {
    auto host = machine();
    const auto it = run("[[mount]]\nmatch = { fstype = \"btrfs\" }\nforbid = [\"discard\", \"autodefrag\"]\n", host);
    EXPECT_EQ(it.verdict(R"(mount["/"].discard)", Plane::live), "drift");
    EXPECT_EQ(it.verdict(R"(mount["/"].autodefrag)", Plane::live), "in-sync");
    const auto async = run("[[mount]]\nmatch = { fstype = \"btrfs\" }\nforbid = [\"discard=sync\"]\n", host);
    EXPECT_EQ(async.verdict(R"(mount["/"].discard)", Plane::live), "in-sync");
}

TEST(Mount, WantedAndForbiddenAtOnceIsAnError) {
    auto host = machine();
    const auto it =
        run("[[mount]]\nmatch = { fstype = \"btrfs\" }\noptions = [\"compress=zstd\"]\n"
            "[[mount]]\nmatch = { target = \"/\" }\nforbid = [\"compress\"]\n",
            host);
    EXPECT_NE(it.errors().find("forbidden here"), std::string::npos);
}

TEST(Mount, RulesThatPullOneSuperblockTwoWaysAreAnErrorNamingBoth) {
    auto host = machine();
    const auto it =
        run("[[mount]]\nmatch = { target = \"/\" }\noptions = [\"commit=300\"]\n"
            "[[mount]]\nmatch = { target = \"/var/log\" }\noptions = [\"commit=60\"]\n",
            host);
    EXPECT_NE(it.errors().find("contradicts \"commit=300\" at site.toml:4"), std::string::npos) << it.errors();
}

TEST(Mount, AMountThatNothingMakesHasNoPersistedPlaneAndAFinding) {
    auto host = machine();
    host.remove("/etc/fstab");
    const auto it = run("[[mount]]\nmatch = { target = \"/home\" }\noptions = [\"noatime\"]\n", host);
    EXPECT_EQ(it.verdict(R"(mount["/home"].atime)", Plane::persisted), "absent");
    EXPECT_NE(it.finding("mount-not-persisted"), nullptr);
    EXPECT_NE(it.action(Verb::remount, "/home"), nullptr);
}

TEST(Mount, AnUnreadableFstabIsUnknownAndNothingIsWritten) {
    auto host = machine();
    host.refuse({QueryKind::file, {"/etc/fstab"}}, 13);
    const auto it = run("[[mount]]\nmatch = { target = \"/home\" }\noptions = [\"noatime\"]\n", host);
    EXPECT_EQ(it.verdict(R"(mount["/home"].atime)", Plane::persisted), "unknown");
    EXPECT_EQ(it.action(Verb::edit, "/etc/fstab"), nullptr);
}

TEST(Mount, AStoreGeneratedFstabIsNotEdited) {
    auto host = machine();
    const auto text = *host.read_file("/etc/fstab");
    host.remove("/etc/fstab");
    host.put_file("/nix/store/abc-etc-fstab", text);
    host.put_link("/etc/fstab", "/nix/store/abc-etc-fstab");
    const auto it = run("[[mount]]\nmatch = { target = \"/home\" }\noptions = [\"noatime\"]\n", host);
    EXPECT_NE(it.cannot(R"(mount["/home"].atime)", Plane::persisted).find("/nix/store/abc-etc-fstab"),
              std::string::npos);
}

TEST(Mount, AUnitIsChangedByADropInWithItsWholeOptions) {
    auto host = machine();
    host.remove("/etc/fstab");
    host.put_file("/etc/systemd/system/home.mount",
                  "[Mount]\nWhat=/dev/sda3\nWhere=/home\nType=ext4\nOptions=nosuid,commit=60\n");
    host.put_file("/run/systemd/system/.keep", "");
    const auto it = run("[[mount]]\nmatch = { target = \"/home\" }\noptions = [\"noatime\"]\n", host);
    EXPECT_EQ(it.source(R"(mount["/home"].atime)", Plane::persisted), "/etc/systemd/system/home.mount:5");
    const auto drop_in = it.file_after("/etc/systemd/system/home.mount.d/50-storpol.conf");
    EXPECT_NE(drop_in.find("[Mount]\n"), std::string::npos);
    EXPECT_NE(drop_in.find("\nOptions=nosuid,commit=60,noatime\n"), std::string::npos);
    EXPECT_NE(it.action(Verb::daemon_reload, "systemd"), nullptr);
}

TEST(Mount, OfAUnitInEtcAndALineTheUnitApplies) {
    auto host = machine();
    host.put_file("/etc/systemd/system/home.mount", "[Mount]\nWhat=UUID=3\nWhere=/home\nType=ext4\nOptions=noatime\n");
    const auto it = run("[[mount]]\nmatch = { target = \"/home\" }\noptions = [\"noatime\"]\n", host);
    EXPECT_EQ(it.verdict(R"(mount["/home"].atime)", Plane::persisted), "in-sync");
    EXPECT_NE(it.finding("mounted-twice"), nullptr);
}

TEST(Mount, InAnImageLinesAreAllThereIs) {
    MemoryHost host;
    host.put_file(
        "/etc/fstab",
        "UUID=1 / btrfs subvol=@ 0 0\nUUID=1 /home/ btrfs subvol=@home 0 0\nUUID=7B11 /boot/efi vfat umask=0077 0 1\n"
        "bad line\n");
    const auto it = run("[[mount]]\nmatch = { target = \"*\" }\noptions = [\"noatime\", \"commit=300\"]\n", host, true);
    EXPECT_EQ(it.verdict(R"(mount["/"].commit)", Plane::persisted), "drift");
    EXPECT_EQ(it.verdict(R"(mount["/"].commit)", Plane::live), "none");
    EXPECT_NE(it.file_after("/etc/fstab").find("UUID=7B11 /boot/efi vfat umask=0077,noatime 0 1\nbad line\n"),
              std::string::npos)
        << it.file_after("/etc/fstab");
    ASSERT_NE(it.finding("fstab-line-rejected"), nullptr);
    EXPECT_EQ(it.finding("fstab-line-rejected")->where, "/etc/fstab:4");
}

TEST(Mount, ADiscardDefaultInTheSuperblockIsDriftInTheLine) {
    auto host = machine();
    host.put_file("/proc/fs/ext4/sda3/options", "rw\ndiscard\ncommit=30\n");
    const auto it = run("[discard]\nfilesystem = \"periodic\"\n", host);
    EXPECT_EQ(it.verdict(R"(mount["/home"].discard)", Plane::live), "drift");
    EXPECT_EQ(it.verdict(R"(mount["/home"].discard)", Plane::persisted), "drift");
    EXPECT_NE(it.file_after("/etc/fstab").find("commit=60,nodiscard 0 2"), std::string::npos);
}

TEST(Mount, AReadOnlyRemountIsDisruptive) {
    auto host = machine();
    const auto it = run("[[mount]]\nmatch = { target = \"/home\" }\noptions = [\"ro\"]\n", host);
    ASSERT_NE(it.action(Verb::remount, "/home"), nullptr);
    EXPECT_EQ(it.action(Verb::remount, "/home")->risk, Risk::disruptive);
}

// machine() with the disks told apart: / and /home on sda (SATA), /data through LUKS on an NVMe drive.
MemoryHost machine_with_disks() {
    auto host = machine();
    const auto put = [&](const std::string& name, const std::string& place) {
        host.put_link("/sys/dev/block/" + name, "../../devices/" + place);
    };
    put("8:0", "pci/ata1/host0/block/sda");
    put("8:4", "virtual/block/dm-0");
    host.put_file("/sys/block/sda/device/model", "  ST1000DM003 \"x\"  \n");
    host.put_file("/sys/block/sda/queue/rotational", "1\n");
    host.put_file("/sys/block/nvme0n1/dev", "259:0\n");
    host.put_file("/sys/block/nvme0n1/device/model", "Lexar NM790\n");
    host.put_file("/sys/block/nvme0n1/queue/rotational", "0\n");
    host.put_file("/sys/block/dm-0/dev", "8:4\n");
    host.put_file("/sys/block/dm-0/dm/uuid", "CRYPT-LUKS2-77-data\n");
    host.put_link("/sys/block/dm-0/slaves/nvme0n1", "../../../../pci/nvme/nvme0/block/nvme0n1");
    host.put_link("/sys/fs/btrfs/1/devices/sda2", "../../../../devices/pci/ata1/host0/block/sda/sda2");
    return host;
}

// The targets of which a rule with this match wants noatime.
std::vector<std::string> matched(const std::string& match, Host& host) {
    const auto it = run("[[mount]]\nmatch = { " + match + " }\noptions = [\"noatime\"]\n", host);
    std::vector<std::string> targets;
    for (const auto* target : {"/", "/data", "/home", "/tmp", "/var/log"}) {
        if (it.setting("mount[\"" + std::string(target) + "\"].atime") != nullptr) targets.emplace_back(target);
    }
    return targets;
}

TEST(Mount, RulesMatchByTheDisksBelow) {
    using Targets = std::vector<std::string>;
    auto host = machine_with_disks();
    EXPECT_EQ(matched("encrypted = true", host), (Targets{"/data"}));
    EXPECT_EQ(matched("encrypted = false", host), (Targets{"/", "/home", "/var/log"}));
    EXPECT_EQ(matched("rotational = true", host), (Targets{"/", "/home", "/var/log"}));
    EXPECT_EQ(matched("rotational = false", host), (Targets{"/data"}));
    EXPECT_EQ(matched("transport = \"nvme\"", host), (Targets{"/data"}));
    EXPECT_EQ(matched("transport = \"sata\", fstype = \"ext4\"", host), (Targets{"/home"}));
    EXPECT_EQ(matched("model = \"Lexar*\"", host), (Targets{"/data"}));
    EXPECT_EQ(matched("model = \"ST1000DM003 \\\"?\\\"\"", host), (Targets{"/", "/home", "/var/log"}));
    EXPECT_EQ(matched("model = \"[SL]*\"", host), Targets{}) << "globs know * and ? only";
    EXPECT_EQ(matched("fstype = \"tmpfs\", encrypted = false", host), Targets{}) << "no disk, no match";
}

TEST(Mount, OfSeveralDisksAnyOneSpinsAndAllHaveTheModel) {
    using Targets = std::vector<std::string>;
    auto host = machine_with_disks();
    host.put_link("/sys/fs/btrfs/1/devices/dm-0", "../../../../devices/virtual/block/dm-0");
    EXPECT_EQ(matched("fstype = \"btrfs\", encrypted = true", host), (Targets{"/", "/var/log"}));
    EXPECT_EQ(matched("fstype = \"btrfs\", rotational = true", host), (Targets{"/", "/var/log"}));
    EXPECT_EQ(matched("fstype = \"btrfs\", rotational = false", host), Targets{});
    EXPECT_EQ(matched("fstype = \"btrfs\", model = \"Lexar*\"", host), Targets{});
    EXPECT_EQ(matched("fstype = \"btrfs\", model = \"*\"", host), (Targets{"/", "/var/log"}));
    EXPECT_EQ(matched("fstype = \"btrfs\", transport = \"sata\"", host), Targets{});
}

TEST(Mount, DisksThatCannotBeSeenMatchNoRuleAndAreSaid) {
    auto host = machine_with_disks();
    host.refuse({QueryKind::list, {"/sys/block/dm-0/slaves"}}, 13);
    for (const auto* match : {"encrypted = true", "encrypted = false", "rotational = false", "transport = \"nvme\""}) {
        const auto it = run(
            "[[mount]]\nmatch = { target = \"/data\", " + std::string(match) + " }\noptions = [\"noatime\"]\n", host);
        EXPECT_TRUE(it.evaluation.settings.empty()) << match;
        ASSERT_NE(it.finding("backing-unknown"), nullptr) << match;
        EXPECT_EQ(it.finding("backing-unknown")->where, "site.toml:2:1");
    }
    MemoryHost image;
    image.put_file("/etc/fstab", "UUID=1 / ext4 defaults 0 1\n");
    EXPECT_TRUE(matched("encrypted = true", image).empty());
}

TEST(Mount, ALineThatIsNotMountedIsMatchedByItsSource) {
    auto host = machine_with_disks();
    host.put_file("/etc/fstab", "UUID=7 /backup ext4 noauto 0 0\n");
    host.put_link("/dev/disk/by-uuid/7", "../../sda3");
    const auto it = run("[[mount]]\nmatch = { transport = \"sata\" }\noptions = [\"noatime\"]\n", host);
    EXPECT_EQ(it.verdict(R"(mount["/backup"].atime)", Plane::persisted), "drift");
}

TEST(Mount, AnUnknownTransportIsAPolicyError) {
    const auto keys = std::vector<PolicyKeys>{make_mount_resource()->keys()};
    const auto loaded = load_policy_files(
        {{"p.toml",
          "version = 1\n[[mount]]\nmatch = { transport = \"nvne\", encrypted = \"yes\" }\noptions = [\"noatime\"]\n"}},
        keys);
    EXPECT_EQ(loaded.errors.size(), 2U);
}

}  // namespace
}  // namespace storpol
