// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/block/block.h"

#include <gtest/gtest.h>

#include "engine/host/host.h"
#include "tests/resources/domain_run.h"

namespace storpol {
namespace {

void put_disk(MemoryHost& host,
              const std::string& name,
              const std::string& number,
              const std::string& place,
              const std::string& scheduler) {
    const auto sysfs = "/sys/block/" + name;
    host.put_file(sysfs + "/dev", number + "\n");
    host.put_file(sysfs + "/size", "1000\n");
    host.put_file(sysfs + "/removable", "0\n");
    host.put_file(sysfs + "/queue/rotational", "0\n");
    host.put_file(sysfs + "/queue/scheduler", scheduler + "\n");
    host.put_file(sysfs + "/queue/nr_requests", "256\n");
    host.put_file(sysfs + "/queue/read_ahead_kb", "128\n");
    host.put_link("/sys/dev/block/" + number, "../../devices/" + place + "/block/" + name);
    host.put_file("/run/udev/data/b" + number,
                  "E:ID_BUS=" + std::string(place.find("/ata") != std::string::npos ? "ata" : "nvme") + "\n");
}

MemoryHost machine() {
    MemoryHost host;
    host.put_file("/proc/sys/kernel/osrelease", "6.12.0\n");
    put_disk(host, "nvme0n1", "259:0", "pci/nvme/nvme0", "[none] mq-deadline kyber");
    host.put_file("/sys/block/nvme0n1/device/model", "Lexar NM790\n");
    host.put_file("/sys/block/nvme0n1/wwid", "eui.1234\n");
    put_disk(host, "sda", "8:0", "pci/ata3/host2", "[mq-deadline] none");
    host.put_file("/lib/modules/6.12.0/modules.builtin", "kernel/block/mq-deadline.ko\n");
    host.put_file("/lib/modules/6.12.0/modules.dep", "kernel/block/kyber-iosched.ko:\nkernel/block/bfq.ko.zst:\n");
    return host;
}

DomainRun run(const std::string& policy, Host& host, bool image = false) {
    return {make_block_resource(), policy, host, image};
}

constexpr const char* rules_file = "/etc/udev/rules.d/99-storpol.rules";

TEST(Block, ASchedulerIsSetNowAndByOneRuleAtBoot) {
    auto host = machine();
    const auto it = run("[[block]]\nmatch = { transport = \"nvme\" }\nscheduler = \"bfq\"\n", host);
    EXPECT_EQ(it.verdict(R"(block["nvme0n1"].scheduler)", Plane::live), "drift");
    EXPECT_EQ(it.setting(R"(block["sda"].scheduler)"), nullptr);
    const auto* write = it.action(Verb::write, "/sys/block/nvme0n1/queue/scheduler");
    ASSERT_NE(write, nullptr);
    EXPECT_EQ(std::get<WriteAttribute>(write->step).value, "bfq");
    ASSERT_EQ(write->undo.size(), 2U) << "choosing a scheduler resets nr_requests";
    EXPECT_EQ(std::get<WriteAttribute>(write->undo[1]).value, "256");
    const auto rules = it.file_after(rules_file);
    EXPECT_NE(rules.find("# block[\"transport=nvme\"].scheduler\n"
                         "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", KERNEL==\"nvme*\", "
                         "DEVPATH!=\"/devices/virtual/*\", ATTR{queue/scheduler}=\"bfq\"\n"),
              std::string::npos)
        << rules;
}

TEST(Block, ARuleThatStandsAlreadyIsTheSource) {
    auto host = machine();
    host.put_file("/etc/udev/rules.d/60-io.rules",
                  "ACTION==\"add|change\", KERNEL==\"nvme[0-9]*n[0-9]*\", ATTR{queue/scheduler}=\"bfq\"\n");
    const auto it = run("[[block]]\nmatch = { transport = \"nvme\" }\nscheduler = \"bfq\"\n", host);
    EXPECT_EQ(it.verdict(R"(block["nvme0n1"].scheduler)", Plane::persisted), "in-sync");
    EXPECT_EQ(it.source(R"(block["nvme0n1"].scheduler)", Plane::persisted), "/etc/udev/rules.d/60-io.rules:1");
    EXPECT_EQ(it.file_after(rules_file), "");
}

TEST(Block, ASchedulerThatNoKernelHasIsNeverWritten) {
    auto host = machine();
    host.put_file("/lib/modules/6.12.0/modules.dep", "\n");
    const auto it = run("[[block]]\nmatch = { transport = \"nvme\" }\nscheduler = \"bfq\"\n", host);
    EXPECT_TRUE(it.evaluation.plan.actions.empty());
    EXPECT_NE(it.cannot(R"(block["nvme0n1"].scheduler)", Plane::live).find("has no scheduler bfq"), std::string::npos);
}

TEST(Block, ALaterForeignRuleIsSaidToOverride) {
    auto host = machine();
    host.put_file("/etc/udev/rules.d/zz-late.rules", "KERNEL==\"nvme*\", ATTR{queue/scheduler}=\"kyber\"\n");
    const auto it = run("[[block]]\nmatch = { transport = \"nvme\" }\nscheduler = \"bfq\"\n", host);
    EXPECT_EQ(it.cannot(R"(block["nvme0n1"].scheduler)", Plane::persisted),
              "overridden by /etc/udev/rules.d/zz-late.rules:1");
}

TEST(Block, TheLaterRuleWinsKeyByKey) {
    auto host = machine();
    const auto it =
        run("[[block]]\nmatch = { rotational = false }\nscheduler = \"none\"\nread-ahead = \"256KiB\"\n"
            "[[block]]\nmatch = { transport = \"nvme\" }\nscheduler = \"kyber\"\n",
            host);
    EXPECT_EQ(it.setting(R"(block["nvme0n1"].scheduler)")->setting.wanted, "kyber");
    EXPECT_EQ(it.setting(R"(block["nvme0n1"].read-ahead)")->setting.wanted, "256KiB");
    EXPECT_EQ(it.setting(R"(block["sda"].scheduler)")->setting.wanted, "none");
    const auto rules = it.file_after(rules_file);
    EXPECT_LT(rules.find("=\"none\""), rules.find("=\"kyber\"")) << "udev takes the last:\n" << rules;
}

TEST(Block, NumbersAreComparedAsTheKernelRoundsThem) {
    auto host = machine();
    const auto it = run("[[block]]\nmatch = { name = \"sda\" }\nread-ahead = \"130KiB\"\nnr-requests = 64\n", host);
    EXPECT_EQ(it.verdict(R"(block["sda"].read-ahead)", Plane::live), "in-sync") << "whole pages: 128 KiB";
    const auto* write = it.action(Verb::write, "/sys/block/sda/queue/nr_requests");
    ASSERT_NE(write, nullptr);
    EXPECT_EQ(std::get<WriteAttribute>(write->step).value, "64");
}

TEST(Block, ABoundIsWrittenForTheDiskThatBreaksIt) {
    auto host = machine();
    const auto it = run("[[block]]\nmatch = { rotational = false }\nread-ahead = { at-least = \"256KiB\" }\n", host);
    const auto rules = it.file_after(rules_file);
    EXPECT_NE(rules.find("# block[\"nvme0n1\"].read-ahead\n"), std::string::npos) << rules;
    EXPECT_NE(rules.find("ATTR{wwid}==\"eui.1234\", ATTR{queue/read_ahead_kb}=\"256\""), std::string::npos) << rules;
    EXPECT_NE(it.cannot(R"(block["sda"].read-ahead)", Plane::persisted).find("neither WWN nor serial"),
              std::string::npos);
    const auto holds = run("[[block]]\nmatch = { rotational = false }\nread-ahead = { at-least = \"64KiB\" }\n", host);
    EXPECT_EQ(holds.verdict(R"(block["nvme0n1"].read-ahead)", Plane::persisted), "in-sync");
}

TEST(Block, VirtualDevicesAndPathsAreMeantByNameOnly) {
    auto host = machine();
    put_disk(host, "loop0", "7:0", "virtual", "[none] mq-deadline");
    put_disk(host, "sdb", "8:16", "pci/x", "[mq-deadline] none");
    put_disk(host, "dm-1", "253:1", "virtual", "[mq-deadline] none");
    host.put_file("/sys/block/dm-1/dm/name", "mpatha\n");
    host.put_file("/sys/block/dm-1/dm/uuid", "mpath-36001405\n");
    host.put_link("/sys/block/dm-1/slaves/sdb", "../../sdb");
    const auto it = run("[[block]]\nmatch = { rotational = false }\nscheduler = \"none\"\n", host);
    EXPECT_EQ(it.setting(R"(block["loop0"].scheduler)"), nullptr);
    EXPECT_EQ(it.setting(R"(block["sdb"].scheduler)"), nullptr);
    EXPECT_EQ(it.verdict(R"(block["mpatha"].scheduler)", Plane::live), "drift");
    EXPECT_NE(run("[[block]]\nmatch = { virtual = true }\nscheduler = \"none\"\n", host)
                  .setting(R"(block["loop0"].scheduler)"),
              nullptr);
    EXPECT_NE(
        run("[[block]]\nmatch = { name = \"sdb\" }\nscheduler = \"none\"\n", host).setting(R"(block["sdb"].scheduler)"),
        nullptr);
}

TEST(Block, ADeviceWithoutASchedulerIsAbsent) {
    auto host = machine();
    put_disk(host, "pmem0", "260:0", "ndbus0", "none");
    const auto it = run("[[block]]\nmatch = { name = \"pmem0\" }\nscheduler = \"bfq\"\n", host);
    EXPECT_EQ(it.verdict(R"(block["pmem0"].scheduler)", Plane::live), "absent");
    EXPECT_TRUE(it.evaluation.plan.actions.empty());
}

TEST(Block, OldSchedulerNamesAndMissingMatchesAreErrors) {
    const auto keys = std::vector<PolicyKeys>{make_block_resource()->keys()};
    const auto old_name = load_policy_files(
        {{"p.toml", "version = 1\n[[block]]\nmatch = { name = \"sd*\" }\nscheduler = \"noop\"\n"}}, keys);
    ASSERT_EQ(old_name.errors.size(), 1U);
    EXPECT_EQ(old_name.errors[0].fix, "write \"none\"");
    auto host = machine();
    const auto unmatched = run("[[block]]\nscheduler = \"none\"\n", host);
    EXPECT_NE(unmatched.errors().find("no match"), std::string::npos);
    const auto forced = run("[[block]]\nmatch = { transport = \"usb\" }\nprovisioning-mode = \"unmap\"\n", host);
    EXPECT_NE(forced.errors().find("named models"), std::string::npos);
}

TEST(Block, ARuleThatMatchesNothingIsAFinding) {
    auto host = machine();
    const auto it = run("[[block]]\nmatch = { model = \"Nobody*\" }\nscheduler = \"none\"\n", host);
    ASSERT_NE(it.finding("rule-matches-nothing"), nullptr);
    EXPECT_EQ(it.finding("rule-matches-nothing")->where, "site.toml:2:1");
}

TEST(Block, InAnImageARuleIsKnownByItsMatch) {
    MemoryHost host;
    host.put({QueryKind::list, {"/sys/block"}}, not_captured({QueryKind::list, {"/sys/block"}}));
    const std::string policy =
        "[[block]]\nmatch = { transport = \"nvme\", model = \"A,B [x]\" }\nscheduler = \"none\"\n";
    const std::string address = R"(block["model=A\\,B [x],transport=nvme"].scheduler)";
    const auto before = run(policy, host, true);
    EXPECT_EQ(before.verdict(address, Plane::persisted), "drift");
    const auto rules = before.file_after(rules_file);
    EXPECT_NE(rules.find("ATTRS{model}==\"A,B [[]x[]]\""), std::string::npos) << rules;
    host.put_file(rules_file, rules);
    EXPECT_EQ(run(policy, host, true).verdict(address, Plane::persisted), "in-sync");
}

TEST(Block, UnreadableRulesAreUnknown) {
    auto host = machine();
    host.put_file("/etc/udev/rules.d/50-x.rules", "");
    host.refuse({QueryKind::file, {"/etc/udev/rules.d/50-x.rules"}}, 13);
    const auto it = run("[[block]]\nmatch = { name = \"sda\" }\nscheduler = \"none\"\n", host);
    EXPECT_EQ(it.verdict(R"(block["sda"].scheduler)", Plane::persisted), "unknown");
    EXPECT_EQ(it.file_after(rules_file), "");
}

}  // namespace
}  // namespace storpol
