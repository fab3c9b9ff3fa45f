// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "tests/resources/fstrim_fixture.h"

namespace storpol {
namespace {

using namespace fstrim_test;

// The service as it is on a host with these lines more, and this util-linux.
std::string coverage_of(MemoryHost& host, const std::string& target, const std::string& lines, const char* version) {
    host.put_file(service_file, std::string(stock_service) + lines);
    host.put({QueryKind::package, {"util-linux"}}, {version, "", {}});
    return FstrimRun("[fstrim]\n", host).verdict("fstrim.coverage[\"" + target + "\"]", Plane::persisted);
}

TEST(Fstrim, TheSandboxHidesFilesystemsFromNewFstrims) {
    MemoryHost host;
    fill(host);
    EXPECT_EQ(coverage_of(host, "/", "ProtectSystem=strict\n", "2.35"), "drift");
    EXPECT_EQ(coverage_of(host, "/", "ProtectSystem=strict\n", "2.33.1"), "in-sync");
    EXPECT_EQ(coverage_of(host, "/", "ProtectSystem=full\nProtectHome=yes\n", "2.38"), "in-sync");
    EXPECT_EQ(coverage_of(host, "/", "ReadOnlyPaths=/\n", "2.38"), "drift");
    EXPECT_EQ(coverage_of(host, "/", "PrivateUsers=yes\n", "2.38"), "drift");
    const FstrimRun run("[fstrim]\n", host);
    EXPECT_NE(run.file_after(service_drop_in).find("PrivateUsers=no\n"), std::string::npos);
    host.put_file(service_drop_in, run.file_after(service_drop_in));
    EXPECT_TRUE(FstrimRun("[fstrim]\n", host).evaluation.plan.actions.empty());
}

TEST(Fstrim, OfSeveralMountsOfOneDeviceOldFstrimsKeepTheFirst) {
    MemoryHost host;
    fill(host);
    host.remove("/etc/fstab");
    host.put_file("/proc/self/mountinfo",
                  "25 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n24 25 8:1 / /a ro - ext4 /dev/sda1 rw\n");
    EXPECT_EQ(coverage_of(host, "/", "", "2.37"), "in-sync");
    host.put_file("/proc/self/mountinfo",
                  "24 1 8:1 / /a ro - ext4 /dev/sda1 rw\n25 24 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n");
    EXPECT_EQ(coverage_of(host, "/", "", "2.37"), "drift");
    EXPECT_EQ(coverage_of(host, "/", "", "2.39.3"), "in-sync");
}

TEST(Fstrim, ACommandOfSomebodyElseIsUnknown) {
    MemoryHost host;
    fill(host);
    EXPECT_EQ(coverage_of(host, "/", "ExecStart=\nExecStart=/usr/local/bin/my-trim\n", "2.38"), "unknown");
    EXPECT_EQ(coverage_of(host, "/", "ExecStart=\nExecStart=/sbin/fstrim -v /\n", "2.38"), "in-sync");
    EXPECT_EQ(coverage_of(host, "/", "ExecStart=\nExecStart=/sbin/fstrim -an\n", "2.38"), "drift");
    EXPECT_EQ(coverage_of(host, "/", "ExecStart=\nExecStart=/sbin/fstrim -a -t xfs\n", "2.38"), "drift");
    EXPECT_EQ(coverage_of(host, "/", "ExecStart=\nExecStart=/sbin/fstrim -a -t xfs,ext4\n", "2.38"), "in-sync");
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

}  // namespace
}  // namespace storpol
