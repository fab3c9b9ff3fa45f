// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <utility>

#include "tests/resources/fstrim_fixture.h"

namespace storpol {
namespace {

using namespace fstrim_test;

const std::string root_coverage = "fstrim.coverage[\"/\"]";

// `storpol trim` as the runner, in place already or not.
std::string policy_of(const std::string& more = "") {
    return "[fstrim]\nrunner = \"storpol\"\n" + more;
}

void put_program(MemoryHost& host) {
    fill(host);
    host.put({QueryKind::program_exists, {"/usr/bin/storpol"}}, {"yes", "", {}});
}

void put_runner(MemoryHost& host, const std::string& lines = "") {
    put_program(host);
    host.put_file(service_file,
                  std::string(stock_service) + "ExecStart=\nExecStart=/usr/bin/storpol trim --scheduled\n" + lines);
}

TEST(FstrimRunner, NoConditionIsWrittenForIt) {
    for (const char* battery : {"skip", "run"}) {
        MemoryHost host;
        put_program(host);
        const auto policy = policy_of("on-battery = \"" + std::string(battery) + "\"\n");
        const FstrimRun run(policy, host);
        const auto text = run.file_after(service_drop_in);
        EXPECT_EQ(text.find("ConditionACPower"), std::string::npos) << text;
        EXPECT_NE(text.find("ExecStart=/usr/bin/storpol trim --scheduled\n"), std::string::npos) << text;
        host.put_file(service_drop_in, text);
        const FstrimRun again(policy, host);
        EXPECT_EQ(again.persisted("on-battery"), "absent");
        EXPECT_TRUE(again.evaluation.plan.actions.empty());
    }
}

TEST(FstrimRunner, ItsOwnOldConditionIsTakenOutInOnePlan) {
    for (const char* battery : {"skip", "run"}) {
        MemoryHost host;
        put_program(host);
        host.put_file(service_drop_in,
                      FstrimRun("[fstrim]\non-battery = \"skip\"\n", host).file_after(service_drop_in));
        ASSERT_NE(host.files().at(service_drop_in).find("ConditionACPower=true"), std::string::npos);
        const auto policy = policy_of("on-battery = \"" + std::string(battery) + "\"\n");
        const FstrimRun run(policy, host);
        EXPECT_EQ(run.persisted("on-battery"), "drift");
        const auto text = run.file_after(service_drop_in);
        EXPECT_EQ(text.find("Condition"), std::string::npos) << text;
        host.put_file(service_drop_in, text);
        EXPECT_TRUE(FstrimRun(policy, host).evaluation.plan.actions.empty());
    }
}

TEST(FstrimRunner, AConditionOfOthersIsResetAndTheOthersKept) {
    MemoryHost host;
    put_runner(host);
    host.put_file("/etc/systemd/system/fstrim.timer.d/10-power.conf", "[Unit]\nConditionACPower=true\n");
    const auto policy = policy_of("on-battery = \"skip\"\n");
    const FstrimRun run(policy, host);
    EXPECT_EQ(run.persisted("on-battery"), "drift");
    EXPECT_NE(run.raw("fstrim.on-battery", Plane::persisted).find("counts that as a run"), std::string::npos);
    const auto text = run.file_after(timer_drop_in);
    EXPECT_NE(text.find("ConditionPathExists=\n"), std::string::npos) << text;
    EXPECT_NE(text.find("ConditionVirtualization=!container\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("ConditionACPower"), std::string::npos) << text;
    host.put_file(timer_drop_in, text);
    EXPECT_TRUE(FstrimRun(policy, host).evaluation.plan.actions.empty());
}

TEST(FstrimRunner, TheConditionStaysWhereItIsNotInstalled) {
    MemoryHost host;
    fill(host);
    host.put_file(service_drop_in, FstrimRun("[fstrim]\non-battery = \"skip\"\n", host).file_after(service_drop_in));
    const FstrimRun run(policy_of("on-battery = \"skip\"\n"), host);
    EXPECT_TRUE(run.evaluation.plan.actions.empty());
    EXPECT_NE(run.cannot("fstrim.on-battery", Plane::persisted).find("not installed"), std::string::npos);
}

TEST(FstrimRunner, BackToFstrimTheConditionComesInTheSamePlan) {
    MemoryHost host;
    put_runner(host);
    const FstrimRun run("[fstrim]\nrunner = \"fstrim\"\non-battery = \"skip\"\n", host);
    const auto text = run.file_after(service_drop_in);
    EXPECT_NE(text.find("ConditionACPower=true\n"), std::string::npos) << text;
    EXPECT_NE(text.find("ExecStart=/sbin/fstrim "), std::string::npos) << text;
}

TEST(FstrimRunner, WhatTheManagerHoldsOfConditionsIsReloaded) {
    MemoryHost host;
    put_runner(host);
    put_manager(host);
    host.put(
        {QueryKind::unit, {"fstrim.service"}},
        {"LoadState=loaded\nConditions=ConditionACPower=true\nExecStart=/usr/bin/storpol trim --scheduled\n", "", {}});
    const FstrimRun run(policy_of("on-battery = \"skip\"\n"), host);
    EXPECT_EQ(run.persisted("on-battery"), "absent");
    EXPECT_EQ(run.live("on-battery"), "drift");
    EXPECT_NE(run.action(Verb::daemon_reload, "systemd"), nullptr);
}

TEST(FstrimRunner, WhatItLeavesOutIsNotCovered) {
    MemoryHost host;
    put_runner(host);
    EXPECT_EQ(FstrimRun(policy_of(), host).verdict(root_coverage, Plane::persisted), "in-sync");
    host.put_file("/etc/fstab", "UUID=1b2c / ext4 defaults,X-fstrim.notrim 0 1\n");
    const FstrimRun word(policy_of(), host);
    EXPECT_EQ(word.verdict(root_coverage, Plane::persisted), "drift");
    EXPECT_EQ(word.file_after("/etc/fstab"), "UUID=1b2c / ext4 defaults 0 1\n");
    host.put_file("/etc/fstab", "UUID=1b2c / ext4 defaults 0 1\n");
    host.put_file("/proc/self/mountinfo", "25 1 8:1 / / ro,relatime shared:1 - ext4 /dev/sda1 ro\n");
    const FstrimRun read_only(policy_of(), host);
    EXPECT_EQ(read_only.verdict(root_coverage, Plane::persisted), "drift");
    EXPECT_NE(read_only.cannot(root_coverage, Plane::persisted).find("read-only"), std::string::npos);
    // A mount that cannot be written shows a filesystem that can.
    host.put_file("/proc/self/mountinfo", "25 1 8:1 / / ro,relatime shared:1 - ext4 /dev/sda1 rw\n");
    EXPECT_EQ(FstrimRun(policy_of(), host).verdict(root_coverage, Plane::persisted), "in-sync");
}

TEST(FstrimRunner, ItNeedsItsOwnFolders) {
    const std::pair<const char*, const char*> cases[] = {
        {"ProtectSystem=strict\n", "ReadWritePaths=/run /var/lib\n"},
        {"ProtectSystem=strict\nReadWritePaths=/run\n", "ReadWritePaths=/run /var/lib\n"},
        {"ReadOnlyPaths=/var\n", "ReadOnlyPaths=\n"},
        {"InaccessiblePaths=/run\n", "InaccessiblePaths=\n"}};
    for (const auto& [lines, cure] : cases) {
        MemoryHost host;
        put_runner(host, lines);
        const FstrimRun run(policy_of(), host);
        EXPECT_EQ(run.verdict(root_coverage, Plane::persisted), "drift") << lines;
        const auto text = run.file_after(service_drop_in);
        EXPECT_NE(text.find("\n" + std::string(cure)), std::string::npos) << lines << text;
        host.put_file(service_drop_in, text);
        EXPECT_TRUE(FstrimRun(policy_of(), host).evaluation.plan.actions.empty()) << lines;
    }
    MemoryHost host;
    put_runner(host, "ProtectSystem=full\nProtectHome=read-only\n");
    EXPECT_EQ(FstrimRun(policy_of(), host).verdict(root_coverage, Plane::persisted), "in-sync");
}

TEST(FstrimRunner, ItGetsItsFoldersWithTheSwitch) {
    MemoryHost host;
    put_program(host);
    // Such an old fstrim does not mind what is read-only.
    host.put({QueryKind::package, {"util-linux"}}, {"2.33.1", "", {}});
    host.put_file(service_file, std::string(stock_service) + "ProtectSystem=strict\n");
    const FstrimRun run(policy_of(), host);
    EXPECT_NE(run.file_after(service_drop_in).find("\nReadWritePaths=/run /var/lib\n"), std::string::npos);
    host.put_file(service_drop_in, run.file_after(service_drop_in));
    EXPECT_TRUE(FstrimRun(policy_of(), host).evaluation.plan.actions.empty());
}

}  // namespace
}  // namespace storpol
