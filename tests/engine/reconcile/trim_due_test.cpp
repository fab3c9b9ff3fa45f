// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/trim_due.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "engine/reconcile/clock.h"

namespace storpol {
namespace {

using namespace std::chrono_literals;

TrimRecord tried_at(const std::string& began, TrimOutcome outcome = TrimOutcome::trimmed) {
    TrimRecord record;
    TrimRun run;
    run.began = run.ended = began;
    run.outcome = outcome;
    add_run(record, run);
    return record;
}

TrimMoment at(const std::string& now, const std::string& booted = "2026-11-01T00:00:00Z") {
    return {now, booted, 0, "machine"};
}

TEST(TrimDue, OneThatWasNeverTriedIsDue) {
    EXPECT_EQ(why_not_due({}, {}, at("2026-11-30T12:00:00Z")), "");
    EXPECT_EQ(why_not_due(tried_at("2026-11-30T11:00:00Z", TrimOutcome::skipped), {}, at("2026-11-30T12:00:00Z")), "")
        << "a skipped one was no try";
}

TEST(TrimDue, TheScheduleIsCountedFromTheLastTry) {
    const TrimSchedule daily{"daily", true, {}, 0us};
    const auto record = tried_at("2026-11-30T00:17:00Z");
    EXPECT_EQ(why_not_due(record, daily, at("2026-11-30T23:17:00Z")), "not due before 2026-12-01T00:00:00Z");
    EXPECT_EQ(why_not_due(record, daily, at("2026-12-01T00:17:00Z")), "");
    EXPECT_EQ(why_not_due(record, daily, at("2026-12-05T09:17:00Z")), "") << "the machine was off for days";
    EXPECT_NE(why_not_due(tried_at("2026-11-30T00:17:00Z", TrimOutcome::failed), daily, at("2026-11-30T01:17:00Z")), "")
        << "a failure is not repeated every hour";
}

TEST(TrimDue, WhatWasCutShortGoesOn) {
    auto record = tried_at("2026-11-30T00:17:00Z", TrimOutcome::interrupted);
    record.resume = TrimResume{"2026-11-30T00:17:00Z", 4096, 0, 0, false};
    EXPECT_EQ(why_not_due(record, {}, at("2026-11-30T01:17:00Z")), "");
}

TEST(TrimDue, WithoutCatchUpARunThatWasMissedIsLost) {
    const TrimSchedule daily{"daily", false, {}, 0us};
    const auto record = tried_at("2026-11-20T00:17:00Z");
    EXPECT_EQ(why_not_due(record, daily, at("2026-11-30T09:17:00Z")), "not due before 2026-12-01T00:00:00Z");
    EXPECT_EQ(why_not_due(record, daily, at("2026-12-01T00:17:00Z")), "");
    EXPECT_EQ(why_not_due({}, daily, at("2026-11-30T09:17:00Z")), "not due before 2026-12-01T00:00:00Z");
}

TEST(TrimDue, ABootDelayMeansOneRunAfterEachBoot) {
    const TrimSchedule monthly{"monthly", true, 300s, 0us};
    const auto record = tried_at("2026-11-30T10:00:00Z");
    EXPECT_NE(why_not_due(record, monthly, at("2026-11-30T12:00:00Z", "2026-11-30T11:58:00Z")), "") << "too early";
    EXPECT_EQ(why_not_due(record, monthly, at("2026-11-30T12:03:00Z", "2026-11-30T11:58:00Z")), "");
    EXPECT_NE(
        why_not_due(tried_at("2026-11-30T12:04:00Z"), monthly, at("2026-11-30T13:00:00Z", "2026-11-30T11:58:00Z")), "")
        << "it has had its run";
}

TEST(TrimDue, TheClockOnTheWallCounts) {
    const TrimSchedule at_four{"*-*-* 04:00", true, {}, 0us};
    auto moment = at("2026-11-30T03:17:00Z");
    const auto record = tried_at("2026-11-29T12:00:00Z");
    EXPECT_NE(why_not_due(record, at_four, moment), "");
    moment.zone = 3600;
    EXPECT_EQ(why_not_due(record, at_four, moment), "");
}

TEST(TrimDue, ATimeFromTheFutureIsNoTry) {
    EXPECT_EQ(why_not_due(tried_at("2030-01-01T00:00:00Z"), {}, at("2026-11-30T12:00:00Z")), "");
    EXPECT_EQ(why_not_due(tried_at("yesterday"), {}, at("2026-11-30T12:00:00Z")), "");
}

// Asked every hour, whatever the delay: each day has its one run, at the same time of each day.
TEST(TrimDue, AskedEveryHourADailyScheduleRunsOnceADay) {
    EXPECT_TRUE(rc::check("one a day", [] {
        const auto delay = *rc::gen::inRange(0, 20 * 3600);
        const TrimSchedule daily{"daily", *rc::gen::arbitrary<bool>(), {}, std::chrono::seconds(delay)};
        const auto start = *seconds_of("2026-11-30T00:17:00Z") + *rc::gen::inRange(0, 3600);
        TrimMoment moment = at("");
        moment.machine = *rc::gen::arbitrary<std::string>();
        TrimRecord record = tried_at(rfc3339(start - 3600));
        int runs = 0;
        for (int hour = 0; hour < 10 * 24; ++hour) {
            moment.now = rfc3339(start + hour * 3600);
            if (!why_not_due(record, daily, moment).empty()) continue;
            record = tried_at(moment.now);
            ++runs;
        }
        RC_ASSERT(runs >= 9 && runs <= 11);
    }));
}

}  // namespace
}  // namespace storpol
