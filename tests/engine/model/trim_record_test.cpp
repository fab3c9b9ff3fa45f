// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/trim_record.h"

#include <gtest/gtest.h>

namespace storpol {
namespace {

TrimRun run(TrimOutcome outcome, std::int64_t bytes) {
    TrimRun run;
    run.began = "2026-11-30T12:00:00Z";
    run.ended = "2026-11-30T12:00:05Z";
    run.boot_id = "b";
    run.mount_id = "36";
    run.outcome = outcome;
    run.bytes = bytes;
    run.took = std::chrono::milliseconds(5000);
    return run;
}

TrimRecord sample() {
    TrimRecord record;
    record.uuid = "1234-ABCD";
    record.target = "/srv/a \n\xff";  // nothing keeps a mount point from being called so
    record.fstype = "ext4";
    record.source = "/dev/sda1";
    auto first = run(TrimOutcome::trimmed, 4096);
    first.discards = 3;
    first.discarded_bytes = 4096;
    first.written_bytes = 100;
    add_run(record, first);
    auto second = run(TrimOutcome::failed, 0);
    second.why = "EIO";
    add_run(record, second);
    record.resume = TrimResume{"2026-11-30T12:00:00Z", 1 << 30, 77, 1 << 20, false, true};
    return record;
}

TEST(TrimRecord, ReadsWhatItRenders) {
    const auto read = parse_trim_record(render_trim_record(sample()));
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(*read, sample());
    const auto empty = parse_trim_record(render_trim_record(TrimRecord()));
    ASSERT_TRUE(empty);
    EXPECT_EQ(*empty, TrimRecord());
}

TEST(TrimRecord, DamagedTextIsAnErrorAndSaysWhere) {
    const auto text = render_trim_record(sample());
    for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
        const auto read = parse_trim_record(text.substr(0, size));
        ASSERT_FALSE(read) << size;
        EXPECT_EQ(read.error().kind, ErrorKind::invalid);
    }
    for (const char* bad :
         {"[]", "null", "{}", R"({"format": "1"})", R"({"format": 1, "runs": {}})", R"({"format": 1, "runs": [5]})",
          R"({"format": 1, "runs": [{"outcome": "done"}]})", R"({"format": 1, "runs": [], "resume": []})",
          R"({"format": 1, "runs": [], "resume": {"position": -1, "bytes": 0, "min-extent": 0, "full": true}})",
          R"({"format": 1, "uuid": 5, "runs": []})"}) {
        EXPECT_FALSE(parse_trim_record(bad)) << bad;
    }
    const auto read = parse_trim_record(R"({"format": 1, "runs": [{"outcome": "trimmed", "bytes": "many"}]})");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().where, "runs[0]");
}

TEST(TrimRecord, ANewerFormatIsNotTouched) {
    const auto read = parse_trim_record(R"({"format": 2, "passes": []})");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::unsupported);
}

TEST(TrimRecord, KeepsTheLastSuccessHoweverManyFailuresFollow) {
    TrimRecord record;
    add_run(record, run(TrimOutcome::trimmed, 1));
    for (std::size_t count = 0; count < 2 * max_trim_runs; ++count) add_run(record, run(TrimOutcome::failed, 0));
    EXPECT_EQ(record.runs.size(), max_trim_runs);
    ASSERT_TRUE(record.last_success);
    EXPECT_EQ(record.last_success->bytes, 1);
}

TEST(TrimRecord, SkippedRunsReplaceEachOther) {
    TrimRecord record;
    add_run(record, run(TrimOutcome::trimmed, 1));
    for (int count = 0; count < 30; ++count) add_run(record, run(TrimOutcome::skipped, 0));
    EXPECT_EQ(record.runs.size(), 2U);
}

TEST(TrimRecord, OnlyASuccessWithoutFloorIsAFullOne) {
    TrimRecord record;
    auto with_floor = run(TrimOutcome::trimmed, 1);
    with_floor.min_extent = 1 << 20;
    add_run(record, with_floor);
    add_run(record, run(TrimOutcome::lost, 1));
    EXPECT_TRUE(record.last_success);
    EXPECT_FALSE(record.last_full);
    add_run(record, run(TrimOutcome::trimmed, 1));
    EXPECT_TRUE(record.last_full);
}

TEST(TrimRecord, ZeroByteRunsCountWhereSomethingWasWritten) {
    TrimRecord record;
    const auto add = [&](std::int64_t bytes, std::int64_t written) {
        auto one = run(TrimOutcome::trimmed, bytes);
        one.written_bytes = written;
        add_run(record, one);
    };
    EXPECT_EQ(zero_byte_runs(record), 0);
    add(5, 100);
    add(0, 100);
    EXPECT_EQ(zero_byte_runs(record), 0) << "nothing was written, so nothing was freed";
    add(0, 200);
    add(0, 300);
    EXPECT_EQ(zero_byte_runs(record), 2);
    add(1, 300);
    EXPECT_EQ(zero_byte_runs(record), 0);
}

TEST(TrimRecord, FileNamesAreOneComponent) {
    EXPECT_EQ(trim_file_name("3affac3f-29da-4e52-a285-56403810a613", "sda1"),
              "3affac3f-29da-4e52-a285-56403810a613.json");
    EXPECT_EQ(trim_file_name("", "cciss!c0d0"), "dev-cciss_c0d0.json");
    EXPECT_EQ(trim_file_name("../../etc/passwd", ""), "______etc_passwd.json");
    EXPECT_LE(trim_file_name(std::string(5000, 'a'), "").size(), 200U);
}

TEST(TrimOutcome, WordsReadBack) {
    for (const auto outcome :
         {TrimOutcome::trimmed, TrimOutcome::interrupted, TrimOutcome::failed, TrimOutcome::lost, TrimOutcome::skipped})
        EXPECT_EQ(parse_trim_outcome(to_text(outcome)), outcome);
    EXPECT_FALSE(parse_trim_outcome("done"));
}

}  // namespace
}  // namespace storpol
