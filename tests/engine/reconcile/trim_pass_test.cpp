// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/trim_pass.h"

#include <gtest/gtest.h>

namespace storpol {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;

TrimPassInput input(std::string full_pass = "monthly") {
    return {"2026-11-30T12:00:00Z", mebibyte, std::move(full_pass)};
}

TrimRun ended(const std::string& time, std::int64_t floor, TrimOutcome outcome = TrimOutcome::trimmed) {
    TrimRun run;
    run.began = run.ended = time;
    run.min_extent = floor;
    run.outcome = outcome;
    run.boot_id = "boot";
    run.mount_id = "36";
    return run;
}

TrimRecord trimmed_fully(const std::string& time) {
    TrimRecord record;
    add_run(record, ended(time, 0));
    return record;
}

TEST(TrimPass, TheFirstOneIsFullWhereFullOnesAreWanted) {
    const auto pass = decide_pass({}, input());
    EXPECT_TRUE(pass.is_full);
    EXPECT_EQ(pass.min_extent, 0);
    EXPECT_FALSE(decide_pass({}, input("")).is_full);
}

TEST(TrimPass, AFullOneIsDueByItsCalendar) {
    EXPECT_FALSE(decide_pass(trimmed_fully("2026-11-15T00:00:00Z"), input()).is_full);
    EXPECT_EQ(decide_pass(trimmed_fully("2026-11-15T00:00:00Z"), input()).min_extent, mebibyte);
    EXPECT_TRUE(decide_pass(trimmed_fully("2026-10-31T00:00:00Z"), input()).is_full) << "the first of November is past";
}

TEST(TrimPass, AnEndInTheFutureIsNoEnd) {
    EXPECT_TRUE(decide_pass(trimmed_fully("2031-01-01T00:00:00Z"), input()).is_full) << "the clock went backwards";
    EXPECT_TRUE(decide_pass(trimmed_fully("not a time"), input()).is_full);
}

TEST(TrimPass, WithoutAFloorEachIsFull) {
    auto without = input("");
    without.min_extent = 0;
    EXPECT_TRUE(decide_pass({}, without).is_full);
}

TEST(TrimPass, GoesOnWhereTheLastWasCutShort) {
    auto record = trimmed_fully("2026-11-15T00:00:00Z");
    record.resume = TrimResume{"2026-11-30T11:00:00Z", 4096, 7, mebibyte, false, false};
    const auto pass = decide_pass(record, input());
    EXPECT_TRUE(pass.is_resumed);
    EXPECT_EQ(pass.position, 4096);
    EXPECT_EQ(pass.bytes, 7);
    EXPECT_EQ(pass.began, "2026-11-30T11:00:00Z");
}

TEST(TrimPass, DoesNotGoOnWithWhatIsOldOtherOrFromTheFuture) {
    auto record = trimmed_fully("2026-11-15T00:00:00Z");
    record.resume = TrimResume{"2026-11-20T11:00:00Z", 4096, 7, mebibyte, false, false};
    EXPECT_FALSE(decide_pass(record, input()).is_resumed) << "ten days ago";
    record.resume->began = "2026-12-20T11:00:00Z";
    EXPECT_FALSE(decide_pass(record, input()).is_resumed) << "not yet";
    record.resume = TrimResume{"2026-11-30T11:00:00Z", 4096, 7, 2 * mebibyte, false, false};
    EXPECT_FALSE(decide_pass(record, input()).is_resumed) << "another floor";
}

TEST(TrimPass, AFullOneThatIsDueDoesNotFinishOneWithAFloor) {
    auto record = trimmed_fully("2026-10-15T00:00:00Z");
    record.resume = TrimResume{"2026-11-30T11:00:00Z", 4096, 7, mebibyte, false, false};
    const auto pass = decide_pass(record, input());
    EXPECT_TRUE(pass.is_full);
    EXPECT_FALSE(pass.is_resumed);
}

TEST(TrimPass, AFullOneUnderWayIsFinished) {
    auto record = trimmed_fully("2026-11-29T00:00:00Z");
    record.resume = TrimResume{"2026-11-30T11:00:00Z", 4096, 7, 0, true};
    const auto pass = decide_pass(record, input());
    EXPECT_TRUE(pass.is_resumed);
    EXPECT_EQ(pass.min_extent, 0);
}

TEST(TrimPass, AfterARunThatReachedNoDiskTheFloorIsLeftOut) {
    auto record = trimmed_fully("2026-11-29T00:00:00Z");
    add_run(record, ended("2026-11-29T12:00:00Z", mebibyte, TrimOutcome::lost));
    const auto pass = decide_pass(record, input());
    EXPECT_EQ(pass.min_extent, 0);
    EXPECT_TRUE(pass.is_forced);
    EXPECT_FALSE(pass.note.empty());
    auto skipped = ended("2026-11-29T13:00:00Z", 0, TrimOutcome::skipped);
    skipped.why = "blocked by dm-crypt root: no allow_discards";
    add_run(record, skipped);
    EXPECT_TRUE(decide_pass(record, input()).is_full);
}

TEST(TrimPass, OnlyAFullPassBesideAFloorIsForced) {
    EXPECT_TRUE(decide_pass({}, input()).is_forced) << "passes with a floor have left small extents";
    auto without = input("");
    without.min_extent = 0;
    EXPECT_FALSE(decide_pass({}, without).is_forced) << "ext4 remembers rightly what was trimmed";
    EXPECT_FALSE(decide_pass(trimmed_fully("2026-11-15T00:00:00Z"), input()).is_forced);
}

TEST(TrimPass, ARunThatReachedNothingIsMadeUpForAlsoAfterOthersThatCameToNothing) {
    auto lost = ended("2026-11-28T00:00:00Z", mebibyte);
    lost.outcome = TrimOutcome::lost;
    auto skipped = ended("2026-11-29T00:00:00Z", mebibyte);
    skipped.outcome = TrimOutcome::skipped;
    skipped.why = "on battery";
    auto cut_short = ended("2026-11-30T00:00:00Z", 0);
    cut_short.outcome = TrimOutcome::interrupted;
    TrimRecord record;
    for (const auto& run : {lost, skipped, cut_short}) add_run(record, run);
    EXPECT_TRUE(decide_pass(record, input("")).is_forced);
    // The rest of such a pass is sent again too, with a floor in the policy or without.
    record.resume = TrimResume{"2026-11-30T00:00:00Z", 4096, 7, 0, true, true};
    auto without = input("");
    without.min_extent = 0;
    const auto rest = decide_pass(record, without);
    EXPECT_TRUE(rest.is_resumed);
    EXPECT_TRUE(rest.is_forced);
    add_run(record, ended("2026-11-30T06:00:00Z", 0));
    record.resume.reset();
    EXPECT_FALSE(decide_pass(record, without).is_forced) << "it has come through";
}

}  // namespace
}  // namespace storpol
