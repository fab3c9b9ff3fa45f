// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/digest.h"
#include "tests/resources/sysctl_fixture.h"

namespace storpol {
namespace {

constexpr auto live = Plane::live;
constexpr auto persisted = Plane::persisted;
const std::string own = "/etc/sysctl.d/zz-storpol.conf";
const std::string swappiness = "vm.swappiness";
const std::string want_150 = "[vm]\nswappiness = 150\n";

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// "150 /etc/sysctl.d/a.conf:1" or "unset SOURCE".
std::string seen(const SysctlRun& run, const std::string& name = swappiness) {
    const Reading& reading = run.reading(name, persisted);
    if (std::holds_alternative<Unset>(reading.state)) return "unset " + reading.source;
    if (const auto* unknown = std::get_if<Unknown>(&reading.state)) return "unknown " + unknown->why;
    return number_of(reading) + " " + reading.source;
}

MemoryHost reader_host(const std::string& init, const std::string& sysctl) {
    MemoryHost host = systemd_host();
    host.remove("/run/systemd/system/.keep");
    host.put_file(init, "");
    if (init != "/sbin/init") host.put_link("/sbin/init", init);
    host.put_file(sysctl, "");
    if (sysctl != "/sbin/sysctl") host.put_link("/sbin/sysctl", sysctl);
    return host;
}

TEST(SysctlPersisted, WithoutAnyFileItIsUnsetWithTheKernelsDefault) {
    auto host = systemd_host();
    const SysctlRun run(want_150, host);
    EXPECT_EQ(seen(run), "unset ");
    EXPECT_EQ(std::get<Unset>(run.reading(swappiness, persisted).state),
              (Unset{Value{std::int64_t{60}}, "kernel default"}));
    EXPECT_EQ(run.verdict(swappiness, persisted), Verdict::drift);
}

TEST(SysctlPersisted, FilesSortByNameOverAllDirectories) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/allow-swap.conf", "vm.swappiness = 150\n");
    host.put_file("/usr/lib/sysctl.d/protect.conf", "vm.swappiness = 10\n");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(seen(run), "10 /usr/lib/sysctl.d/protect.conf:1");
    EXPECT_EQ(run.reading(swappiness, persisted).shadows,
              (std::vector<std::string>{"/etc/sysctl.d/allow-swap.conf:1"}));
}

TEST(SysctlPersisted, NamesSortByByte) {
    auto host = systemd_host();
    int value = 0;
    for (const char* name : {"a", "_x", "Z", "9-a", "10-a"}) {
        host.put_file("/etc/sysctl.d/" + std::string(name) + ".conf",
                      "vm.swappiness = " + std::to_string(++value) + "\n");
        EXPECT_EQ(seen(SysctlRun(want_150, host)), "1 /etc/sysctl.d/a.conf:1") << name;
    }
}

TEST(SysctlPersisted, TheSourceIsThePathAfterLinks) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.conf", "# local\nvm.swappiness=60\n");
    host.put_link("/etc/sysctl.d/99-sysctl.conf", "../sysctl.conf");
    host.put_file("/etc/sysctl.d/90-local.conf", "vm.swappiness = 150\n");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(seen(run), "60 /etc/sysctl.conf:2");
    EXPECT_EQ(run.finding("sysctl-conf-not-read"), nullptr);
}

TEST(SysctlPersisted, MasksAndHiddenFilesAreNotRead) {
    auto host = systemd_host();
    host.put_file("/usr/lib/sysctl.d/60-site.conf", "vm.swappiness = 150\n");
    host.put_file("/usr/lib/sysctl.d/70-x.conf", "vm.swappiness = 150\n");
    host.put_link("/etc/sysctl.d/60-site.conf", "/dev/null");
    host.put_file("/run/sysctl.d/70-x.conf", "-vm/swappiness = 20\n");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(seen(run), "20 /run/sysctl.d/70-x.conf:1");
    EXPECT_TRUE(run.reading(swappiness, persisted).shadows.empty());
    ASSERT_NE(run.finding("volatile-source"), nullptr);
    EXPECT_TRUE(has(run.finding("volatile-source")->says, "/run/sysctl.d/70-x.conf"));
}

TEST(SysctlPersisted, EmptyFilesAndDanglingLinksMaskToo) {
    for (const bool dangling : {false, true}) {
        auto host = systemd_host();
        host.put_file("/usr/lib/sysctl.d/60-site.conf", "vm.swappiness = 150\n");
        if (dangling)
            host.put_link("/etc/sysctl.d/60-site.conf", "/nowhere/at.all");
        else
            host.put_file("/etc/sysctl.d/60-site.conf", "");
        EXPECT_EQ(seen(SysctlRun(want_150, host)), "unset ") << dangling;
    }
}

TEST(SysctlPersisted, OnlyNamesEndingInConfCountAndDotFilesDoNot) {
    auto host = systemd_host();
    for (const char* name : {".hidden.conf", "a.conf~", "a.conf.dpkg-old", "README"}) {
        host.put_file("/etc/sysctl.d/" + std::string(name), "vm.swappiness = 150\n");
    }
    EXPECT_EQ(seen(SysctlRun(want_150, host)), "unset ");
}

TEST(SysctlPersisted, AnExplicitKeyBeatsGlobsInAnyOrder) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/10.conf", "vm.swappiness = 5\n");
    host.put_file("/etc/sysctl.d/20.conf", "vm.swap* = 7\n");
    EXPECT_EQ(seen(SysctlRun(want_150, host)), "5 /etc/sysctl.d/10.conf:1");
    host.put_file("/etc/sysctl.d/10.conf", "vm.s[vw]appiness = 5\n");
    EXPECT_EQ(seen(SysctlRun(want_150, host)), "7 /etc/sysctl.d/20.conf:1");
}

TEST(SysctlPersisted, AnExclusionErasesTheAssignmentAndShieldsFromGlobs) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/10.conf", "vm.swappiness = 5\nvm.swap* = 7\n-vm.swappiness\n");
    EXPECT_EQ(seen(SysctlRun(want_150, host)), "unset ");
    host.put_file("/etc/sysctl.d/20.conf", "vm.swappiness = 9\n");
    EXPECT_EQ(seen(SysctlRun(want_150, host)), "9 /etc/sysctl.d/20.conf:1");
}

TEST(SysctlPersisted, ValuesAreReadAsTheKernelReadsThem) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/a.conf", "vm.swappiness = 0x96 # zram\n");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(run.verdict(swappiness, persisted), Verdict::in_sync);
    EXPECT_EQ(std::get<Found>(run.reading(swappiness, persisted).state).raw, "0x96 # zram");
}

TEST(SysctlPersisted, AValueTheKernelRefusesHasNoEffect) {
    for (const char* value : {"abc", "201", "60.5"}) {
        auto host = systemd_host();
        host.put_file("/etc/sysctl.d/a.conf", std::string("vm.swappiness = ") + value + "\n");
        const SysctlRun run(want_150, host);
        EXPECT_EQ(seen(run), "unset /etc/sysctl.d/a.conf:1") << value;
        EXPECT_NE(run.finding("sysctl-value-refused"), nullptr) << value;
    }
}

TEST(SysctlPersisted, TheKernelCommandLineIsTheWeakestSource) {
    auto host = systemd_host();
    host.put_file("/proc/cmdline", "root=/dev/sda1 sysctl.vm.swappiness=40 sysctl/vm/page-cluster=0 quiet\n");
    EXPECT_EQ(seen(SysctlRun(want_150, host)), "40 /proc/cmdline");
    host.put_file("/usr/lib/sysctl.d/a.conf", "vm.swappiness = 150\n");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(seen(run), "150 /usr/lib/sysctl.d/a.conf:1");
    EXPECT_EQ(run.reading(swappiness, persisted).shadows, (std::vector<std::string>{"/proc/cmdline"}));
}

TEST(SysctlPersisted, AnUnreadableFileMakesItUnknownByName) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/50-secret.conf", "vm.swappiness = 150\n");
    host.refuse({QueryKind::file, {"/etc/sysctl.d/50-secret.conf"}}, EACCES);
    const SysctlRun run(want_150, host);
    EXPECT_EQ(run.verdict(swappiness, persisted), Verdict::unknown);
    EXPECT_TRUE(has(seen(run), "/etc/sysctl.d/50-secret.conf"));
    EXPECT_EQ(run.action(own), nullptr);
}

TEST(SysctlPersisted, AnUnreadableDirectoryMakesItUnknownByName) {
    auto host = systemd_host();
    host.refuse({QueryKind::list, {"/run/sysctl.d"}}, EACCES);
    EXPECT_TRUE(has(seen(SysctlRun(want_150, host)), "/run/sysctl.d"));
}

TEST(SysctlPersisted, ProcpsReadsSysctlConfLastAndDotFiles) {
    auto host = reader_host("/sbin/init", "/usr/sbin/sysctl");
    host.put_file("/etc/sysctl.d/zzz.conf", "vm.swappiness = 150\n");
    host.put_file("/etc/sysctl.d/.a.conf", "vm.page-cluster = 1\n");
    host.put_file("/proc/sys/vm/page-cluster", "3\n");
    const SysctlRun before("[vm]\nswappiness = 150\npage-cluster = 0\n", host);
    EXPECT_EQ(seen(before), "150 /etc/sysctl.d/zzz.conf:1");
    EXPECT_EQ(seen(before, "vm.page-cluster"), "1 /etc/sysctl.d/.a.conf:1");
    host.put_file("/etc/sysctl.conf", "vm.swappiness = 10\n");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(seen(run), "10 /etc/sysctl.conf:1");
    ASSERT_NE(run.finding("overridden"), nullptr);
    EXPECT_TRUE(has(run.finding("overridden")->says, "overridden by /etc/sysctl.conf:1"));
}

TEST(SysctlPersisted, OpenRcWithBusyBoxReadsSysctlConfFirstThenEtcOnly) {
    auto host = reader_host("/bin/busybox", "/bin/busybox");
    host.put_file("/sbin/openrc", "");
    host.put_file("/etc/sysctl.conf", "vm.swappiness = 10\n");
    host.put_file("/usr/lib/sysctl.d/zz.conf", "vm.swappiness = 1\n");
    EXPECT_EQ(seen(SysctlRun(want_150, host)), "10 /etc/sysctl.conf:1");
    host.put_file("/etc/sysctl.d/a.conf", "vm.swappiness 150 # zram\n");
    EXPECT_EQ(seen(SysctlRun(want_150, host)), "150 /etc/sysctl.d/a.conf:1");
}

TEST(SysctlPersisted, PlainBusyBoxReadsNoDirectorySoNoDropInHelps) {
    auto host = reader_host("/bin/busybox", "/bin/busybox");
    host.put_file("/etc/sysctl.conf", "vm.swappiness = 10\n");
    host.put_file("/etc/sysctl.d/a.conf", "vm.swappiness = 150\n");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(seen(run), "10 /etc/sysctl.conf:1");
    EXPECT_EQ(run.action(own), nullptr);
    EXPECT_TRUE(has(run.gap(swappiness, persisted), "/etc/sysctl.conf alone"));
}

TEST(SysctlPersisted, AnUnreadSysctlConfIsAFindingUnderSystemd) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.conf", "kernel.sysrq = 1\nvm.swappiness = 150\n");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(seen(run), "unset ");
    ASSERT_NE(run.finding("sysctl-conf-not-read"), nullptr);
    EXPECT_EQ(run.finding("sysctl-conf-not-read")->where, "/etc/sysctl.conf:2");
    EXPECT_EQ(SysctlRun("[vm]\nmin_free_kbytes = 65536\n", host).finding("sysctl-conf-not-read"), nullptr);
}

TEST(SysctlPersistedPairs, TheCounterpartInALaterFileWins) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/50-a.conf", "vm.dirty_ratio = 5\nvm.dirty_background_ratio = 1\n");
    host.put_file("/etc/sysctl.d/70-b.conf", "vm.dirty_bytes = 268435456\n");
    const SysctlRun run("[vm]\ndirty_ratio = 5\ndirty_background_ratio = 1\n", host);
    EXPECT_EQ(seen(run, "vm.dirty_ratio"), "0 /etc/sysctl.d/70-b.conf:1");
    EXPECT_EQ(run.reading("vm.dirty_ratio", persisted).shadows,
              (std::vector<std::string>{"/etc/sysctl.d/50-a.conf:1"}));
    EXPECT_EQ(run.verdict("vm.dirty_background_ratio", persisted), Verdict::in_sync);
}

// Measured with systemd 252: repeating the same value does not move a key behind its counterpart.
TEST(SysctlPersistedPairs, ARepeatedValueDoesNotMoveUnderSystemd) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/10.conf", "vm.dirty_ratio = 5\n");
    host.put_file("/etc/sysctl.d/20.conf", "vm.dirty_bytes = 100000000\n");
    host.put_file("/etc/sysctl.d/30.conf", "vm.dirty_ratio = 5\n");
    EXPECT_EQ(seen(SysctlRun("[vm]\ndirty_ratio = 5\n", host), "vm.dirty_ratio"), "0 /etc/sysctl.d/20.conf:1");
    host.put_file("/etc/sysctl.d/30.conf", "vm.dirty_ratio = 6\n");
    EXPECT_EQ(seen(SysctlRun("[vm]\ndirty_ratio = 5\n", host), "vm.dirty_ratio"), "6 /etc/sysctl.d/30.conf:1");
    auto procps = reader_host("/sbin/init", "/usr/sbin/sysctl");
    for (const auto& [path, text] : host.files()) {
        if (path.rfind("/etc/sysctl.d/", 0) == 0) procps.put_file(path, text);
    }
    procps.put_file("/etc/sysctl.d/30.conf", "vm.dirty_ratio = 5\n");
    EXPECT_EQ(seen(SysctlRun("[vm]\ndirty_ratio = 5\n", procps), "vm.dirty_ratio"), "5 /etc/sysctl.d/30.conf:1");
}

TEST(SysctlPersistedPairs, ARefusedLimitChangesNothing) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/10.conf", "vm.dirty_ratio = 5\nvm.dirty_bytes = 0\nvm.dirty_bytes = 4096\n");
    EXPECT_EQ(seen(SysctlRun("[vm]\ndirty_ratio = 5\n", host), "vm.dirty_ratio"), "5 /etc/sysctl.d/10.conf:1");
}

TEST(SysctlPersistedPairs, ARatioOfZeroDoesNotLeaveBytes) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/10.conf", "vm.dirty_bytes = 8192\nvm.dirty_ratio = 0\n");
    EXPECT_EQ(seen(SysctlRun("[vm]\ndirty_bytes = 8192\n", host), "vm.dirty_bytes"), "8192 /etc/sysctl.d/10.conf:1");
}

TEST(SysctlDropIn, OneLineOfTheOwnFileIsProposed) {
    auto host = systemd_host();
    host.put_file("/usr/lib/sysctl.d/protect.conf", "vm.swappiness = 10\n");
    const SysctlRun run(want_150, host);
    const Action* action = run.action(own);
    ASSERT_NE(action, nullptr);
    EXPECT_EQ(action->verb, Verb::drop_in);
    EXPECT_EQ(action->when, When::next_boot);
    const auto& edit = std::get<EditFile>(action->step);
    EXPECT_EQ(edit.digest, no_file_digest);
    EXPECT_EQ(std::get<OwnLines>(edit.edit), (OwnLines{"sysctl[\"vm.swappiness\"]", "", {"vm.swappiness = 150"}}));
    EXPECT_EQ(run.finding("overridden"), nullptr);
}

TEST(SysctlDropIn, TheDigestIsThatOfTheFileRead) {
    auto host = systemd_host();
    host.put_file(own, "vm.swappiness = 10\n");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(std::get<EditFile>(run.action(own)->step).digest, digest_of("vm.swappiness = 10\n"));
}

TEST(SysctlDropIn, AForeignFileThatStillWinsIsNamedAndOursIsWrittenOnce) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/zzz.conf", "vm.swappiness = 10\n");
    const SysctlRun first(want_150, host);
    ASSERT_NE(first.action(own), nullptr);
    EXPECT_TRUE(has(first.action(own)->says, "overridden by /etc/sysctl.d/zzz.conf:1"));
    ASSERT_NE(first.finding("overridden"), nullptr);
    host.put_file(own, "# sysctl[\"vm.swappiness\"]\nvm.swappiness = 150\n");
    const SysctlRun second(want_150, host);
    EXPECT_EQ(second.action(own), nullptr);
    EXPECT_EQ(second.gap(swappiness, persisted), "overridden by /etc/sysctl.d/zzz.conf:1");
}

TEST(SysctlDropIn, TheCounterpartInOurOwnFileIsTakenOut) {
    auto host = systemd_host();
    host.put_file(own, "# sysctl[\"vm.dirty_ratio\"]\nvm.dirty_ratio = 5\n");
    const SysctlRun run("[vm]\ndirty_bytes = \"256MiB\"\n", host);
    std::vector<OwnLines> edits;
    for (const auto& action : run.remedy.actions) {
        if (action.target == own) edits.push_back(std::get<OwnLines>(std::get<EditFile>(action.step).edit));
    }
    ASSERT_EQ(edits.size(), 2U);
    EXPECT_EQ(edits[0], (OwnLines{"sysctl[\"vm.dirty_bytes\"]", "", {"vm.dirty_bytes = 268435456"}}));
    EXPECT_EQ(edits[1], (OwnLines{"sysctl[\"vm.dirty_ratio\"]", "", {}}));
}

// A value that a foreign file has already does not move behind the counterpart under systemd-sysctl, so that the plain
// line would have no effect.
TEST(SysctlDropIn, ACounterpartThatWouldStillWinIsExcluded) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/50-a.conf", "vm.dirty_ratio = 5\n");
    host.put_file("/etc/sysctl.d/70-b.conf", "vm.dirty_bytes = 268435456\n");
    const std::string policy = "[vm]\ndirty_ratio = 5\n";
    const SysctlRun run(policy, host);
    ASSERT_NE(run.action(own), nullptr);
    const auto& lines = std::get<OwnLines>(std::get<EditFile>(run.action(own)->step).edit).lines;
    EXPECT_EQ(lines, (std::vector<std::string>{"-vm.dirty_bytes", "vm.dirty_ratio = 5"}));
    EXPECT_EQ(run.finding("overridden"), nullptr);
    host.put_file(own, lines[0] + "\n" + lines[1] + "\n");
    const SysctlRun after(policy, host);
    EXPECT_EQ(after.verdict("vm.dirty_ratio", persisted), Verdict::in_sync);
    EXPECT_EQ(after.action(own), nullptr);
    host.put_file("/etc/sysctl.d/50-a.conf", "vm.dirty_ratio = 7\n");
    host.remove(own);
    const SysctlRun plain(policy, host);
    EXPECT_EQ(std::get<OwnLines>(std::get<EditFile>(plain.action(own)->step).edit).lines,
              (std::vector<std::string>{"vm.dirty_ratio = 5"}));
}

TEST(SysctlDropIn, ALineAddedToOurFileByHandThatWinsIsNamed) {
    auto host = systemd_host();
    host.put_file(own, "# sysctl[\"vm.swappiness\"]\nvm.swappiness = 150\n\n# mine\nvm.swappiness = 10\n");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(run.action(own), nullptr);
    EXPECT_EQ(run.gap(swappiness, persisted), "overridden by " + own + ":5");
}

TEST(SysctlDropIn, ALinkInTheWayIsReportedAndNotWrittenThrough) {
    auto host = systemd_host();
    host.put_link(own, "/dev/null");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(run.action(own), nullptr);
    EXPECT_TRUE(has(run.gap(swappiness, persisted), "/dev/null"));
}

TEST(SysctlDropIn, DeclarativeHostsAreLeftToTheirConfiguration) {
    auto host = systemd_host();
    host.put_file("/etc/NIXOS", "");
    EXPECT_TRUE(has(SysctlRun(want_150, host).gap(swappiness, persisted), "boot.kernel.sysctl"));
}

TEST(SysctlOwners, AMovedValueThatNothingExplainsIsSaidSo) {
    auto host = systemd_host();
    host.put_file(own, "vm.swappiness = 150\n");
    const SysctlRun run(want_150, host);
    EXPECT_EQ(run.verdict(swappiness, persisted), Verdict::in_sync);
    ASSERT_NE(run.finding("live-differs"), nullptr);
    EXPECT_TRUE(has(run.finding("live-differs")->says, "no file, udev rule or profile found here explains the value"));
}

TEST(SysctlOwners, AUdevRuleIsNamed) {
    auto host = systemd_host();
    host.put_file(own, "vm.swappiness = 150\n");
    host.put_file("/usr/lib/udev/rules.d/30-zram.rules",
                  "# from a distribution\nACTION==\"change\", KERNEL==\"zram0\", SYSCTL{vm.swappiness}=\"60\"\n");
    const SysctlRun run(want_150, host);
    ASSERT_NE(run.finding("udev-sets-key"), nullptr);
    EXPECT_EQ(run.finding("udev-sets-key")->where, "/usr/lib/udev/rules.d/30-zram.rules:2");
    EXPECT_TRUE(has(run.finding("live-differs")->says, "30-zram.rules:2"));
    EXPECT_FALSE(has(run.finding("live-differs")->says, "found here explains"));
    host.put_link("/etc/udev/rules.d/30-zram.rules", "/dev/null");
    EXPECT_EQ(SysctlRun(want_150, host).finding("udev-sets-key"), nullptr);
}

TEST(SysctlOwners, ATunedProfileIsFollowedThroughItsIncludes) {
    auto host = systemd_host();
    host.put_file("/etc/tuned/active_profile", "site\n");
    host.put_file("/etc/tuned/profiles/site/tuned.conf",
                  "[main]\ninclude=throughput-performance\n[sysctl]\nkernel.x=1\n");
    host.put_file("/usr/lib/tuned/profiles/throughput-performance/tuned.conf",
                  "[main]\nsummary=x\n\n[vm]\ndirty_ratio = 40%\n[sysctl]\nvm.swappiness=10\n");
    const SysctlRun run("[vm]\nswappiness = 150\ndirty_bytes = \"1MiB\"\n", host);
    std::vector<std::string> where;
    for (const auto& finding : run.notes.findings()) {
        if (finding.code == "tuned-sets-key") where.push_back(finding.where);
    }
    EXPECT_EQ(where, (std::vector<std::string>{"/usr/lib/tuned/profiles/throughput-performance/tuned.conf:5",
                                               "/usr/lib/tuned/profiles/throughput-performance/tuned.conf:7"}));
    EXPECT_EQ(SysctlRun("[vm]\nswappiness = 10\n", host).finding("tuned-sets-key"), nullptr);
}

TEST(SysctlOwners, ATunedIncludeThatLoopsEnds) {
    auto host = systemd_host();
    host.put_file("/etc/tuned/active_profile", "a ../../etc\n");
    host.put_file("/etc/tuned/a/tuned.conf", "[main]\ninclude=a, b\n");
    host.put_file("/etc/tuned/b/tuned.conf", "[main]\ninclude=a\n[sysctl]\nvm.swappiness=1\n");
    EXPECT_NE(SysctlRun(want_150, host).finding("tuned-sets-key"), nullptr);
}

TEST(SysctlSurvey, ItAsksWhatAPlanAsks) {
    auto host = systemd_host();
    host.put_file("/etc/sysctl.d/a.conf", "vm.swappiness = 10\n");
    host.put_file("/proc/sys/vm/drop_caches", "0\n");
    Picture survey(host);
    make_sysctl_resource()->survey(survey);
    const std::string text = survey.capture("0", "2026-11-30T12:00:00Z");
    EXPECT_TRUE(has(text, "/etc/sysctl.d/a.conf"));
    EXPECT_FALSE(has(text, "file /proc/sys/vm/drop_caches"));
    const auto body = text.substr(text.find('\n') + 1);
    const auto replay = make_snapshot_host(body, "capture");
    ASSERT_TRUE(replay.has_value()) << to_text(replay.error());
    const SysctlRun run(want_150, **replay);
    EXPECT_EQ(run.verdict(swappiness, live), Verdict::drift);
    EXPECT_EQ(seen(run), "10 /etc/sysctl.d/a.conf:1");
    EXPECT_NE(run.action(own), nullptr);
}

}  // namespace
}  // namespace storpol
