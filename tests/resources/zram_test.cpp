// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/zram/zram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "engine/host/host.h"
#include "engine/topology/topology.h"
#include "tests/resources/domain_run.h"

namespace storpol {
namespace {

const std::string size = R"(zram["zram0"].size)";
const std::string algorithm = R"(zram["zram0"].algorithm)";
const std::string level = R"(zram["zram0"].level)";
const std::string priority = R"(zram["zram0"].priority)";
const std::string limit = R"(zram["zram0"].resident-limit)";
const std::string discard = R"(zram["zram0"].discard)";

constexpr std::int64_t gib = std::int64_t{1} << 30U;
constexpr std::int64_t mib = std::int64_t{1} << 20U;

void put_swaps(MemoryHost& host, const std::string& lines) {
    host.put_file("/proc/swaps", "Filename Type Size Used Priority\n" + lines);
}

// 8 GiB, zram-tools with its own 50 %, and zram0 in use so.
MemoryHost machine() {
    MemoryHost host;
    host.put_file("/proc/meminfo", "MemTotal:       8388608 kB\nMemAvailable:    6291456 kB\n");
    host.put_file("/proc/cmdline", "root=/dev/sda1 rw\n");
    host.put_file("/proc/self/mountinfo", "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n");
    host.put_file("/proc/sys/kernel/osrelease", "6.12.0-1-amd64\n");
    host.put_file("/sys/block/zram0/disksize", std::to_string(4 * gib) + "\n");
    host.put_file("/sys/block/zram0/comp_algorithm", "lzo-rle lzo lz4 [zstd]\n");
    host.put_file("/sys/block/zram0/mm_stat", "4096 74 12288 0 12288 0 0 0 0\n");
    host.put_file("/sys/block/zram0/algorithm_params", "");
    host.put_file("/sys/class/zram-control/hot_add", "");
    put_swaps(host, "/dev/zram0 partition 4194300 0 100\n");
    host.put_file("/run/systemd/system/user.slice", "");
    host.put_file("/usr/sbin/zramswap", "#!/bin/sh\n");
    host.put_file("/usr/lib/systemd/system/zramswap.service", "[Unit]\n");
    host.put_link("/etc/systemd/system/multi-user.target.wants/zramswap.service",
                  "/usr/lib/systemd/system/zramswap.service");
    host.put_file("/etc/default/zramswap", "ALGO=zstd\nPERCENT=50\nPRIORITY=100\n");
    return host;
}

DomainRun run(const std::string& policy, Host& host) {
    return DomainRun(make_zram_resource(), "[zram]\n" + policy, host);
}

const SetUpZram* set_up(const DomainRun& run) {
    const auto* action = run.action(Verb::set_up_zram, "/dev/zram0");
    return action == nullptr ? nullptr : std::get_if<SetUpZram>(&action->step);
}

TEST(Zram, DeviceAsWantedIsInSync) {
    auto host = machine();
    const auto found = run("size = \"50%\"\nalgorithm = \"zstd\"\npriority = 100\n", host);
    for (const auto& address : {size, algorithm, priority}) {
        EXPECT_EQ(found.verdict(address, Plane::live), "in-sync") << address;
        EXPECT_EQ(found.verdict(address, Plane::persisted), "in-sync") << address;
    }
    EXPECT_TRUE(found.evaluation.plan.actions.empty());
}

TEST(Zram, SizesOfOtherRoundingsAreInSyncAndOthersNot) {
    auto host = machine();
    host.put_file("/sys/block/zram0/disksize", std::to_string(4 * gib + 40 * mib) + "\n");
    EXPECT_EQ(run("size = \"50%\"\n", host).verdict(size, Plane::live), "in-sync");
    host.put_file("/sys/block/zram0/disksize", std::to_string(4 * gib + 42 * mib) + "\n");
    EXPECT_EQ(run("size = \"50%\"\n", host).verdict(size, Plane::live), "drift");
    host.put_file("/sys/block/zram0/disksize", "4096\n");  // what "50%" written to the kernel makes
    EXPECT_EQ(run("size = \"50%\"\n", host).verdict(size, Plane::live), "drift");
}

TEST(Zram, ResizeSetsUpAnewWithAllThatIsWanted) {
    auto host = machine();
    const auto found = run("size = \"25%\"\nalgorithm = \"zstd\"\nlevel = 3\ndiscard = \"pages\"\n", host);
    const auto* step = set_up(found);
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->size, static_cast<std::uint64_t>(2 * gib));
    EXPECT_EQ(step->algorithm, "zstd");
    EXPECT_EQ(step->parameters, "level=3");
    EXPECT_EQ(step->priority, 100) << "what it has, as the policy leaves it alone";
    EXPECT_EQ(step->discard, "pages");
    EXPECT_EQ(step->unit, "");
    EXPECT_EQ(found.action(Verb::set_up_zram, "/dev/zram0")->risk, Risk::guarded);
}

TEST(Zram, LevelAndDiscardAreUnknownAndNeverAct) {
    auto host = machine();
    const auto found = run("algorithm = \"zstd\"\nlevel = 3\ndiscard = \"on\"\n", host);
    EXPECT_EQ(found.verdict(level, Plane::live), "unknown");
    EXPECT_EQ(found.verdict(discard, Plane::live), "unknown");
    EXPECT_EQ(set_up(found), nullptr);
    host.remove("/sys/block/zram0/algorithm_params");
    const auto old = run("algorithm = \"zstd\"\nlevel = 3\n", host);
    EXPECT_EQ(old.verdict(level, Plane::live), "absent");
    EXPECT_NE(old.finding("zram-level-unsupported"), nullptr);
}

TEST(Zram, PriorityAloneIsSwappedOffAndOn) {
    auto host = machine();
    const auto found = run("size = \"50%\"\npriority = 5\n", host);
    const auto* action = found.action(Verb::swap_on, "/dev/zram0");
    ASSERT_NE(action, nullptr);
    EXPECT_EQ(std::get<UseSwap>(action->step), (UseSwap{"/dev/zram0", false, 5, ""}));
    EXPECT_EQ(set_up(found), nullptr);
}

TEST(Zram, NegativePrioritiesAreNone) {
    auto host = machine();
    put_swaps(host, "/dev/zram0 partition 4194300 0 -2\n");
    EXPECT_EQ(run("priority = -1\n", host).verdict(priority, Plane::live), "in-sync");
    EXPECT_EQ(run("priority = 0\n", host).verdict(priority, Plane::live), "drift");
}

TEST(Zram, LimitAloneIsWritten) {
    auto host = machine();
    const auto found = run("resident-limit = \"2GiB\"\n", host);
    const auto* action = found.action(Verb::write, "/sys/block/zram0/mem_limit");
    ASSERT_NE(action, nullptr);
    EXPECT_EQ(std::get<WriteAttribute>(action->step).value, std::to_string(2 * gib));
}

TEST(Zram, DeviceThatIsNotSetUpIsSetUp) {
    auto host = machine();
    host.put_file("/sys/block/zram0/disksize", "0\n");
    put_swaps(host, "");
    const auto found = run("size = \"2GiB\"\nalgorithm = \"lz4\"\npriority = 7\n", host);
    EXPECT_EQ(found.verdict(size, Plane::live), "drift");
    EXPECT_EQ(found.verdict(priority, Plane::live), "drift");
    const auto* step = set_up(found);
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->algorithm, "lz4");
    EXPECT_EQ(step->priority, 7);
}

TEST(Zram, KernelWithoutTheAlgorithmIsSaid) {
    auto host = machine();
    host.put_file("/sys/block/zram0/comp_algorithm", "[lzo-rle] lzo lz4\n");
    const auto found = run("size = \"50%\"\nalgorithm = \"zstd\"\n", host);
    EXPECT_EQ(found.verdict(algorithm, Plane::live), "drift");
    EXPECT_NE(found.cannot(algorithm, Plane::live).find("no zstd"), std::string::npos);
    EXPECT_EQ(set_up(found), nullptr);
}

TEST(Zram, ShortMemoryWaitsForTheNextBootWithTheNumbers) {
    auto host = machine();
    put_swaps(host, "/dev/zram0 partition 4194300 3145728 100\n");
    host.put_file("/proc/meminfo", "MemTotal:       8388608 kB\nMemAvailable:    1205368 kB\n");
    const auto found = run("size = \"25%\"\n", host);
    EXPECT_EQ(set_up(found), nullptr);
    EXPECT_EQ(found.verdict(size, Plane::live), "drift");
    const auto* numbers = found.finding("zram-cannot-be-emptied");
    ASSERT_NE(numbers, nullptr);
    EXPECT_NE(numbers->says.find("3072 MiB"), std::string::npos) << numbers->says;
    EXPECT_NE(numbers->says.find("1178 MiB"), std::string::npos) << numbers->says;
    ASSERT_FALSE(found.evaluation.plan.gaps.empty());
    EXPECT_EQ(found.evaluation.plan.gaps.front().waits, When::next_boot);
}

TEST(Zram, MoreThanTwiceTheMemoryIsNotSetUp) {
    auto host = machine();
    const auto found = run("size = \"17GiB\"\n", host);
    EXPECT_NE(found.cannot(size, Plane::live).find("more than twice the memory"), std::string::npos);
    EXPECT_NE(found.cannot(size, Plane::persisted).find("more than twice the memory"), std::string::npos);
    EXPECT_TRUE(found.evaluation.plan.actions.empty());
}

TEST(Zram, MountedFilesystemIsLeftAlone) {
    auto host = machine();
    put_swaps(host, "");
    host.put_file("/proc/self/mountinfo",
                  "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n26 25 252:0 / /var/tmp rw - ext4 /dev/zram0 rw\n");
    const auto found = run("size = \"1GiB\"\n", host);
    EXPECT_EQ(set_up(found), nullptr);
    EXPECT_NE(found.cannot(size, Plane::live).find("mounted at /var/tmp"), std::string::npos);
}

TEST(Zram, ContainerHasNone) {
    MemoryHost host;
    host.put_file("/proc/meminfo", "MemTotal:       8388608 kB\nMemAvailable:    6291456 kB\n");
    host.put_file("/proc/swaps", "Filename Type Size Used Priority\n");
    host.put_file("/run/systemd/container", "lxc\n");
    const auto found = run("size = \"50%\"\n", host);
    EXPECT_EQ(found.verdict(size, Plane::live), "absent");
    EXPECT_EQ(found.verdict(size, Plane::persisted), "absent");
    EXPECT_NE(found.finding("no-zram"), nullptr);
}

TEST(Zram, WhatCannotBeReadIsUnknownAndNeverActs) {
    auto host = machine();
    host.refuse({QueryKind::file, {"/proc/meminfo"}}, EACCES);
    const auto share = run("size = \"50%\"\n", host);
    EXPECT_EQ(share.verdict(size, Plane::live), "unknown");
    EXPECT_EQ(share.verdict(size, Plane::persisted), "unknown");
    EXPECT_TRUE(share.evaluation.plan.actions.empty());
    host = machine();
    host.refuse({QueryKind::file, {"/sys/block/zram0/disksize"}}, EACCES);
    EXPECT_EQ(run("size = \"1GiB\"\n", host).verdict(size, Plane::live), "unknown");
    host.put_file("/sys/block/zram0/disksize", "many\n");
    host.put_file("/proc/swaps", "damaged");
    EXPECT_EQ(run("priority = 1\n", host).verdict(priority, Plane::live), "drift");
}

void put_generator(MemoryHost& host) {
    host.put_file("/usr/lib/systemd/system-generators/zram-generator", "ELF");
    host.put_file("/usr/lib/systemd/zram-generator.conf", "[zram0]\nzram-size = ram / 2\n");
    host.put({QueryKind::package, {"systemd-zram-generator"}}, {"1.2.1-2", "", {}});
}

TEST(Zram, GeneratorSetsItUpThroughItsUnitBehindAReload) {
    auto host = machine();
    host.remove("/etc/systemd/system/multi-user.target.wants/zramswap.service");
    host.remove("/usr/sbin/zramswap");
    host.remove("/usr/lib/systemd/system/zramswap.service");
    host.remove("/etc/default/zramswap");
    put_generator(host);
    const auto found = run("size = \"25%\"\nalgorithm = \"zstd\"\nlevel = 3\npriority = 5\n", host);
    const auto* step = set_up(found);
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->unit, "systemd-zram-setup@zram0.service");
    EXPECT_EQ(found.action(Verb::swap_on, "/dev/zram0"), nullptr) << "the priority comes with it";
    const auto* reload = found.action(Verb::daemon_reload, "systemd");
    ASSERT_NE(reload, nullptr);
    const std::string file = "/etc/systemd/zram-generator.conf.d/50-storpol.conf";
    const auto* drop_in = found.action(Verb::drop_in, file);
    ASSERT_NE(drop_in, nullptr);
    EXPECT_EQ(drop_in->when, When::now) << "the unit reads it";
    EXPECT_EQ(reload->after, std::vector<std::string>{drop_in->id});
    const auto& after = found.action(Verb::set_up_zram, "/dev/zram0")->after;
    EXPECT_NE(std::find(after.begin(), after.end(), reload->id), after.end());
    EXPECT_NE(found.file_after(file).find("zstd(level=3)"), std::string::npos) << found.file_after(file);
}

TEST(Zram, GeneratorThatIsSwitchedOffIsSaid) {
    auto host = machine();
    host.remove("/etc/systemd/system/multi-user.target.wants/zramswap.service");
    put_generator(host);
    host.put_file("/proc/cmdline", "root=/dev/sda1 systemd.zram=0\n");
    host.put_file("/sys/block/zram0/disksize", "0\n");
    put_swaps(host, "");
    const auto found = run("size = \"25%\"\n", host);
    EXPECT_EQ(set_up(found), nullptr);
    EXPECT_EQ(found.verdict(size, Plane::live), "drift");
    EXPECT_NE(found.cannot(size, Plane::live).find("zram-generator"), std::string::npos)
        << found.cannot(size, Plane::live);
}

TEST(Zram, TwoOwnersAreNamedAndNothingIsDone) {
    auto host = machine();
    put_generator(host);
    const auto found = run("size = \"25%\"\npriority = 5\n", host);
    EXPECT_EQ(found.verdict(size, Plane::persisted), "unknown");
    EXPECT_NE(found.cannot(size, Plane::live).find("two programs"), std::string::npos);
    EXPECT_TRUE(found.evaluation.plan.actions.empty());
}

TEST(Zram, ZswapAndDiskSwapInFrontAreSaid) {
    auto host = machine();
    EXPECT_EQ(run("size = \"50%\"\n", host).finding("zswap-in-front-of-zram"), nullptr);
    host.put_file("/sys/module/zswap/parameters/enabled", "Y\n");
    put_swaps(host, "/dev/zram0 partition 4194300 0 100\n/dev/sda2 partition 4194300 0 200\n");
    const auto found = run("size = \"50%\"\npriority = 100\n", host);
    ASSERT_NE(found.finding("zswap-in-front-of-zram"), nullptr);
    EXPECT_NE(found.finding("zswap-in-front-of-zram")->says.find("zswap.enabled=0"), std::string::npos);
    ASSERT_NE(found.finding("disk-swap-before-zram"), nullptr);
    EXPECT_NE(found.finding("disk-swap-before-zram")->says.find("/dev/sda2"), std::string::npos);
    put_swaps(host, "/dev/zram0 partition 4194300 0 100\n/dev/sda2 partition 4194300 0 -2\n");
    EXPECT_EQ(run("size = \"50%\"\npriority = 100\n", host).finding("disk-swap-before-zram"), nullptr);
}

// What validate says of these lines below [zram].
std::string errors_of(const std::string& lines) {
    MemoryHost host;
    Resources resources;
    resources.push_back(make_zram_resource());
    const auto loaded =
        load_policy_files({Policy::File{"site.toml", "version = 1\n[zram]\n" + lines}}, keys_of(resources));
    std::string text;
    for (const auto& error : loaded.errors) text += error.says + "\n";
    if (!loaded.errors.empty()) return text;
    Notes notes;
    resources.front()->settings(loaded.policy, Topology(host), host, notes);
    for (const auto& error : notes.errors()) text += error.says + "\n";
    return text;
}

TEST(Zram, NonsenseInAPolicyIsAnError) {
    EXPECT_EQ(errors_of("size = \"50%\"\nalgorithm = \"zstd\"\nlevel = -7\npriority = 100\n"), "");
    EXPECT_EQ(errors_of("[zram.zram1]\nsize = \"1GiB\"\nalgorithm = \"lz4\"\nlevel = 12\n"), "");
    for (const char* lines : {"size = \"0%\"",
                              "size = \"201%\"",
                              "size = \"0B\"",
                              "size = \"8G\"",
                              "size = \"900TiB\"",
                              "size = -1",
                              "algorithm = \"zstd(level=1)\"",
                              "algorithm = \"\"",
                              "level = 3",
                              "algorithm = \"lzo\"\nlevel = 1",
                              "algorithm = \"zstd\"\nlevel = 23",
                              "algorithm = \"lz4\"\nlevel = 0",
                              "algorithm = \"lz4hc\"\nlevel = 17",
                              "priority = 32768",
                              "priority = -2",
                              "resident-limit = \"50%\"",
                              "discard = \"often\"",
                              "[zram.zram0]\nsize = \"1GiB\"",
                              "[zram.zram01]\nsize = \"1GiB\"",
                              "[zram.sda]\nsize = \"1GiB\"",
                              "[zram.zram1]\nalgorithm = \"lzo\"\nlevel = 1"}) {
        EXPECT_NE(errors_of(lines), "") << lines;
    }
}

}  // namespace
}  // namespace storpol
