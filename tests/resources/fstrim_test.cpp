// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <map>

#include "resources/fstrim/command.h"
#include "tests/resources/fstrim_fixture.h"

namespace storpol {
namespace {

using namespace fstrim_test;

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

TEST(Fstrim, DisabledMasksInTheSamePlanWhatTheVendorWants) {
    MemoryHost host;
    fill(host);
    host.put_link("/usr/lib/systemd/system/timers.target.wants/fstrim.timer", timer_file);
    const FstrimRun run("[fstrim]\nenabled = false\n", host);
    std::map<std::string, std::string> links;
    for (const auto& action : run.evaluation.plan.actions) {
        if (const auto* step = std::get_if<SetLink>(&action.step)) links[step->path] = step->target;
    }
    const std::map<std::string, std::string> expected{{link, ""}, {"/etc/systemd/system/fstrim.timer", "/dev/null"}};
    EXPECT_EQ(links, expected);
    host.remove(link);
    host.put_link("/etc/systemd/system/fstrim.timer", "/dev/null");
    EXPECT_TRUE(FstrimRun("[fstrim]\nenabled = false\n", host).evaluation.plan.actions.empty());
}

TEST(Fstrim, ALinkToNothingTakesBackWhatTheVendorWants) {
    MemoryHost host;
    fill(host);
    host.put_link("/usr/lib/systemd/system/timers.target.wants/fstrim.timer", timer_file);
    host.put_link(link, "/dev/null");
    EXPECT_EQ(FstrimRun("[fstrim]\nenabled = false\n", host).persisted("enabled"), "in-sync");
}

TEST(Fstrim, DisabledDoesNothingHalfwayWhereNoMaskCanStand) {
    MemoryHost host;
    fill(host);
    host.put_link("/usr/lib/systemd/system/timers.target.wants/fstrim.timer", timer_file);
    host.put_file("/etc/systemd/system/fstrim.timer", stock_timer);
    const FstrimRun run("[fstrim]\nenabled = false\n", host);
    EXPECT_TRUE(run.evaluation.plan.actions.empty());
    EXPECT_NE(run.cannot("fstrim.enabled", Plane::persisted).find("where a mask would"), std::string::npos);
}

TEST(Fstrim, ATimeZoneThatTheHostDoesNotHaveIsNotWritten) {
    MemoryHost host;
    fill(host);
    const std::string foo = "[fstrim]\nschedule = \"Sun 04:00 Foo/Bar\"\n";
    EXPECT_NE(FstrimRun(foo, host).file_after(timer_drop_in), "") << "without zoneinfo nobody can tell";
    host.put_file("/usr/share/zoneinfo/Europe/Berlin", "TZif2");
    const FstrimRun run(foo, host);
    EXPECT_TRUE(run.evaluation.plan.actions.empty());
    EXPECT_NE(run.cannot("fstrim.schedule", Plane::persisted).find("no time zone Foo/Bar"), std::string::npos);
    const FstrimRun known("[fstrim]\nschedule = \"Sun 04:00 Europe/Berlin\"\n", host);
    EXPECT_NE(known.file_after(timer_drop_in).find("OnCalendar=Sun 04:00 Europe/Berlin\n"), std::string::npos);
}

TEST(Fstrim, AUnitWithATimeZoneThatTheHostDoesNotHaveNeverFires) {
    MemoryHost host;
    fill(host);
    std::string text = stock_timer;
    text.replace(text.find("=weekly"), 7, "=Sun 04:00 Foo/Bar");
    host.put_file(timer_file, text);
    host.put_file("/usr/share/zoneinfo/Europe/Berlin", "TZif2");
    const FstrimRun run("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_EQ(run.found("fstrim.schedule", Plane::persisted), "never");
    ASSERT_NE(run.finding("unit-line-ignored"), nullptr);
    EXPECT_NE(run.finding("unit-line-ignored")->says.find("no time zone Foo/Bar"), std::string::npos);
    EXPECT_EQ(run.file_after(timer_drop_in).find("Foo/Bar"), std::string::npos);
    // A capture of this host says the same.
    Picture picture(host);
    make_fstrim_resource()->survey(picture);
    const auto capture = make_snapshot_host(picture.capture("0.1.0", "2026-11-30T12:00:00Z"), "host.capture");
    ASSERT_TRUE(capture);
    EXPECT_EQ(FstrimRun("[fstrim]\nschedule = \"weekly\"\n", **capture).found("fstrim.schedule", Plane::persisted),
              "never");
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

TEST(TrimCommand, TheFloorIsReadAndWritten) {
    EXPECT_EQ(parse_trim_command("/sbin/fstrim -av -m1M").minimum, Bytes{1} << 20);
    EXPECT_EQ(parse_trim_command("-/sbin/fstrim --minimum=4KiB --all").minimum, Bytes{4096});
    EXPECT_EQ(parse_trim_command("/sbin/fstrim -m 1MB -a").minimum, Bytes{1000000});
    EXPECT_EQ(parse_trim_command("/sbin/fstrim -m 1XB -a").minimum, std::nullopt);
    EXPECT_EQ(parse_trim_command("/sbin/fstrim -m").minimum, std::nullopt);
    EXPECT_EQ(with_minimum(parse_trim_command("/sbin/fstrim -m 1M -av"), 4096), "/sbin/fstrim --minimum 4096 -av");
    EXPECT_EQ(with_minimum(parse_trim_command("/sbin/fstrim --minimum=1M -av"), 0), "/sbin/fstrim -av");
    EXPECT_EQ(parse_trim_command("/usr/bin/storpol trim --scheduled").program, TrimCommand::Program::storpol);
    EXPECT_EQ(parse_trim_command("/bin/sh -c 'fstrim -a'").program, TrimCommand::Program::other);
    EXPECT_EQ(parse_trim_command("").program, TrimCommand::Program::other);
}

TEST(TrimCommand, AWordOfAMountPointComesBack) {
    for (const std::string word : {"/srv/a b", "/srv/100%$HOME", "/srv/\"x\"", "/srv/\\x41", "/srv/\n"})
        EXPECT_EQ(unescape_exec_word(escape_exec_word(word)), word);
    EXPECT_EQ(escape_exec_word("/srv/a b;%"), "/srv/a\\x20b\\x3b%%");
}

TEST(Fstrim, AServiceNameThatIsAPathIsNotTaken) {
    MemoryHost host;
    fill(host);
    host.put_file("/etc/systemd/system/fstrim.timer.d/x.conf", "[Timer]\nUnit=../../../tmp/x.service\n");
    const FstrimRun run("[fstrim]\nnice = 10\n", host);
    EXPECT_NE(run.file_after(service_drop_in), "");
}

TEST(Fstrim, AMissedRunIsSaid) {
    MemoryHost host;
    fill(host);
    put_manager(host, "LastTriggerUSec=2026-11-03T00:22:10Z\n");
    const FstrimRun run("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_NE(run.finding("trim-run-missed"), nullptr);
}

TEST(Fstrim, AScheduleInTheHoursOfSleepIsSeen) {
    MemoryHost host;
    fill(host);
    host.put({QueryKind::journal, {"systemd-journald.service", "400"}},
             {"2026-11-25T07:00:00Z \"Journal started\"\n2026-11-26T22:00:00Z \"Journal stopped\"\n"
              "2026-11-27T07:00:00Z \"Journal started\"\n",
              "",
              {}});
    host.put({QueryKind::journal, {"systemd-suspend.service", "400"}},
             {"2026-11-28T23:00:00Z \"Entering sleep state 'suspend'...\"\n"
              "2026-11-29T06:00:00Z \"System returned from sleep state.\"\n"
              "2026-11-29T23:00:00Z \"Performing sleep operation 'suspend'...\"\n"
              "2026-11-30T06:00:00Z \"System returned from sleep operation 'suspend'.\"\n",
              "",
              {}});
    const std::string policy = "[fstrim]\nschedule = \"*-*-* 04:00\"\n";
    std::string text = stock_timer;
    text.replace(text.find("OnCalendar=weekly"), 17, "OnCalendar=*-*-* 04:00");
    host.put_file(timer_file, text);
    const FstrimRun run(policy, host);
    const auto* info = run.finding("trim-schedule-history");
    ASSERT_NE(info, nullptr);
    EXPECT_NE(info->says.find("the last 5 times that it was due, the machine ran at 2, slept at 2 and was off at 1"),
              std::string::npos)
        << info->says;
    EXPECT_EQ(info->severity, Severity::info) << "Persistent=true makes up for it";
    text.replace(text.find("Persistent=true"), 15, "Persistent=no");
    host.put_file(timer_file, text);
    const FstrimRun lost(policy, host);
    ASSERT_NE(lost.finding("trim-schedule-history"), nullptr);
    EXPECT_EQ(lost.finding("trim-schedule-history")->severity, Severity::warning);
    host.put_file("/etc/systemd/system/fstrim.timer.d/10-boot.conf", "[Timer]\nOnBootSec=15min\n");
    const FstrimRun after_boot(policy, host);
    ASSERT_NE(after_boot.finding("trim-schedule-history"), nullptr);
    EXPECT_EQ(after_boot.finding("trim-schedule-history")->severity, Severity::info) << "it runs after each boot";
}

TEST(Fstrim, AMachineThatWasCutOffIsNotSaidToHaveRun) {
    MemoryHost host;
    fill(host);
    host.put({QueryKind::journal, {"systemd-journald.service", "400"}},
             {"2026-11-20T07:00:00Z \"Journal started\"\n2026-11-27T07:00:00Z \"Journal started\"\n", "", {}});
    const FstrimRun run("[fstrim]\nschedule = \"weekly\"\n", host);
    ASSERT_NE(run.finding("trim-schedule-history"), nullptr);
    EXPECT_NE(run.finding("trim-schedule-history")->says.find("of 1 the journal does not tell"), std::string::npos);
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
