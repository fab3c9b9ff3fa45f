// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/resources/sysctl_fixture.h"

namespace storpol {
namespace {

constexpr auto live = Plane::live;
constexpr auto persisted = Plane::persisted;
const std::string own = "/etc/sysctl.d/zz-storpol.conf";
const std::string swappiness = "vm.swappiness";

std::string first_error(const std::string& policy) {
    const auto loaded = load_text(policy);
    return loaded.errors.empty() ? "" : loaded.errors.front().says + " | " + loaded.errors.front().fix;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(SysctlPolicy, AMisspeltVmKeyIsAnErrorWithASuggestion) {
    EXPECT_TRUE(has(first_error("[vm]\nswapiness = 10\n"), "swapiness"));
    EXPECT_TRUE(has(first_error("[vm]\nswapiness = 10\n"), "swappiness"));
}

TEST(SysctlPolicy, EveryKeyOfARunningKernelIsKnown) {
    for (const char* key :
         {"page-cluster", "page_lock_unfairness", "vfs_cache_pressure_denom", "defrag_mode", "mmap_rnd_bits"}) {
        EXPECT_EQ(first_error("[vm]\n" + std::string(key) + " = " +
                              (std::string(key) == "vfs_cache_pressure_denom" ? "100" : "1") + "\n"),
                  "")
            << key;
    }
}

TEST(SysctlPolicy, WhatTheKernelRefusesIsRefused) {
    EXPECT_TRUE(has(first_error("[vm]\nswappiness = 201\n"), "range"));
    EXPECT_TRUE(has(first_error("[vm]\nwatermark_scale_factor = 0\n"), "range"));
    EXPECT_TRUE(has(first_error("[vm]\ndirty_bytes = 0\n"), "two pages"));
    EXPECT_TRUE(has(first_error("[vm]\ndirty_bytes = \"4KiB\"\n"), "two pages"));
    EXPECT_TRUE(has(first_error("[vm]\ndirty_background_bytes = 0\n"), "refuses 0"));
    EXPECT_TRUE(has(first_error("[vm]\ndirty_ratio = 0\n"), "ignores"));
    EXPECT_TRUE(has(first_error("[vm]\nmin_free_kbytes = 512\n"), "1024"));
    EXPECT_TRUE(has(first_error("[vm]\ndirty_writeback_centisecs = -1\n"), "range"));
}

TEST(SysctlPolicy, TriggersAreNoSettings) {
    for (const char* key : {"compact_memory", "drop_caches", "stat_refresh"}) {
        EXPECT_TRUE(has(first_error("[vm]\n" + std::string(key) + " = 1\n"), "trigger")) << key;
    }
    EXPECT_TRUE(has(first_error("[sysctl]\nnet.ipv4.route.flush = 1\n"), "trigger"));
}

TEST(SysctlPolicy, NamesOfOtherTreesAreChecked) {
    EXPECT_EQ(first_error("[sysctl]\nnet.core.somaxconn = 1024\nnet.ipv4.tcp_rmem = \"4096 131072 6291456\"\n"), "");
    EXPECT_EQ(first_error("[sysctl]\n\"net/ipv4/conf/eth0.100/rp_filter\" = 1\n"), "");
    EXPECT_TRUE(has(first_error("[sysctl]\nvm.swappiness = 1\n"), "belongs under [vm]"));
    EXPECT_TRUE(has(first_error("[sysctl]\n\"vm/swappiness\" = 1\n"), "belongs under [vm]"));
    EXPECT_TRUE(has(first_error("[sysctl]\n\"net.ipv4.conf.*.rp_filter\" = 1\n"), "glob"));
    for (const char* name : {"net..core", ".net.core", "net.core.", "net/../../etc/passwd", "-net.core", "net core.x",
                             "net=core.x", "lonely"}) {
        EXPECT_NE(first_error("[sysctl]\n\"" + std::string(name) + "\" = 1\n"), "") << name;
    }
}

TEST(SysctlPolicy, ValuesThatWouldBreakTheFileAreRefused) {
    EXPECT_NE(first_error("[sysctl]\nkernel.core_pattern = \"core\\nvm.swappiness=1\"\n"), "");
    EXPECT_NE(first_error("[sysctl]\nkernel.core_pattern = \"\"\n"), "");
    EXPECT_NE(first_error("[sysctl]\nkernel.core_pattern = \" core\"\n"), "");
}

TEST(SysctlPolicy, BothMembersOfAPairAreAContradictionNamingBothLines) {
    auto host = systemd_host();
    const SysctlRun run("[vm]\ndirty_ratio = 5\ndirty_bytes = \"1MiB\"\n", host);
    ASSERT_EQ(run.notes.errors().size(), 1U);
    EXPECT_EQ(run.notes.errors()[0].where.line, 4);
    EXPECT_TRUE(has(run.notes.errors()[0].says, "site.toml:3"));
}

TEST(SysctlPolicy, TwoSpellingsOfOneKeyAreAContradiction) {
    auto host = systemd_host();
    const SysctlRun run("[sysctl]\nnet.core.somaxconn = 5\n\"net/core/somaxconn\" = 6\n", host);
    EXPECT_EQ(run.notes.errors().size(), 1U);
}

TEST(SysctlPolicy, WhatIsUnmanagedIsNoContradiction) {
    MemoryHost host = systemd_host();
    auto resource = make_sysctl_resource();
    const std::vector<PolicyKeys> keys{resource->keys()};
    const auto loaded = load_policy_files({{"base.toml", "version = 1\n[vm]\ndirty_ratio = 5\n"},
                                           {"site.toml",
                                            "version = 1\nunmanaged = [\"sysctl[\\\"vm.dirty_ratio\\\"]\"]\n"
                                            "[vm]\ndirty_bytes = \"1MiB\"\n"}},
                                          keys);
    for (const auto& error : loaded.errors) ADD_FAILURE() << error.says;
    Notes notes;
    const auto settings = resource->settings(loaded.policy, Topology(host), host, notes);
    EXPECT_TRUE(notes.errors().empty());
    ASSERT_EQ(settings.size(), 1U);
    EXPECT_EQ(settings[0].address, "sysctl[\"vm.dirty_bytes\"]");
}

TEST(SysctlLive, AValueIsReadAsTheKernelShowsIt) {
    auto host = systemd_host();
    const SysctlRun run("[vm]\nswappiness = 60\n", host);
    EXPECT_EQ(run.verdict(swappiness, live), Verdict::in_sync);
    EXPECT_EQ(run.reading(swappiness, live).source, "/proc/sys/vm/swappiness");
    EXPECT_EQ(run.settings[0].wanted, "60");
    EXPECT_EQ(run.verdict(swappiness, persisted), Verdict::in_sync);  // unset, and the kernel's default is wanted
}

TEST(SysctlLive, DriftIsWrittenNow) {
    auto host = systemd_host();
    const SysctlRun run("[vm]\nswappiness = 150\n", host);
    EXPECT_EQ(run.verdict(swappiness, live), Verdict::drift);
    const Action* write = run.action("/proc/sys/vm/swappiness");
    ASSERT_NE(write, nullptr);
    EXPECT_EQ(write->verb, Verb::write);
    EXPECT_EQ(write->when, When::now);
    EXPECT_EQ(write->risk, Risk::safe);
    EXPECT_EQ(write->step, Step(WriteAttribute{"/proc/sys/vm/swappiness", "150"}));
    EXPECT_TRUE(write->undo.empty());
    ASSERT_EQ(write->serves.size(), 1U);
    EXPECT_EQ(write->serves[0], (SettingPlane{"sysctl[\"vm.swappiness\"]", live}));
}

TEST(SysctlLive, ListsCompareByWordsAndNumbersByValue) {
    auto host = systemd_host();
    const SysctlRun run("[sysctl]\nnet.ipv4.tcp_rmem = \"4096 131072  6291456\"\nnet.core.somaxconn = \"0x1000\"\n",
                        host);
    EXPECT_EQ(run.verdict("net.ipv4.tcp_rmem", live), Verdict::in_sync);
    EXPECT_EQ(run.verdict("net.core.somaxconn", live), Verdict::in_sync);
}

TEST(SysctlLive, WithoutPermissionItIsUnknownAndNothingIsDone) {
    auto host = systemd_host();
    host.refuse({QueryKind::file, {"/proc/sys/vm/mmap_rnd_bits"}}, EACCES);
    const SysctlRun run("[vm]\nmmap_rnd_bits = 28\n", host);
    EXPECT_EQ(run.verdict("vm.mmap_rnd_bits", live), Verdict::unknown);
    EXPECT_TRUE(has(std::get<Unknown>(run.reading("vm.mmap_rnd_bits", live).state).why, "run as root"));
    EXPECT_EQ(run.action("/proc/sys/vm/mmap_rnd_bits"), nullptr);
}

TEST(SysctlLive, AKeyThisKernelLacksIsAbsentWithAFinding) {
    auto host = systemd_host();
    const SysctlRun run("[vm]\ndefrag_mode = 1\n[sysctl]\nnet.netfilter.nf_conntrack_max = 5\n", host);
    for (const char* name : {"vm.defrag_mode", "net.netfilter.nf_conntrack_max"}) {
        EXPECT_EQ(run.verdict(name, live), Verdict::absent) << name;
        EXPECT_EQ(run.verdict(name, persisted), Verdict::absent) << name;
    }
    EXPECT_NE(run.finding("no-such-sysctl"), nullptr);
    EXPECT_TRUE(run.remedy.actions.empty());
}

TEST(SysctlLive, AnImageHasNoLivePlaneAndPersistedStillCounts) {
    const auto image = make_snapshot_host(
        "file /etc/sysctl.d/a.conf\n|vm.swappiness = 10\nlist /etc/sysctl.d\n|a.conf\n"
        "list /run/sysctl.d !ENOENT\nlist /usr/local/lib/sysctl.d !ENOENT\n"
        "list /usr/lib/sysctl.d !ENOENT\n",
        "image");
    ASSERT_TRUE(image.has_value()) << to_text(image.error());
    const SysctlRun run("[vm]\nswappiness = 150\n", **image);
    EXPECT_EQ(run.verdict(swappiness, live), Verdict::unknown);
    EXPECT_EQ(run.verdict(swappiness, persisted), Verdict::drift);
    EXPECT_EQ(run.reading(swappiness, persisted).source, "/etc/sysctl.d/a.conf:1");
    EXPECT_NE(run.finding("init-not-seen"), nullptr);
}

TEST(SysctlLive, AReadOnlyProcSysLeavesBothPlanesToTheHostOfTheContainer) {
    auto host = systemd_host();
    host.put_file("/proc/self/mountinfo",
                  "22 1 0:5 / /proc rw,nosuid - proc proc rw\n23 22 0:5 /sys /proc/sys ro,nosuid - proc proc rw\n");
    const SysctlRun run("[vm]\nswappiness = 150\ndirty_ratio = 20\n", host);
    EXPECT_EQ(run.verdict(swappiness, live), Verdict::absent);
    EXPECT_EQ(run.verdict(swappiness, persisted), Verdict::absent);
    EXPECT_EQ(run.verdict("vm.dirty_ratio", live), Verdict::in_sync);
    EXPECT_NE(run.finding("proc-sys-read-only"), nullptr);
    EXPECT_TRUE(run.remedy.actions.empty());
}

TEST(SysctlLive, BoundsAreOneSided) {
    auto host = systemd_host();
    const SysctlRun run("[vm]\nswappiness = { at-most = 100 }\nwatermark_scale_factor = { at-least = 125 }\n", host);
    EXPECT_EQ(run.verdict(swappiness, live), Verdict::in_sync);
    EXPECT_EQ(run.verdict(swappiness, persisted), Verdict::in_sync);
    EXPECT_EQ(run.verdict("vm.watermark_scale_factor", live), Verdict::drift);
    EXPECT_EQ(run.action("/proc/sys/vm/watermark_scale_factor")->step,
              Step(WriteAttribute{"/proc/sys/vm/watermark_scale_factor", "125"}));
}

TEST(SysctlLive, MoreFreeMemoryThanWantedIsTheKernelsDoing) {
    auto host = systemd_host();
    const SysctlRun run("[vm]\nmin_free_kbytes = 65536\n", host);
    EXPECT_EQ(run.verdict("vm.min_free_kbytes", live), Verdict::in_sync);
    EXPECT_EQ(run.verdict("vm.min_free_kbytes", persisted), Verdict::drift);
}

TEST(SysctlLive, TooMuchFreeMemoryIsRefusedWithTheNumbers) {
    auto host = systemd_host();
    const SysctlRun run("[vm]\nmin_free_kbytes = 2000000\n", host);
    const Action* write = run.action("/proc/sys/vm/min_free_kbytes");
    ASSERT_NE(write, nullptr);
    EXPECT_EQ(write->risk, Risk::guarded);
    EXPECT_TRUE(has(write->refused, "2000000"));
    EXPECT_TRUE(has(write->refused, "16384000"));
    EXPECT_TRUE(has(run.action(own)->refused, "2000000"));
    const SysctlRun modest("[vm]\nmin_free_kbytes = 131072\n", host);
    EXPECT_EQ(modest.action("/proc/sys/vm/min_free_kbytes")->refused, "");
}

TEST(SysctlLive, WhatAnOldKernelCannotDoIsSaid) {
    auto host = systemd_host();
    host.put_file("/proc/sys/kernel/osrelease", "5.4.0-150-generic\n");
    const SysctlRun run("[vm]\nswappiness = 150\nwatermark_scale_factor = 2000\n", host);
    EXPECT_TRUE(has(run.gap(swappiness, live), "needs Linux 5.8"));
    EXPECT_TRUE(has(run.gap(swappiness, persisted), "needs Linux 5.8"));
    EXPECT_TRUE(has(run.gap("vm.watermark_scale_factor", live), "needs Linux 5.18"));
    EXPECT_TRUE(run.remedy.actions.empty());
}

TEST(SysctlPairs, AWantedRatioReadsZeroWhileBytesAreInForce) {
    auto host = systemd_host();
    host.put_file("/proc/sys/vm/dirty_ratio", "0\n");
    host.put_file("/proc/sys/vm/dirty_bytes", "268435456\n");
    const SysctlRun run("[vm]\ndirty_ratio = 5\n", host);
    EXPECT_EQ(number_of(run.reading("vm.dirty_ratio", live)), "0");
    EXPECT_EQ(run.verdict("vm.dirty_ratio", live), Verdict::drift);
    const Action* write = run.action("/proc/sys/vm/dirty_ratio");
    ASSERT_NE(write, nullptr);
    EXPECT_EQ(write->undo, (std::vector<Step>{WriteAttribute{"/proc/sys/vm/dirty_bytes", "268435456"}}));
}

TEST(SysctlPairs, UndoingALimitInBytesRestoresTheRatioAndNeverWritesZeroBytes) {
    auto host = systemd_host();
    const SysctlRun run("[vm]\ndirty_bytes = \"256MiB\"\ndirty_background_bytes = \"64MiB\"\n", host);
    EXPECT_EQ(run.action("/proc/sys/vm/dirty_bytes")->step,
              Step(WriteAttribute{"/proc/sys/vm/dirty_bytes", "268435456"}));
    EXPECT_EQ(run.action("/proc/sys/vm/dirty_bytes")->undo,
              (std::vector<Step>{WriteAttribute{"/proc/sys/vm/dirty_ratio", "20"}}));
    EXPECT_EQ(run.action("/proc/sys/vm/dirty_background_bytes")->undo,
              (std::vector<Step>{WriteAttribute{"/proc/sys/vm/dirty_background_ratio", "10"}}));
}

TEST(SysctlPairs, ABoundOnTheMemberThatIsNotInForceDoesNotHold) {
    auto host = systemd_host();
    const SysctlRun run("[vm]\ndirty_bytes = { at-most = \"256MiB\" }\n", host);
    EXPECT_EQ(run.verdict("vm.dirty_bytes", live), Verdict::drift);
    EXPECT_EQ(run.verdict("vm.dirty_bytes", persisted), Verdict::drift);
    host.put_file("/proc/sys/vm/dirty_ratio", "0\n");
    host.put_file("/proc/sys/vm/dirty_bytes", "1048576\n");
    host.put_file(own, "vm.dirty_bytes = 1048576\n");
    const SysctlRun after("[vm]\ndirty_bytes = { at-most = \"256MiB\" }\n", host);
    EXPECT_TRUE(after.differences.empty());
}

TEST(SysctlPairs, AWantedZeroIsNotSatisfiedByTheOtherMember) {
    auto host = systemd_host();
    host.put_file("/proc/sys/vm/dirty_background_ratio", "0\n");
    host.put_file("/proc/sys/vm/dirty_background_bytes", "4096\n");
    const SysctlRun run("[vm]\ndirty_background_ratio = 0\n", host);
    EXPECT_EQ(run.verdict("vm.dirty_background_ratio", live), Verdict::drift);
}

TEST(SysctlPairs, ABackgroundLimitThatIsNotBelowTheOtherIsAFinding) {
    auto host = systemd_host();
    EXPECT_EQ(SysctlRun("[vm]\ndirty_ratio = 11\n", host).finding("dirty-background-not-below"), nullptr);
    EXPECT_NE(SysctlRun("[vm]\ndirty_ratio = 10\n", host).finding("dirty-background-not-below"), nullptr);
    EXPECT_NE(
        SysctlRun("[vm]\ndirty_ratio = 5\ndirty_background_ratio = 5\n", host).finding("dirty-background-not-below"),
        nullptr);
    EXPECT_EQ(SysctlRun("[vm]\ndirty_bytes = \"1MiB\"\n", host).finding("dirty-background-not-below"), nullptr);
}

TEST(SysctlFindings, TheDenominatorOfCachePressureIsMentioned) {
    auto host = systemd_host();
    const std::string policy = "[vm]\nvfs_cache_pressure = 50\n";
    EXPECT_EQ(SysctlRun(policy, host).finding("vfs-cache-pressure-denominator"), nullptr);
    host.put_file("/proc/sys/vm/vfs_cache_pressure_denom", "1000\n");
    EXPECT_NE(SysctlRun(policy, host).finding("vfs-cache-pressure-denominator"), nullptr);
}

}  // namespace
}  // namespace storpol
