// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "engine/model/record.h"
#include "engine/policy/load.h"
#include "resources/discard_path.h"
#include "tests/resources/dm_crypt_fixture.h"

namespace storpol {
namespace {

using namespace dm_crypt_test;

TEST(DmCrypt, AKeyThatNobodyMustTypeIsUsedNow) {
    MemoryHost host;
    fill(host, {});
    host.put_file("/etc/crypttab",
                  std::string("root UUID=") + uuid + " /etc/keys/root luks,keyfile-offset=16,keyfile-size=64\n");
    host.put_file("/etc/keys/root", "secret");
    const auto it = run(allow, host);
    const auto* refresh = it.action(Verb::refresh_mapping, "root");
    ASSERT_NE(refresh, nullptr);
    EXPECT_EQ(refresh->when, When::now);
    const auto& step = std::get<RefreshMapping>(refresh->step);
    EXPECT_EQ(step.key, KeySource(KeyFile{"/etc/keys/root", 16, 64}));
    EXPECT_EQ(step.dm_uuid, dm_uuid);
}

TEST(DmCrypt, TokensAndLinkedKeysAreKeysToo) {
    const auto key = [](const std::string& options, const std::string& tokens, const std::string& file) {
        MemoryHost host;
        Machine machine;
        machine.options = options;
        machine.header = "version=2\nflags=\ntokens=" + tokens + "\n";
        fill(host, machine);
        if (!file.empty()) host.put_file(file, "key");
        const auto it = run(allow, host);
        const auto* refresh = it.action(Verb::refresh_mapping, "root");
        EXPECT_NE(refresh, nullptr);
        return refresh == nullptr ? KeySource{} : std::get<RefreshMapping>(refresh->step).key;
    };
    EXPECT_EQ(key("luks", "systemd-tpm2", ""), KeySource(LuksToken{}));
    EXPECT_EQ(key("luks,tpm2-pin=yes", "systemd-tpm2", ""), KeySource(AskedPassphrase{}));
    EXPECT_EQ(key("luks", "systemd-fido2", ""), KeySource(AskedPassphrase{})) << "it asks to be touched";
    EXPECT_EQ(key("luks,link-volume-key=@u::%logon:cryptsetup:root", "", ""),
              KeySource(LinkedVolumeKey{"%logon:cryptsetup:root"}));
    EXPECT_EQ(key("luks", "", "/etc/cryptsetup-keys.d/root.key"),
              KeySource(KeyFile{"/etc/cryptsetup-keys.d/root.key", 0, 0}));
}

TEST(DmCrypt, WhatLiesAboveIsLoadedAnewAfterTheRefresh) {
    MemoryHost host;
    Machine machine;
    machine.above = "0";
    fill(host, machine);
    host.put_file("/etc/cryptsetup-keys.d/root.key", "key");
    const auto it = run(allow, host);
    const auto* refresh = it.action(Verb::refresh_mapping, "root");
    const auto* reload = it.action(Verb::reload_table, "vg-root");
    ASSERT_NE(refresh, nullptr);
    ASSERT_NE(reload, nullptr);
    EXPECT_EQ(reload->when, When::now);
    EXPECT_NE(std::find(reload->after.begin(), reload->after.end(), refresh->id), reload->after.end());
    EXPECT_EQ(std::get<ReloadTable>(reload->step).dm_uuid, "LVM-abc");
}

// The way from the filesystem to the disk is a setting of its own, which the mapping's actions close.
TEST(DmCrypt, TheDiscardPathOpensWithTheMapping) {
    const auto run_all = [](MemoryHost& host) {
        Resources all;
        all.push_back(make_discard_path_resource());
        all.push_back(make_dm_crypt_resource());
        all.push_back(make_mount_resource());
        return DomainRun(std::move(all), std::string(allow) + "require-end-to-end = true\n", host);
    };
    constexpr const char* path = R"(mount["/"].discard-path)";
    MemoryHost host;
    Machine machine;
    machine.above = "0";
    fill(host, machine);
    const auto waiting = run_all(host);
    EXPECT_EQ(waiting.verdict(path, Plane::live), "drift");
    EXPECT_EQ(waiting.cannot(path, Plane::live), "") << "the header flag does it at the next boot";
    host.put_file("/etc/cryptsetup-keys.d/root.key", "key");
    const auto now = run_all(host);
    EXPECT_EQ(now.cannot(path, Plane::live), "");
    for (const auto* action : {now.action(Verb::refresh_mapping, "root"), now.action(Verb::reload_table, "vg-root")}) {
        ASSERT_NE(action, nullptr);
        const SettingPlane of{path, Plane::live};
        EXPECT_NE(std::find(action->serves.begin(), action->serves.end(), of), action->serves.end());
    }
    for (const auto& gap : now.evaluation.plan.gaps) EXPECT_NE(gap.of.address, path);
}

TEST(DmCrypt, ThePathAboveAnOpenMappingOpensWithTheTablesThatAreLoadedAnew) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=2\nflags=allow-discards\n";
    machine.table = "allow_discards";
    machine.above = "0";
    fill(host, machine);
    Resources all;
    all.push_back(make_discard_path_resource());
    all.push_back(make_dm_crypt_resource());
    all.push_back(make_mount_resource());
    const DomainRun run(std::move(all), std::string(allow) + "require-end-to-end = true\n", host);
    constexpr const char* path = R"(mount["/"].discard-path)";
    EXPECT_EQ(run.verdict(path, Plane::live), "drift");
    EXPECT_EQ(run.cannot(path, Plane::live), "");
    const auto* reload = run.action(Verb::reload_table, "vg-root");
    ASSERT_NE(reload, nullptr);
    EXPECT_NE(std::ranges::find(reload->serves, SettingPlane{path, Plane::live}), reload->serves.end());
}

TEST(DmCrypt, WithoutASettingForTheMappingThePathStaysShut) {
    MemoryHost host;
    fill(host, {});
    Resources all;
    all.push_back(make_discard_path_resource());
    all.push_back(make_dm_crypt_resource());
    all.push_back(make_mount_resource());
    const DomainRun run(std::move(all), "[discard]\nfilesystem = \"periodic\"\nrequire-end-to-end = true\n", host);
    EXPECT_NE(run.cannot(R"(mount["/"].discard-path)", Plane::live).find("blocked by dm-crypt root"),
              std::string::npos);
}

TEST(DmCrypt, AThinPoolAboveIsLoadedAfterItsDataVolume) {
    MemoryHost host;
    Machine machine;
    machine.table = "allow_discards";
    machine.header = "version=2\nflags=allow-discards\n";
    machine.above = "0";
    fill(host, machine);
    host.put_file("/sys/block/dm-1/dm/name", "vg-pool_tdata\n");
    host.put({QueryKind::dm_table, {"vg-pool_tdata"}}, {"target=linear\n", "", {}});
    put_mapping(host, "dm-2", "254:2", "vg-pool-tpool", "LVM-abc-tpool", "dm-1", "0",
                "target=thin-pool\nfeatures=\ndata=254:1\n");
    host.put_link("/sys/block/dm-1/holders/dm-2", "../../dm-2");
    host.put({QueryKind::dm_status, {"vg-pool-tpool"}}, {"features=no_discard_passdown\n", "", {}});
    put_mapping(host, "dm-3", "254:3", "vg-thin", "LVM-def", "dm-2", "1000", "target=thin\n");
    host.put_file("/proc/self/mountinfo", "25 1 254:3 / / rw,relatime - ext4 /dev/mapper/vg-thin rw\n");
    // LVM keeps a linear volume of the pool's own name on it, which holds no data.
    put_mapping(host, "dm-4", "254:4", "vg-pool", "LVM-abc-pool", "dm-2", "0", "target=linear\n");
    host.put_link("/sys/block/dm-2/holders/dm-4", "../../dm-4");
    EXPECT_EQ(verbs(run(allow, host)), (Words{"reload-table vg-pool_tdata now", "reload-table vg-pool-tpool now"}));
    host.put_file("/sys/block/dm-1/queue/discard_max_bytes", "1000\n");
    EXPECT_EQ(verbs(run(allow, host)), Words{"reload-table vg-pool-tpool now"});
    host.put({QueryKind::dm_status, {"vg-pool-tpool"}}, {"features=discard_passdown\n", "", {}});
    EXPECT_EQ(verbs(run(allow, host)), Words{});
}

TEST(DmCrypt, AStaleLayerAboveIsADifferenceOfItsOwn) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=2\nflags=allow-discards\n";
    machine.table = "allow_discards";
    machine.above = "0";
    fill(host, machine);
    const auto it = run(allow, host);
    EXPECT_EQ(it.verdict(address, Plane::live), "drift");
    EXPECT_EQ(verbs(it), Words{"reload-table vg-root now"});
    Machine still;
    still.above = "1000";
    MemoryHost other;
    fill(other, still);
    EXPECT_EQ(verbs(run(block, other)), Words{"reload-table vg-root now"}) << "it still says that it takes them";
}

}  // namespace
}  // namespace storpol
