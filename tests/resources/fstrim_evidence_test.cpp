// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "engine/model/trim_record.h"
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
    EXPECT_EQ(run.raw("fstrim.evidence", Plane::evidence), "never ran: no trim that reached it is on record");
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

constexpr const char* root_evidence = "fstrim.evidence[\"/\"]";

TrimRun run_at(const std::string& ended, std::int64_t bytes) {
    TrimRun run;
    run.began = ended;
    run.ended = ended;
    run.boot_id = "b";
    run.bytes = bytes;
    run.written_bytes = std::stoll(ended.substr(8, 2)) * 1000;  // more each day
    return run;
}

// The record of a filesystem at "/".
void put_record(MemoryHost& host,
                const std::string& uuid,
                const std::string& source,
                const std::vector<TrimRun>& runs) {
    TrimRecord record;
    record.uuid = uuid;
    record.target = "/";
    record.fstype = "ext4";
    record.source = source;
    for (const auto& run : runs) add_run(record, run);
    host.put_file("/var/lib/storpol/trim/" + trim_file_name(uuid, "sda1"), render_trim_record(record));
}

TEST(FstrimEvidence, TheRecordOfAnotherFilesystemAtThatPlaceIsNotTaken) {
    const std::string policy = "[fstrim]\nevidence = { max-age = \"10d\" }\n";
    const std::vector<TrimRun> runs{run_at("2026-11-29T00:00:00Z", 4096)};
    const auto found = [&](const std::string& uuid, const std::string& source, bool has_links) {
        MemoryHost host;
        fill(host);
        if (!has_links) host.remove("/dev/disk/by-uuid/1b2c");
        put_record(host, uuid, source, runs);
        return FstrimRun(policy, host).found(root_evidence, Plane::evidence);
    };
    EXPECT_EQ(found("1b2c", "/dev/sda1", true), "fresh");
    EXPECT_EQ(found("1B2C", "/dev/sdz9", true), "fresh") << "disks change their names";
    EXPECT_EQ(found("9999", "/dev/sda1", true), "never ran");
    EXPECT_EQ(found("", "/dev/sda1", true), "fresh");
    EXPECT_EQ(found("", "/dev/sdz9", true), "never ran");
    EXPECT_EQ(found("9999", "/dev/sda1", false), "fresh") << "nothing tells";
    EXPECT_EQ(found("9999", "/dev/sdz9", false), "never ran");
}

TEST(FstrimEvidence, AnOldRecordDoesNotHideTheRunsOfFstrimSince) {
    MemoryHost host;
    fill(host);
    const auto found = [&host](int most) {
        return FstrimRun("[fstrim]\nevidence = { max-zero-byte-runs = " + std::to_string(most) + " }\n", host)
            .found(root_evidence, Plane::evidence);
    };
    put_record(
        host, "1b2c", "/dev/sda1",
        {run_at("2026-11-20T00:00:00Z", 4096), run_at("2026-11-21T00:00:00Z", 0), run_at("2026-11-22T00:00:00Z", 0)});
    EXPECT_EQ(found(1), "zero-byte runs");
    EXPECT_EQ(found(2), "fresh");
    const std::string runs_of_storpol =
        "2026-11-20T00:00:01Z result=success\n2026-11-21T00:00:01Z result=success\n"
        "2026-11-22T00:00:01Z result=success\n";
    put_journal(host, runs_of_storpol);
    EXPECT_EQ(found(2), "fresh") << "the same runs are not counted twice";
    const std::string empty_run =
        "2026-11-25T00:00:01Z \"/: 0 B (0 bytes) trimmed on /dev/sda1\"\n"
        "2026-11-25T00:00:02Z result=success\n";
    put_journal(host, runs_of_storpol + empty_run);
    EXPECT_EQ(found(2), "zero-byte runs");
    EXPECT_EQ(found(3), "fresh");
    put_journal(host, runs_of_storpol +
                          "2026-11-24T00:00:01Z \"/: 1 KiB (1024 bytes) trimmed on /dev/sda1\"\n"
                          "2026-11-24T00:00:02Z result=success\n" +
                          empty_run);
    EXPECT_EQ(found(0), "zero-byte runs");
    EXPECT_EQ(found(1), "fresh") << "one that gave something ends the row";
    put_record(host, "1b2c", "/dev/sda1", {run_at("2026-11-26T00:00:00Z", 4096)});
    EXPECT_EQ(found(0), "fresh");
}

TEST(FstrimEvidence, TheServiceCountsItsRunsAfterTheRecordToo) {
    MemoryHost host;
    fill(host);
    put_record(host, "1b2c", "/dev/sda1", {run_at("2026-11-20T00:00:00Z", 4096)});
    // The first is that of the record.
    put_journal(host,
                "2026-11-20T00:00:02Z result=success\n2026-11-25T00:00:02Z result=success\n"
                "2026-11-26T00:00:02Z result=success\n");
    const FstrimRun run("[fstrim]\nevidence = { max-zero-byte-runs = 1 }\n", host);
    EXPECT_EQ(run.found("fstrim.evidence", Plane::evidence), "zero-byte runs");
    EXPECT_EQ(run.found(root_evidence, Plane::evidence), "zero-byte runs");
    EXPECT_EQ(
        FstrimRun("[fstrim]\nevidence = { max-zero-byte-runs = 2 }\n", host).found("fstrim.evidence", Plane::evidence),
        "fresh");
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
