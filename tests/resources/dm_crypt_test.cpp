// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "engine/model/record.h"
#include "engine/policy/load.h"
#include "tests/resources/dm_crypt_fixture.h"

namespace storpol {
namespace {

using namespace dm_crypt_test;

TEST(DmCrypt, OnLuks2TheHeaderFlagIsAllThatIsNeeded) {
    MemoryHost host;
    fill(host, {});
    const auto it = run(allow, host);
    EXPECT_EQ(it.verdict(address, Plane::live), "drift");
    EXPECT_EQ(it.verdict(address, Plane::persisted), "drift");
    EXPECT_EQ(it.source(address, Plane::persisted), "/etc/crypttab:2");
    EXPECT_EQ(it.verdict(address, Plane::boot), "drift");
    EXPECT_EQ(verbs(it), (Words{"set-luks2-flag root next-boot", "refresh-mapping root operator"}));
    const auto* set = it.action(Verb::set_luks2_flag, "root");
    ASSERT_NE(set, nullptr);
    EXPECT_EQ(set->serves.size(), 2U) << "persisted and boot";
    const auto& step = std::get<SetLuksFlags>(set->step);
    EXPECT_EQ(step.device, "/dev/sda");
    EXPECT_EQ(step.uuid, uuid);
    EXPECT_EQ(step.put_in, Words{"allow-discards"});
}

TEST(DmCrypt, WithTheFlagWhateverTheFilesSayIsInSync) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=2\nflags=allow-discards\n";
    machine.table = "allow_discards";
    fill(host, machine);
    const auto it = run(allow, host);
    for (const auto plane : {Plane::live, Plane::persisted, Plane::boot})
        EXPECT_EQ(it.verdict(address, plane), "in-sync");
    EXPECT_TRUE(it.evaluation.plan.actions.empty());
    EXPECT_EQ(it.source(address, Plane::boot), "LUKS2 header of /dev/sda");
}

TEST(DmCrypt, Luks1TakesCrypttabAndANewInitramfs) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=1\n";
    machine.type = "LUKS1";
    fill(host, machine);
    const auto it = run(allow, host);
    EXPECT_EQ(it.file_after("/etc/crypttab"), "# opened at boot\n" + line("luks,discard"));
    const auto* rebuild = it.action(Verb::rebuild_initramfs, "/boot/initrd.img");
    ASSERT_NE(rebuild, nullptr);
    EXPECT_EQ(rebuild->after, Words{it.action(Verb::edit, "/etc/crypttab")->id});
    EXPECT_EQ(std::get<RunGenerator>(rebuild->step).program, "/usr/sbin/update-initramfs");
    EXPECT_EQ(it.action(Verb::set_luks2_flag, "root"), nullptr);
}

TEST(DmCrypt, AStaleInitramfsAloneIsMadeAnew) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=1\n";
    machine.type = "LUKS1";
    machine.options = "luks,discard";
    machine.table = "allow_discards";
    fill(host, machine);
    const auto it = run(allow, host);
    EXPECT_EQ(it.verdict(address, Plane::persisted), "in-sync");
    EXPECT_EQ(verbs(it), Words{"rebuild-initramfs /boot/initrd.img next-boot"});
}

// What is to get into the next boot is the line of crypttab, so the image is made anew, although the command line
// decides there as long as the image has no such line.
TEST(DmCrypt, AnImageWithoutItsCrypttabIsMadeAnew) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=1\n";
    machine.type = "LUKS1";
    machine.options = "luks,discard";
    machine.table = "allow_discards";
    fill(host, machine);
    put_grub(host, std::string("root=/dev/mapper/root ro rd.luks.name=") + uuid + "=root", "/boot/initrd.img");
    put_image(host, "/boot/initrd.img",
              {{"usr/lib/dracut/build-parameter.txt", ""}, {"usr/lib/systemd/systemd-cryptsetup", ""}});
    host.put({QueryKind::program_exists, {"/usr/bin/dracut"}}, {"yes", "", {}});
    host.put_file("/etc/default/grub", std::string("GRUB_CMDLINE_LINUX=\"rd.luks.name=") + uuid + "=root\"\n");
    const auto it = run(allow, host);
    EXPECT_EQ(it.verdict(address, Plane::boot), "drift");
    EXPECT_EQ(verbs(it), Words{"rebuild-initramfs /boot/initrd.img next-boot"});
}

TEST(DmCrypt, AWordThatItsReaderIgnoresIsReplacedAndSaid) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=1\n";
    machine.type = "LUKS1";
    machine.options = "luks,allow-discards,tries=2";
    fill(host, machine);
    const auto it = run(allow, host);
    EXPECT_EQ(it.file_after("/etc/crypttab"), "# opened at boot\n" + line("luks,discard,tries=2"));
    ASSERT_NE(it.finding("crypt-option-ignored"), nullptr);
    EXPECT_EQ(it.finding("crypt-option-ignored")->where, "/etc/crypttab:2");
}

TEST(DmCrypt, CrypttabIsTakenForLuks2WhereThePolicySaysSo) {
    MemoryHost host;
    fill(host, {});
    const auto it = run(std::string(allow) + "dm-crypt-persist = \"crypttab\"\n", host);
    EXPECT_EQ(it.file_after("/etc/crypttab"), "# opened at boot\n" + line("luks,discard"));
    EXPECT_NE(it.action(Verb::rebuild_initramfs, "/boot/initrd.img"), nullptr);
    EXPECT_EQ(it.action(Verb::set_luks2_flag, "root"), nullptr);
}

TEST(DmCrypt, BlockingClearsTheFlagAndEveryWord) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=2\nflags=allow-discards,no-read-workqueue\n";
    machine.options = "discard";
    machine.in_image = "luks,discard";
    machine.table = "allow_discards,no_read_workqueue";
    fill(host, machine);
    const auto it = run(block, host);
    EXPECT_EQ(it.source(address, Plane::persisted), "LUKS2 header of /dev/sda");
    EXPECT_EQ(it.file_after("/etc/crypttab"), "# opened at boot\n" + line("luks")) << "no field can be empty";
    const auto* clear = it.action(Verb::clear_luks2_flag, "root");
    ASSERT_NE(clear, nullptr);
    EXPECT_EQ(std::get<SetLuksFlags>(clear->step).take_out, Words{"allow-discards"});
    EXPECT_NE(clear->says.find("no-read-workqueue stays"), std::string::npos) << clear->says;
    EXPECT_NE(it.action(Verb::rebuild_initramfs, "/boot/initrd.img"), nullptr);
    const auto* refresh = it.action(Verb::refresh_mapping, "root");
    ASSERT_NE(refresh, nullptr);
    EXPECT_EQ(refresh->when, When::by_operator);
    EXPECT_NE(refresh->says.find("cryptsetup refresh --perf-no_read_workqueue root"), std::string::npos)
        << refresh->says;
}

TEST(DmCrypt, AllowWithoutAcceptingWhatItShowsIsAnError) {
    MemoryHost host;
    const auto it = run("[discard]\ndm-crypt = \"allow\"\n", host);
    EXPECT_NE(it.errors().find("which of its blocks are unused"), std::string::npos);
    const auto rule = run(
        "[discard]\naccept-dm-crypt-leak = false\n[[dm-crypt]]\nmatch = { name = \"x\" }\ndiscard = \"allow\"\n", host);
    EXPECT_NE(rule.errors().find("which of its blocks are unused"), std::string::npos);
    EXPECT_EQ(run(block, host).errors(), "");
    EXPECT_NE(run("[[dm-crypt]]\ndiscard = \"block\"\n", host).errors().find("no match"), std::string::npos);
}

TEST(DmCrypt, MappingsThatNoTrimReachesAreLeftOut) {
    MemoryHost host;
    fill(host, {});
    host.put_file("/etc/crypttab", line("luks") + "swap /dev/sda3 /dev/urandom swap\nusb UUID=1b2c none luks,noauto\n");
    const auto it = run(allow, host);
    EXPECT_NE(it.setting(address), nullptr);
    EXPECT_EQ(it.setting(R"(dm-crypt["swap"].discard)"), nullptr);
    EXPECT_EQ(it.setting(R"(dm-crypt["usb"].discard)"), nullptr);
    EXPECT_NE(it.finding("dm-crypt-left-out"), nullptr);
    const auto never =
        run("[discard]\nfilesystem = \"never\"\ndm-crypt = \"allow\"\naccept-dm-crypt-leak = true\n", host);
    EXPECT_EQ(never.setting(address), nullptr);
    const auto all = run(block, host);
    EXPECT_NE(all.setting(R"(dm-crypt["usb"].discard)"), nullptr);
    EXPECT_EQ(all.setting(R"(dm-crypt["swap"].discard)"), nullptr) << "a random key is never touched";
}

TEST(DmCrypt, RulesBeatTheTableKeyByKey) {
    MemoryHost host;
    fill(host, {});
    const auto it = run(std::string(allow) +
                            "[[dm-crypt]]\nmatch = { name = \"ro*\" }\ndiscard = \"block\"\nno-read-workqueue = true\n"
                            "[[dm-crypt]]\nmatch = { name = \"nobody\" }\nno-write-workqueue = true\n",
                        host);
    EXPECT_EQ(it.setting(address)->setting.wanted, "block");
    EXPECT_EQ(it.verdict(address, Plane::persisted), "in-sync");
    EXPECT_EQ(it.verdict(R"(dm-crypt["root"].no-read-workqueue)", Plane::persisted), "drift");
    EXPECT_NE(it.finding("rule-matches-nothing"), nullptr);
    const auto* set = it.action(Verb::set_luks2_flag, "root");
    ASSERT_NE(set, nullptr);
    EXPECT_EQ(std::get<SetLuksFlags>(set->step).put_in, Words{"no-read-workqueue"});
}

TEST(DmCrypt, SeveralFlagsAreOneStepAndOneEdit) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=1\n";
    machine.type = "LUKS1";
    fill(host, machine);
    const std::string rule =
        "[[dm-crypt]]\nmatch = { name = \"root\" }\nno-read-workqueue = true\nno-write-workqueue = true\n";
    const auto it = run(std::string(allow) + rule, host);
    EXPECT_EQ(it.file_after("/etc/crypttab"),
              "# opened at boot\n" + line("luks,discard,no-read-workqueue,no-write-workqueue"));
    const auto* refresh = it.action(Verb::refresh_mapping, "root");
    ASSERT_NE(refresh, nullptr);
    EXPECT_EQ(std::get<RefreshMapping>(refresh->step).put_in.size(), 3U);
    MemoryHost two;
    fill(two, {});
    const auto of_luks2 = run(std::string(allow) + rule, two);
    const auto* set = of_luks2.action(Verb::set_luks2_flag, "root");
    ASSERT_NE(set, nullptr);
    EXPECT_EQ(std::get<SetLuksFlags>(set->step).put_in.size(), 3U);
}

TEST(DmCrypt, WhatCannotBeReadIsUnknownAndNothingIsDone) {
    MemoryHost host;
    fill(host, {});
    host.refuse({QueryKind::luks, {"/dev/sda"}}, EACCES);
    host.refuse({QueryKind::dm_table, {"root"}}, EACCES);
    const auto it = run(allow, host);
    for (const auto plane : {Plane::live, Plane::persisted, Plane::boot})
        EXPECT_EQ(it.verdict(address, plane), "unknown");
    EXPECT_TRUE(it.evaluation.plan.actions.empty());
}

TEST(DmCrypt, AHeaderThatCannotBeReadKeepsTheOpenMappingAsItIs) {
    MemoryHost host;
    fill(host, {});
    host.refuse({QueryKind::luks, {"/dev/sda"}}, EINVAL);
    const auto it = run(allow, host);
    EXPECT_EQ(it.verdict(address, Plane::live), "drift");
    EXPECT_TRUE(it.evaluation.plan.actions.empty());
    EXPECT_NE(it.cannot(address, Plane::live).find("detached"), std::string::npos) << it.cannot(address, Plane::live);
}

TEST(DmCrypt, IntegrityIsDriftThatNothingCures) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=2\nflags=\nintegrity=hmac(sha256)\n";
    fill(host, machine);
    const auto it = run(allow, host);
    EXPECT_TRUE(it.evaluation.plan.actions.empty());
    for (const auto plane : {Plane::live, Plane::persisted, Plane::boot}) {
        EXPECT_NE(it.cannot(address, plane).find("authenticated encryption"), std::string::npos);
    }
}

TEST(DmCrypt, AMappingOpenedByHandCanKeepItInItsHeaderOnly) {
    MemoryHost host;
    fill(host, {});
    host.put_file("/etc/crypttab", "");
    host.remove("/boot/grub/grub.cfg");
    EXPECT_NE(run(allow, host).action(Verb::set_luks2_flag, "root"), nullptr);
    Machine machine;
    machine.header = "version=1\n";
    machine.type = "LUKS1";
    fill(host, machine);
    host.put_file("/etc/crypttab", "");
    host.remove("/boot/grub/grub.cfg");
    const auto it = run(allow, host);
    EXPECT_NE(it.cannot(address, Plane::persisted).find("whatever opens it"), std::string::npos);
}

TEST(DmCrypt, CommandLineOptionsAreChangedInTheirSource) {
    const auto after = [](const std::string& grub, const std::string& policy) {
        MemoryHost host;
        put_grub(host, "cryptdevice=/dev/sda2:root root=/dev/mapper/root", "/boot/initramfs.img");
        put_image(host, "/boot/initramfs.img", {{"hooks/encrypt", "#!"}, {"config", ""}});
        host.put_file("/etc/default/grub", grub);
        put_luks(host, "/dev/sda2", "version=1\n");
        const auto it = run(policy, host, true);
        return it.file_after("/etc/default/grub");
    };
    EXPECT_EQ(after("GRUB_CMDLINE_LINUX=\"cryptdevice=/dev/sda2:root quiet\"\n", allow),
              "GRUB_CMDLINE_LINUX=\"cryptdevice=/dev/sda2:root:allow-discards quiet\"\n");
    EXPECT_EQ(after("GRUB_CMDLINE_LINUX=\"cryptdevice=/dev/sda2:root:no-read-workqueue\"\n", block), "");
    EXPECT_EQ(after("GRUB_CMDLINE_LINUX=\"cryptdevice=/dev/sda2:root:discard quiet\"\n", block),
              "GRUB_CMDLINE_LINUX=\"cryptdevice=/dev/sda2:root quiet\"\n");
}

TEST(DmCrypt, InAnImageTheHeaderIsLeftToItsBuilder) {
    MemoryHost host;
    host.put_file("/etc/crypttab", line("luks"));
    host.put({QueryKind::list, {"/sys/block"}}, not_captured({QueryKind::list, {"/sys/block"}}));
    host.put_link(std::string("/dev/disk/by-uuid/") + uuid, "../../sda2");
    put_luks(host, "/dev/sda2", "version=2\nflags=\n");
    EXPECT_EQ(verbs(run(allow, host, true)), Words{"set-luks2-flag root in-image"});
    MemoryHost unknown;
    unknown.put_file("/etc/crypttab", line("luks"));
    const auto it = run(allow, unknown, true);
    EXPECT_EQ(it.verdict(address, Plane::persisted), "unknown") << "no device can be asked";
    const auto by_tab = run(std::string(allow) + "dm-crypt-persist = \"crypttab\"\n", unknown, true);
    EXPECT_EQ(by_tab.file_after("/etc/crypttab"), line("luks,discard"));
}

TEST(DmCrypt, OnceTheHeaderIsRightTheOpenMappingWaitsForTheBoot) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=2\nflags=allow-discards\n";
    fill(host, machine);
    host.put_file("/proc/sys/kernel/random/boot_id", "boot-1\n");
    const auto it = run(allow, host);
    EXPECT_EQ(verbs(it), Words{"refresh-mapping root operator"});
    ASSERT_EQ(it.evaluation.plan.gaps.size(), 1U) << "what happens without a person is said beside it";
    EXPECT_EQ(it.evaluation.plan.gaps[0].waits, When::next_boot);
    Record record;
    WaitingEntry entry;
    entry.of = {address, Plane::live};
    entry.device = uuid;
    entry.condition = Is{Value{std::string("allow")}};
    entry.boot_id = "boot-1";
    record.waiting = {entry};
    EvaluateOptions options;
    options.record = &record;
    const auto waiting = evaluate(it.loaded.policy, it.resources, host, options);
    EXPECT_TRUE(waiting.plan.actions.empty());
    EXPECT_FALSE(waiting.has_drift(false));
    EXPECT_TRUE(waiting.summary.reboot_pending);
    host.put_file("/proc/sys/kernel/random/boot_id", "boot-2\n");
    const auto after = evaluate(it.loaded.policy, it.resources, host, options);
    EXPECT_TRUE(after.has_drift(false)) << "the boot has not brought it";
}

TEST(DmCrypt, ASurveyHoldsWhatAPlanOfAnOpenMappingAsks) {
    MemoryHost host;
    Machine machine;
    machine.above = "0";
    fill(host, machine);
    Picture picture(host);
    const auto resource = make_dm_crypt_resource();
    resource->survey(picture);
    static_cast<void>(picture.now());
    static_cast<void>(picture.read_file("/proc/sys/kernel/random/boot_id"));
    const auto capture = make_snapshot_host(picture.capture("1", "2026-11-30T12:00:00Z"), "capture");
    ASSERT_TRUE(capture) << to_text(capture.error());
    for (const auto* policy : {allow, block}) {
        EXPECT_EQ(verbs(run(policy, **capture)), verbs(run(policy, host)));
        EXPECT_FALSE(run(allow, **capture).evaluation.plan.actions.empty());
    }
}

TEST(DmCrypt, WhatIsMadeOfAFileThatCannotBeChangedIsNotMadeAnew) {
    MemoryHost host;
    Machine machine;
    machine.header = "version=1\n";
    machine.type = "LUKS1";
    fill(host, machine);
    host.put_link("/etc/crypttab", "/nix/store/abc/crypttab");
    host.put_file("/nix/store/abc/crypttab", line("luks"));
    const auto it = run(allow, host);
    EXPECT_EQ(it.action(Verb::rebuild_initramfs, "/boot/initrd.img"), nullptr);
    EXPECT_NE(it.cannot(address, Plane::persisted).find("made by something else"), std::string::npos);
    EXPECT_NE(it.cannot(address, Plane::boot), "");
}

TEST(DmCrypt, NamesWithOddBytesStayWhatTheyAre) {
    MemoryHost host;
    host.put_file("/etc/crypttab", "a\"b\\040c /dev/sda2 none luks,discard\n\x01\xff /dev/sda3 none discard\n");
    put_luks(host, "/dev/sda2", "version=1\n");
    put_luks(host, "/dev/sda3", "version=1\n");
    const auto it = run(block, host, true);
    EXPECT_EQ(it.evaluation.settings.size(), 2U);
    EXPECT_EQ(it.file_after("/etc/crypttab"), "a\"b\\040c /dev/sda2 none luks\n\x01\xff /dev/sda3 none luks\n");
}

}  // namespace
}  // namespace storpol
