// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/fstrim.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "engine/host/host.h"
#include "resources/mount/mount.h"
#include "tests/resources/domain_run.h"

namespace storpol {
namespace {

constexpr const char* timer_file = "/usr/lib/systemd/system/fstrim.timer";
constexpr const char* service_file = "/usr/lib/systemd/system/fstrim.service";
constexpr const char* timer_drop_in = "/etc/systemd/system/fstrim.timer.d/50-storpol.conf";
constexpr const char* service_drop_in = "/etc/systemd/system/fstrim.service.d/50-storpol.conf";
constexpr const char* link = "/etc/systemd/system/timers.target.wants/fstrim.timer";

// util-linux 2.38 on Debian 12.
constexpr const char* stock_timer =
    "[Unit]\nDescription=Discard unused blocks once a week\nDocumentation=man:fstrim\n"
    "ConditionVirtualization=!container\nConditionPathExists=!/etc/initrd-release\n\n"
    "[Timer]\nOnCalendar=weekly\nAccuracySec=1h\nPersistent=true\nRandomizedDelaySec=6000\n\n"
    "[Install]\nWantedBy=timers.target\n";
constexpr const char* stock_service =
    "[Unit]\nDescription=Discard unused blocks on filesystems from /etc/fstab\n"
    "ConditionVirtualization=!container\n\n"
    "[Service]\nType=oneshot\n"
    "ExecStart=/sbin/fstrim --listed-in /etc/fstab:/proc/self/mountinfo --verbose --quiet-unsupported\n"
    "PrivateDevices=no\nPrivateNetwork=yes\nPrivateUsers=no\nProtectKernelTunables=yes\n"
    "SystemCallFilter=@default @file-system @basic-io @system-service\n";

// A laptop with a root on one disk that discards, and the pair as it is shipped and enabled.
void fill(MemoryHost& host) {
    host.put_file(timer_file, stock_timer);
    host.put_file(service_file, stock_service);
    host.put_link(link, timer_file);
    host.put_file("/run/systemd/system/user.slice", "");
    host.put_file("/etc/fstab", "UUID=1b2c / ext4 defaults 0 1\n");
    host.put_file("/proc/self/mountinfo", "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n");
    host.put_link("/dev/disk/by-uuid/1b2c", "../../sda1");
    host.put_link("/sys/dev/block/8:1", "../../devices/pci/ata1/block/sda/sda1");
    host.put_file("/sys/block/sda/dev", "8:0\n");
    host.put_file("/sys/block/sda/sda1/dev", "8:1\n");
    host.put_file("/sys/block/sda/sda1/partition", "1\n");
    host.put_file("/sys/block/sda/queue/discard_max_bytes", "2147450880\n");
    host.put_file("/sys/block/sda/queue/discard_granularity", "4096\n");
    host.put({QueryKind::now, {}}, {"2026-11-30T12:00:00Z", "", {}});
    host.put({QueryKind::package, {"util-linux"}}, {"2.38.1-5+deb12u3", "", {}});
    host.put({QueryKind::journal, {"fstrim.service", "1000"}}, {"", "", {}});
}

void put_manager(MemoryHost& host, const std::string& more = "") {
    host.put({QueryKind::unit, {"fstrim.timer"}},
             {"ActiveState=active\nLoadState=loaded\nTimersCalendar=OnCalendar=Mon *-*-* 00:00:00\nTimersMonotonic=\n"
              "Persistent=yes\nRandomizedDelayUSec=6000000000\nAccuracyUSec=3600000000\n" +
                  more,
              "",
              {}});
    host.put({QueryKind::unit, {"fstrim.service"}},
             {"LoadState=loaded\nNice=0\nIOSchedulingClass=0\nConditions=ConditionVirtualization=!container\n"
              "ExecStart=/sbin/fstrim --listed-in /etc/fstab:/proc/self/mountinfo --verbose --quiet-unsupported\n",
              "",
              {}});
}

void put_journal(MemoryHost& host, const std::string& lines) {
    host.put({QueryKind::journal, {"fstrim.service", "1000"}}, {lines, "", {}});
}

Resources mounts() {
    Resources others;
    others.push_back(make_mount_resource());
    return others;
}

struct FstrimRun : DomainRun {
    FstrimRun(const std::string& policy, Host& host, bool image = false)
        : DomainRun(make_fstrim_resource(), policy, host, image, mounts()) {}

    std::string persisted(const std::string& property) const { return verdict("fstrim." + property, Plane::persisted); }

    std::string live(const std::string& property) const { return verdict("fstrim." + property, Plane::live); }

    std::string found(const std::string& address, Plane plane) const {
        const auto* state = setting(address);
        const auto* on = state == nullptr ? nullptr : state->on(plane);
        const auto* value = on == nullptr ? nullptr : std::get_if<Found>(&on->reading.state);
        return value == nullptr ? "none" : to_text(value->value);
    }
};

TEST(Fstrim, AStockHostIsInSyncWithWhatItDoes) {
    MemoryHost host;
    fill(host);
    put_manager(host);
    const FstrimRun run(
        "[fstrim]\nschedule = \"weekly\"\ncatch-up = true\nrunner = \"fstrim\"\nrandom-delay = \"100min\"\n", host);
    for (const char* property : {"enabled", "schedule", "catch-up", "runner", "random-delay"}) {
        EXPECT_EQ(run.persisted(property), "in-sync") << property;
        EXPECT_EQ(run.live(property), "in-sync") << property;
    }
    EXPECT_EQ(run.verdict("fstrim.coverage[\"/\"]", Plane::persisted), "in-sync");
    EXPECT_EQ(run.source("fstrim.schedule", Plane::persisted), std::string(timer_file) + ":8");
    EXPECT_TRUE(run.evaluation.plan.actions.empty());
}

TEST(Fstrim, TheListIsResetBeforeTheNewSchedule) {
    MemoryHost host;
    fill(host);
    put_manager(host);
    const FstrimRun run("[fstrim]\nschedule = \"daily\"\nboot-delay = \"5min\"\n", host);
    const auto text = run.file_after(timer_drop_in);
    const auto reset = text.find("\nOnCalendar=\n");
    const auto daily = text.find("\nOnCalendar=daily\n");
    const auto delay = text.find("\nOnBootSec=5min\n");
    ASSERT_NE(reset, std::string::npos) << text;
    EXPECT_LT(reset, daily);
    EXPECT_LT(daily, delay);
    EXPECT_NE(run.action(Verb::daemon_reload, "systemd"), nullptr);
}

TEST(Fstrim, AnAdministratorsOverrideThatWinsIsNamed) {
    MemoryHost host;
    fill(host);
    host.put_file("/etc/systemd/system/fstrim.timer.d/override.conf", "[Timer]\nOnCalendar=\nOnCalendar=monthly\n");
    const FstrimRun run("[fstrim]\nschedule = \"daily\"\n", host);
    EXPECT_EQ(run.persisted("schedule"), "drift");
    EXPECT_EQ(run.cannot("fstrim.schedule", Plane::persisted),
              "overridden by /etc/systemd/system/fstrim.timer.d/override.conf:3");
    EXPECT_TRUE(run.evaluation.plan.actions.empty());
}

TEST(Fstrim, ASecondScheduleInADropInIsDrift) {
    MemoryHost host;
    fill(host);
    host.put_file("/etc/systemd/system/fstrim.timer.d/10-more.conf", "[Timer]\nOnCalendar=daily\n");
    const FstrimRun run("[fstrim]\nschedule = \"daily\"\n", host);
    EXPECT_EQ(run.persisted("schedule"), "drift");
    EXPECT_NE(run.file_after(timer_drop_in), "");
}

TEST(Fstrim, AMistypedCalendarNeverFires) {
    MemoryHost host;
    fill(host);
    std::string text = stock_timer;
    text.replace(text.find("=weekly"), 7, "=weekley");
    host.put_file(timer_file, text);
    const FstrimRun run("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_EQ(run.found("fstrim.schedule", Plane::persisted), "never");
    EXPECT_NE(run.finding("unit-line-ignored"), nullptr);
    EXPECT_NE(run.file_after(timer_drop_in).find("OnCalendar=weekly"), std::string::npos);
}

TEST(Fstrim, ABootDelayOfTheVendorIsKeptWhenTheScheduleChanges) {
    MemoryHost host;
    fill(host);
    host.put_file("/etc/systemd/system/fstrim.timer.d/10-boot.conf", "[Timer]\nOnBootSec=15min\n");
    const FstrimRun run("[fstrim]\nschedule = \"daily\"\n", host);
    const auto text = run.file_after(timer_drop_in);
    EXPECT_NE(text.find("\nOnBootSec=15min\n"), std::string::npos) << text;
}

TEST(Fstrim, AMissingLinkIsMade) {
    MemoryHost host;
    fill(host);
    host.remove(link);
    const FstrimRun run("[fstrim]\n", host);
    EXPECT_EQ(run.persisted("enabled"), "drift");
    const auto* action = run.action(Verb::enable_unit, "fstrim.timer");
    ASSERT_NE(action, nullptr);
    EXPECT_EQ(std::get<SetLink>(action->step).path, link);
    EXPECT_EQ(std::get<SetLink>(action->step).target, timer_file);
}

TEST(Fstrim, AMaskIsTakenOff) {
    MemoryHost host;
    fill(host);
    host.put_link("/etc/systemd/system/fstrim.timer", "/dev/null");
    const FstrimRun run("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_EQ(run.source("fstrim.enabled", Plane::persisted), "/etc/systemd/system/fstrim.timer");
    const auto* action = run.action(Verb::enable_unit, "fstrim.timer");
    ASSERT_NE(action, nullptr);
    EXPECT_EQ(std::get<SetLink>(action->step).target, "");
}

TEST(Fstrim, DisabledTakesTheLinkAway) {
    MemoryHost host;
    fill(host);
    put_manager(host);
    const FstrimRun run("[fstrim]\nenabled = false\n", host);
    EXPECT_EQ(run.evaluation.settings.size(), 1U);
    ASSERT_NE(run.action(Verb::disable_unit, "fstrim.timer"), nullptr);
    EXPECT_EQ(run.live("enabled"), "drift");
}

TEST(Fstrim, AConditionThatIsNeverMetIsDrift) {
    MemoryHost host;
    fill(host);
    host.put_file("/etc/systemd/system/fstrim.timer.d/10.conf", "[Unit]\nConditionPathExists=/etc/no\n");
    const FstrimRun run("[fstrim]\n", host);
    EXPECT_EQ(run.source("fstrim.enabled", Plane::persisted), "/etc/systemd/system/fstrim.timer.d/10.conf:2");
    const auto text = run.file_after(timer_drop_in);
    EXPECT_NE(text.find("ConditionPathExists=\n"), std::string::npos) << text;
    EXPECT_NE(text.find("ConditionVirtualization=!container\n"), std::string::npos) << text;
    EXPECT_NE(text.find("ConditionPathExists=!/etc/initrd-release\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("/etc/no\n"), std::string::npos) << text;
}

TEST(Fstrim, AHostWithoutTheUnitsSaysSo) {
    MemoryHost host;
    fill(host);
    host.remove(timer_file);
    host.remove(service_file);
    const FstrimRun run("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_EQ(run.persisted("enabled"), "drift");
    EXPECT_NE(run.cannot("fstrim.enabled", Plane::persisted).find("install util-linux"), std::string::npos);
    EXPECT_TRUE(run.evaluation.plan.actions.empty());
}

TEST(Fstrim, AFloorAndTheServicesPriorityKeepItsSandbox) {
    MemoryHost host;
    fill(host);
    const FstrimRun run("[fstrim]\nmin-extent = \"1MiB\"\nio-class = \"idle\"\nnice = 10\non-battery = \"skip\"\n",
                        host);
    const auto text = run.file_after(service_drop_in);
    EXPECT_NE(text.find("ExecStart=\n"), std::string::npos) << text;
    EXPECT_NE(
        text.find("ExecStart=/sbin/fstrim --minimum 1048576 --listed-in /etc/fstab:/proc/self/mountinfo --verbose "
                  "--quiet-unsupported\n"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("IOSchedulingClass=idle\n"), std::string::npos);
    EXPECT_NE(text.find("Nice=10\n"), std::string::npos);
    EXPECT_NE(text.find("ConditionACPower=true\n"), std::string::npos);
    EXPECT_EQ(text.find("SystemCallFilter"), std::string::npos);
}

TEST(Fstrim, TheRunnerReplacesTheCommandWhereItIsInstalled) {
    MemoryHost host;
    fill(host);
    const std::string policy =
        "[fstrim]\nrunner = \"storpol\"\nmin-extent = \"1MiB\"\nwindow = \"2h\"\nfull-pass = \"monthly\"\n";
    EXPECT_NE(FstrimRun(policy, host).cannot("fstrim.runner", Plane::persisted).find("not installed"),
              std::string::npos);
    host.put({QueryKind::program_exists, {"/usr/bin/storpol"}}, {"yes", "", {}});
    const FstrimRun run(policy, host);
    const auto text = run.file_after(service_drop_in);
    EXPECT_NE(text.find("ExecStart=\n"), std::string::npos) << text;
    EXPECT_NE(text.find("ExecStart=/usr/bin/storpol trim --scheduled\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("--minimum"), std::string::npos);
    host.put_file(service_drop_in, text);
    const FstrimRun after(policy, host);
    EXPECT_EQ(after.persisted("runner"), "in-sync");
    EXPECT_EQ(after.persisted("min-extent"), "absent");
    EXPECT_EQ(after.verdict("fstrim.coverage[\"/\"]", Plane::persisted), "in-sync");
}

TEST(Fstrim, WhatTheManagerHoldsIsReloaded) {
    MemoryHost host;
    fill(host);
    put_manager(host);
    host.put_file(
        timer_drop_in,
        "# Written by storpol\n[Timer]\n# fstrim.schedule\nOnCalendar=\n# fstrim.schedule\nOnCalendar=daily\n");
    const FstrimRun run("[fstrim]\nschedule = \"daily\"\n", host);
    EXPECT_EQ(run.persisted("schedule"), "in-sync");
    EXPECT_EQ(run.live("schedule"), "drift");
    EXPECT_NE(run.action(Verb::daemon_reload, "systemd"), nullptr);
    EXPECT_EQ(run.evaluation.plan.actions.size(), 1U);
}

TEST(Fstrim, AScheduleThatWasDueSinceTheLastRunIsGuarded) {
    MemoryHost host;
    fill(host);
    put_manager(host, "LastTriggerUSec=2026-11-29T00:10:00Z\n");
    const std::string policy = "[fstrim]\nschedule = \"*-*-* 03:00\"\n";
    const FstrimRun run(policy, host);
    ASSERT_NE(run.action(Verb::daemon_reload, "systemd"), nullptr);
    EXPECT_EQ(run.action(Verb::daemon_reload, "systemd")->risk, Risk::guarded);
    put_manager(host, "LastTriggerUSec=2026-11-30T04:00:00Z\n");
    EXPECT_EQ(FstrimRun(policy, host).action(Verb::daemon_reload, "systemd")->risk, Risk::safe);
}

TEST(Fstrim, OnlyTheFirstListIsRead) {
    MemoryHost host;
    fill(host);
    host.put_file("/proc/self/mountinfo",
                  "25 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n26 25 8:2 / /srv/my\\040data rw - xfs /dev/sda2 rw\n");
    host.put_link("/sys/dev/block/8:2", "../../devices/pci/ata1/block/sda/sda2");
    host.put_file("/sys/block/sda/sda2/dev", "8:2\n");
    host.put_file("/sys/block/sda/sda2/partition", "2\n");
    const FstrimRun run("[fstrim]\n", host);
    EXPECT_EQ(run.verdict("fstrim.coverage[\"/\"]", Plane::persisted), "in-sync");
    EXPECT_EQ(run.verdict("fstrim.coverage[\"/srv/my data\"]", Plane::persisted), "drift");
    const auto text = run.file_after(service_drop_in);
    EXPECT_NE(text.find("ExecStart=/sbin/fstrim --verbose --quiet-unsupported /srv/my\\x20data\n"), std::string::npos)
        << text;
    host.put_file(service_drop_in, text);
    EXPECT_EQ(FstrimRun("[fstrim]\n", host).verdict("fstrim.coverage[\"/srv/my data\"]", Plane::persisted), "in-sync");
}

TEST(Fstrim, AnOptOutIsOneWordOfFstab) {
    MemoryHost host;
    fill(host);
    const std::string policy = "[fstrim]\n[[mount]]\nmatch = { target = \"/\" }\nfstrim = { enabled = false }\n";
    const FstrimRun run(policy, host);
    EXPECT_EQ(run.file_after("/etc/fstab"), "UUID=1b2c / ext4 defaults,X-fstrim.notrim 0 1\n");
    host.put_file("/etc/fstab", run.file_after("/etc/fstab"));
    EXPECT_EQ(FstrimRun(policy, host).verdict("fstrim.coverage[\"/\"]", Plane::persisted), "in-sync");
    EXPECT_EQ(FstrimRun("[fstrim]\n", host).file_after("/etc/fstab"), "UUID=1b2c / ext4 defaults 0 1\n");
    host.put({QueryKind::package, {"util-linux"}}, {"2.37.4", "", {}});
    EXPECT_EQ(FstrimRun("[fstrim]\n", host).verdict("fstrim.coverage[\"/\"]", Plane::persisted), "in-sync");
}

TEST(Fstrim, NothingOnRecordIsNeverRan) {
    MemoryHost host;
    fill(host);
    const FstrimRun run("[fstrim]\nevidence = { max-age = \"10d\" }\n", host);
    EXPECT_EQ(run.found("fstrim.evidence", Plane::evidence), "never ran");
    EXPECT_EQ(run.found("fstrim.evidence[\"/\"]", Plane::evidence), "never ran");
    EXPECT_NE(run.cannot("fstrim.evidence", Plane::evidence).find("only a run makes it so"), std::string::npos);
}

TEST(Fstrim, ARunOnRecordIsFreshUntilItIsTooOld) {
    MemoryHost host;
    fill(host);
    put_journal(host,
                "2026-11-28T00:11:02Z \"/: 8 GiB (8589934592 bytes) trimmed on /dev/sda1\"\n"
                "2026-11-28T00:11:03Z result=success\n");
    EXPECT_EQ(FstrimRun("[fstrim]\nevidence = { max-age = \"10d\" }\n", host)
                  .found("fstrim.evidence[\"/\"]", Plane::evidence),
              "fresh");
    const FstrimRun old("[fstrim]\nevidence = { max-age = \"1d\" }\n", host);
    EXPECT_EQ(old.found("fstrim.evidence", Plane::evidence), "overdue");
    EXPECT_EQ(old.found("fstrim.evidence[\"/\"]", Plane::evidence), "overdue");
}

TEST(Fstrim, ARunThatFailsOrIsSkippedIsNoEvidence) {
    MemoryHost host;
    fill(host);
    const std::string policy = "[fstrim]\nevidence = { max-age = \"10d\" }\n";
    put_journal(host,
                "2026-11-29T00:11:02Z \"fstrim: /: FITRIM ioctl failed: Input/output error\"\n"
                "2026-11-29T00:11:03Z result=exit-code status=1\n");
    const FstrimRun failing(policy, host);
    EXPECT_EQ(failing.found("fstrim.evidence", Plane::evidence), "failing");
    EXPECT_EQ(failing.found("fstrim.evidence[\"/\"]", Plane::evidence), "failing");
    EXPECT_NE(failing.cannot("fstrim.evidence[\"/\"]", Plane::evidence).find("Input/output error"), std::string::npos);
    put_journal(host, "2026-11-29T00:11:03Z result=condition status=ConditionACPower=true\n");
    EXPECT_EQ(FstrimRun(policy, host).found("fstrim.evidence", Plane::evidence), "failing");
}

TEST(Fstrim, RunsThatTrimNothingAreCounted) {
    MemoryHost host;
    fill(host);
    put_journal(
        host,
        "2026-11-26T00:11:02Z \"/: 8 GiB (8589934592 bytes) trimmed on /dev/sda1\"\n"
        "2026-11-26T00:11:03Z result=success\n2026-11-27T00:11:03Z result=success\n"
        "2026-11-28T00:11:02Z \"/: 0 B (0 bytes) trimmed on /dev/sda1\"\n2026-11-28T00:11:03Z result=success\n");
    EXPECT_EQ(FstrimRun("[fstrim]\nevidence = { max-zero-byte-runs = 1 }\n", host)
                  .found("fstrim.evidence[\"/\"]", Plane::evidence),
              "zero-byte runs");
    EXPECT_EQ(FstrimRun("[fstrim]\nevidence = { max-zero-byte-runs = 2 }\n", host)
                  .found("fstrim.evidence[\"/\"]", Plane::evidence),
              "fresh");
}

TEST(Fstrim, WhatCannotBeReadIsUnknown) {
    MemoryHost host;
    fill(host);
    host.refuse({QueryKind::journal, {"fstrim.service", "1000"}}, EACCES);
    const std::string policy = "[fstrim]\nevidence = { max-age = \"10d\" }\n";
    EXPECT_EQ(FstrimRun(policy, host).verdict("fstrim.evidence", Plane::evidence), "unknown");
    put_journal(host, "2031-01-01T00:11:02Z \"/: 8 GiB (8589934592 bytes) trimmed on /dev/sda1\"\n");
    EXPECT_EQ(FstrimRun(policy, host).verdict("fstrim.evidence[\"/\"]", Plane::evidence), "unknown");
    host.refuse({QueryKind::list, {"/etc/systemd/system"}}, EACCES);
    EXPECT_EQ(FstrimRun(policy, host).persisted("enabled"), "unknown");
}

TEST(Fstrim, ADamagedRecordIsNoEvidenceAndNoCrash) {
    MemoryHost host;
    fill(host);
    host.put_file("/var/lib/storpol/trim/1b2c.json", "{ \"format\": 99");
    const FstrimRun run("[fstrim]\nevidence = { max-age = \"10d\" }\n", host);
    EXPECT_EQ(run.verdict("fstrim.evidence[\"/\"]", Plane::evidence), "unknown");
}

TEST(Fstrim, AMissedRunIsSaid) {
    MemoryHost host;
    fill(host);
    put_manager(host, "LastTriggerUSec=2026-11-03T00:22:10Z\n");
    const FstrimRun run("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_NE(run.finding("trim-run-missed"), nullptr);
}

TEST(Fstrim, AnotherInitSystemIsNotGuessedAt) {
    MemoryHost host;
    fill(host);
    host.remove("/run/systemd/system/user.slice");
    host.put_file("/sbin/openrc", "");
    const FstrimRun run("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_EQ(run.persisted("schedule"), "unknown");
    EXPECT_EQ(run.live("schedule"), "absent");
    EXPECT_TRUE(run.evaluation.plan.actions.empty());
}

TEST(Fstrim, AContainerLeavesItToItsHost) {
    MemoryHost host;
    fill(host);
    host.put_file("/run/.containerenv", "");
    const FstrimRun run("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_TRUE(run.evaluation.settings.empty());
    EXPECT_NE(run.finding("fstrim-in-container"), nullptr);
}

std::string errors_of(const std::string& policy) {
    Resources resources;
    resources.push_back(make_fstrim_resource());
    resources.push_back(make_mount_resource());
    const auto loaded = load_policy_files({Policy::File{"site.toml", "version = 1\n" + policy}}, keys_of(resources));
    std::string text;
    for (const auto& error : loaded.errors) text += error.says + "; " + error.fix + "\n";
    if (!loaded.errors.empty()) return text;
    MemoryHost nowhere;
    for (const auto& error : evaluate(loaded.policy, resources, nowhere, {}).errors) text += error.says + "\n";
    return text;
}

TEST(FstrimPolicy, AMistypedScheduleIsAnError) {
    EXPECT_NE(errors_of("[fstrim]\nschedule = \"weekley\"\n").find("write \"weekly\""), std::string::npos);
    EXPECT_NE(errors_of("[fstrim]\nschedule = \"*-02-30\"\n").find("it never comes"), std::string::npos);
    EXPECT_NE(errors_of("[fstrim]\nschedule = \"2020-01-01\"\n").find("it never comes"), std::string::npos);
    EXPECT_EQ(errors_of("[fstrim]\nschedule = \"Sun 04:00 Europe/Berlin\"\n"), "");
}

TEST(FstrimPolicy, WhatOnlyTheRunnerHasNeedsIt) {
    EXPECT_NE(errors_of("[fstrim]\nwindow = \"2h\"\n").find("the paced runner's"), std::string::npos);
    EXPECT_EQ(errors_of("[fstrim]\nwindow = \"2h\"\nrunner = \"storpol\"\n"), "");
    EXPECT_NE(errors_of("[fstrim]\nmin-extent = \"1GiB\"\n"), "");
    EXPECT_NE(errors_of("[fstrim]\nnice = 40\n"), "");
}

}  // namespace
}  // namespace storpol
