// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/judge.h"

#include <gtest/gtest.h>

namespace storpol {
namespace {

PlaneState plane(Plane which, Verdict verdict) {
    PlaneState state;
    state.plane = which;
    state.verdict = verdict;
    if (verdict == Verdict::unknown) state.reading.state = Unknown{"no root"};
    return state;
}

Evaluation evaluation_of(std::vector<PlaneState> planes) {
    Evaluation evaluation;
    SettingState state;
    state.planes = std::move(planes);
    state.verdict = worst_of(state.planes);
    evaluation.settings.push_back(std::move(state));
    return evaluation;
}

TEST(Judge, ASettingIsAsBadAsItsWorstPlane) {
    const auto worst = [](Verdict one, Verdict other) {
        return worst_of({plane(Plane::live, one), plane(Plane::persisted, other)});
    };
    EXPECT_EQ(worst(Verdict::in_sync, Verdict::drift), Verdict::drift);
    EXPECT_EQ(worst(Verdict::unknown, Verdict::drift), Verdict::drift);
    EXPECT_EQ(worst(Verdict::drift, Verdict::unknown), Verdict::drift);
    EXPECT_EQ(worst(Verdict::unknown, Verdict::in_sync), Verdict::unknown);
    EXPECT_EQ(worst(Verdict::in_sync, Verdict::absent), Verdict::in_sync);
    EXPECT_EQ(worst(Verdict::absent, Verdict::unknown), Verdict::unknown);
    EXPECT_EQ(worst(Verdict::absent, Verdict::absent), Verdict::absent);
}

TEST(Judge, AnAcceptedDriftCountsAsInSync) {
    auto accepted = plane(Plane::live, Verdict::drift);
    accepted.accepted = Accepted{{}, "2027-01-01"};
    EXPECT_EQ(worst_of({accepted}), Verdict::in_sync);
    EXPECT_EQ(worst_of({accepted, plane(Plane::persisted, Verdict::drift)}), Verdict::drift);
    EXPECT_FALSE(evaluation_of({accepted}).has_drift(true));
}

TEST(Judge, WhatNobodyCanReadBackCountsWithStrictOnlyWhilePersistedHolds) {
    auto level = plane(Plane::live, Verdict::unknown);
    level.reading.state = Unknown{std::string(cannot_be_read_back) + ": the kernel shows no level"};
    const auto held = evaluation_of({level, plane(Plane::persisted, Verdict::in_sync)});
    EXPECT_FALSE(held.has_unknown(false));
    EXPECT_TRUE(held.has_unknown(true));
    EXPECT_TRUE(evaluation_of({level, plane(Plane::persisted, Verdict::drift)}).has_unknown(false));
    EXPECT_TRUE(evaluation_of({level}).has_unknown(false));
    const auto other = evaluation_of({plane(Plane::live, Verdict::unknown), plane(Plane::persisted, Verdict::in_sync)});
    EXPECT_TRUE(other.has_unknown(false));
}

TEST(Judge, TheSummaryCountsSettingsOnce) {
    auto waiting = plane(Plane::live, Verdict::drift);
    waiting.waits = When::next_boot;
    const auto summary = summary_of(evaluation_of({waiting, plane(Plane::persisted, Verdict::in_sync)}));
    EXPECT_EQ(summary.settings, 1);
    EXPECT_EQ(summary.drift, 1);
    EXPECT_EQ(summary.waiting, 1);
    EXPECT_TRUE(summary.reboot_pending);
    waiting.waits = When::next_mount;
    EXPECT_FALSE(summary_of(evaluation_of({waiting})).reboot_pending);
}

}  // namespace
}  // namespace storpol
