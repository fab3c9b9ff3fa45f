// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "tests/resources/fstrim_fixture.h"

namespace storpol {
namespace {

using namespace fstrim_test;

constexpr const char* job_file = "/etc/cron.d/storpol-trim";
constexpr const char* root_crontab = "/var/spool/cron/crontabs/root";
constexpr const char* policy = "[fstrim]\nschedule = \"weekly\"\n";
const std::string job = "17 * * * * root /usr/bin/storpol trim --scheduled --when-due\n";

// OpenRC with a cron that reads /etc/cron.d, and storpol installed.
void put_openrc(MemoryHost& host) {
    fill(host);
    host.remove("/run/systemd/system/user.slice");
    host.put_file("/sbin/openrc", "");
    host.put({QueryKind::program_exists, {"/usr/sbin/cron"}}, {"yes", "", {}});
    host.put({QueryKind::program_exists, {"/usr/bin/storpol"}}, {"yes", "", {}});
    host.put_file("/etc/storpol/policy.toml", "version = 1\n");
}

TEST(FstrimCron, WithoutSystemdAnHourlyJobAsksTheRunner) {
    MemoryHost host;
    put_openrc(host);
    const FstrimRun run("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_EQ(run.persisted("enabled"), "drift");
    EXPECT_EQ(run.live("enabled"), "absent");
    EXPECT_EQ(run.persisted("schedule"), "absent") << "the runner reads it from the policy";
    EXPECT_EQ(run.persisted("coverage[\"/\"]"), "absent");
    const auto text = run.file_after("/etc/cron.d/storpol-trim");
    EXPECT_NE(text.find("\n17 * * * * root /usr/bin/storpol trim --scheduled --when-due\n"), std::string::npos) << text;
    host.put_file("/etc/cron.d/storpol-trim", text);
    const FstrimRun again("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_EQ(again.persisted("enabled"), "in-sync");
    EXPECT_TRUE(again.evaluation.plan.actions.empty());
    EXPECT_EQ(again.finding("trim-scheduled-twice"), nullptr);
    host.put_file("/etc/cron.weekly/fstrim", "#!/bin/sh\nfstrim -a\n");
    const FstrimRun twice("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_NE(twice.finding("trim-scheduled-twice"), nullptr);
}

TEST(FstrimCron, AJobThatIsNoLongerWantedIsTakenOut) {
    MemoryHost host;
    put_openrc(host);
    host.put_file("/etc/cron.d/storpol-trim",
                  "# fstrim.enabled\n17 * * * * root /usr/bin/storpol trim --scheduled --when-due\n");
    const FstrimRun run("[fstrim]\nenabled = false\n", host);
    EXPECT_EQ(run.persisted("enabled"), "drift");
    ASSERT_EQ(run.evaluation.plan.actions.size(), 1U);
    EXPECT_EQ(run.file_after("/etc/cron.d/storpol-trim").find("trim"), std::string::npos);
}

TEST(FstrimCron, AJobThatIsCommentedOutIsNone) {
    MemoryHost host;
    put_openrc(host);
    host.put_file("/etc/cron.d/storpol-trim",
                  "# fstrim.enabled\n#17 * * * * root /usr/bin/storpol trim --scheduled --when-due\n");
    EXPECT_EQ(FstrimRun("[fstrim]\nenabled = true\n", host).persisted("enabled"), "drift");
}

TEST(FstrimCron, ACronThatReadsNoFolderIsNotWrittenFor) {
    MemoryHost host;
    put_openrc(host);
    host.put({QueryKind::program_exists, {"/usr/sbin/cron"}}, {"no", "", {}});
    const FstrimRun run("[fstrim]\nschedule = \"weekly\"\n", host);
    EXPECT_TRUE(run.evaluation.plan.actions.empty());
    EXPECT_NE(run.cannot("fstrim.enabled", Plane::persisted).find("root's crontab"), std::string::npos);
    // BusyBox has a crond too.
    host.put({QueryKind::program_exists, {"/usr/sbin/crond"}}, {"yes", "", {}});
    EXPECT_TRUE(FstrimRun("[fstrim]\nschedule = \"weekly\"\n", host).evaluation.plan.actions.empty());
    host.put({QueryKind::program_exists, {"/usr/bin/cronnext"}}, {"yes", "", {}});
    EXPECT_EQ(FstrimRun("[fstrim]\nschedule = \"weekly\"\n", host).evaluation.plan.actions.size(), 1U);
}

TEST(FstrimCron, WithoutSystemdAPolicyForTheRunnerIsMissed) {
    MemoryHost host;
    put_openrc(host);
    host.remove("/etc/storpol/policy.toml");
    EXPECT_NE(FstrimRun("[fstrim]\nschedule = \"weekly\"\n", host).finding("runner-without-policy"), nullptr);
}

// What a job that somebody wrote comes to, and the words for it.
std::string judged(MemoryHost& host, const std::string& path, const std::string& text) {
    host.put_file(path, text);
    const FstrimRun run(policy, host);
    host.remove(path);
    return run.persisted("enabled") + ": " + run.raw("fstrim.enabled", Plane::persisted);
}

void expect_no_job(MemoryHost& host, const std::string& path, const std::string& text, const std::string& why) {
    const auto got = judged(host, path, text);
    EXPECT_TRUE(got.starts_with("drift: ")) << text << got;
    EXPECT_NE(got.find(why), std::string::npos) << text << got;
}

TEST(FstrimCron, ALineThatCronDoesNotRunDoesNotCount) {
    MemoryHost host;
    put_openrc(host);
    EXPECT_TRUE(judged(host, job_file, job).starts_with("in-sync"));
    EXPECT_TRUE(judged(host, job_file, "@hourly root /usr/bin/storpol trim --scheduled --when-due >/dev/null\n")
                    .starts_with("in-sync"));
    expect_no_job(host, job_file, "17 * * * * /usr/bin/storpol trim --scheduled --when-due\n", "names no user");
    expect_no_job(host, job_file, "17 * * * * nobody /usr/bin/storpol trim --scheduled --when-due\n",
                  "nobody may not trim");
    expect_no_job(host, job_file, "* * * * root /usr/bin/storpol trim --scheduled --when-due\n", "five time fields");
    expect_no_job(host, job_file, "@reboot root /usr/bin/storpol trim --scheduled --when-due\n",
                  "@reboot does not come every hour");
    expect_no_job(host, job_file, "17 * * * * root /opt/x/storpol trim --scheduled --when-due\n",
                  "there is no program /opt/x/storpol");
    expect_no_job(host, job_file, "17 * * * * root /bin/echo trim --scheduled --when-due\n",
                  "/bin/echo is not storpol");
    expect_no_job(host, job_file, job.substr(0, job.size() - 1), "reads none of it");
    for (const char* text : {"- trim --scheduled --when-due\n", "@hourly trim --scheduled --when-due\n",
                             "1 2 3 4 5 trim --scheduled --when-due\n", "@ root trim --scheduled --when-due\n",
                             "@hourly root trim --scheduled --when-due\n", "x trim --scheduled --when-due"})
        expect_no_job(host, job_file, text, "does not count");
}

TEST(FstrimCron, ATableThatOthersMayWriteDoesNotCount) {
    MemoryHost host;
    put_openrc(host);
    const auto stat = [&](const char* mode, const char* uid) {
        host.put({QueryKind::stat, {job_file}},
                 {"type=file\nmode=" + std::string(mode) + "\nuid=" + uid + "\ngid=0\nsize=60\nnlink=1\ndev=0:1\n",
                  job_file,
                  {}});
    };
    stat("0664", "0");
    expect_no_job(host, job_file, job, "may write to it");
    stat("0644", "1000");
    expect_no_job(host, job_file, job, "does not belong to root");
    // Writing the same line again would change nothing.
    const FstrimRun run(policy, host);
    EXPECT_TRUE(run.evaluation.plan.actions.empty());
    EXPECT_NE(run.cannot("fstrim.enabled", Plane::persisted).find("does not belong to root"), std::string::npos);
}

TEST(FstrimCron, RootsCrontabCountsAsTheAdviceSays) {
    MemoryHost host;
    put_openrc(host);
    host.put({QueryKind::program_exists, {"/usr/sbin/cron"}}, {"no", "", {}});
    expect_no_job(host, job_file, job, "no cron is installed that is known to read /etc/cron.d");
    for (const char* path : {root_crontab, "/var/spool/cron/root", "/etc/crontabs/root"}) {
        EXPECT_TRUE(judged(host, path, "17 * * * * storpol trim --scheduled --when-due\n").starts_with("in-sync"));
        EXPECT_TRUE(
            judged(host, path, "@hourly /usr/bin/storpol trim --scheduled --when-due\n").starts_with("in-sync"));
        expect_no_job(host, path, job, "it names a user");
    }
}

TEST(FstrimCron, ATableThatCannotBeReadIsUnknown) {
    MemoryHost host;
    put_openrc(host);
    host.refuse({QueryKind::file, {root_crontab}}, EACCES);
    EXPECT_EQ(FstrimRun(policy, host).persisted("enabled"), "unknown");
    host.put_file(job_file, job);
    EXPECT_EQ(FstrimRun(policy, host).persisted("enabled"), "in-sync");
}

TEST(FstrimCron, ALineOfSomebodyElseIsNamedNotTakenOut) {
    MemoryHost host;
    put_openrc(host);
    const std::string off = "[fstrim]\nenabled = false\n";
    host.put_file(job_file, "# mine\n" + job);
    const FstrimRun run(off, host);
    EXPECT_TRUE(run.evaluation.plan.actions.empty());
    EXPECT_NE(run.cannot("fstrim.enabled", Plane::persisted).find("/etc/cron.d/storpol-trim:2 is not storpol's own"),
              std::string::npos);
    host.put_file(job_file, "# fstrim.enabled\n" + job);
    host.put_file(root_crontab, "@hourly storpol trim --scheduled --when-due\n");
    EXPECT_TRUE(FstrimRun(off, host).evaluation.plan.actions.empty());
    host.remove(root_crontab);
    EXPECT_EQ(FstrimRun(off, host).evaluation.plan.actions.size(), 1U);
}

TEST(FstrimCron, ACaptureOfTheHostSaysTheSame) {
    MemoryHost host;
    put_openrc(host);
    host.put_file(root_crontab, "@hourly /usr/local/bin/storpol trim --scheduled --when-due\n");
    Picture picture(host);
    make_fstrim_resource()->survey(picture);
    const auto capture = make_snapshot_host(picture.capture("0.1.0", "2026-11-30T12:00:00Z"), "host.capture");
    ASSERT_TRUE(capture);
    const FstrimRun run(policy, **capture);
    EXPECT_EQ(run.persisted("enabled"), "drift");
    EXPECT_EQ(run.raw("fstrim.enabled", Plane::persisted),
              FstrimRun(policy, host).raw("fstrim.enabled", Plane::persisted));
    EXPECT_NE(run.file_after(job_file), "");
}

}  // namespace
}  // namespace storpol
