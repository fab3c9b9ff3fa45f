// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_pace.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace storpol {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t any = 1'000'000;
const DiskUse quiet{};

DiskUse some(std::uint64_t writes, milliseconds waited = milliseconds(0)) {
    return DiskUse{0, writes, waited};
}

// All the rest after one slice, while the disks are used by `use` in each step.
microseconds rest_of(TrimPacer& pacer, const DiskUse& use, microseconds left = hours(2)) {
    microseconds sum(0);
    for (int steps = 0; steps < 100'000; ++steps) {
        const auto time = pacer.next_rest(left - sum);
        if (time <= microseconds(0)) return sum;
        pacer.rested(time, use);
        sum += time;
    }
    ADD_FAILURE() << "rests for ever";
    return sum;
}

TEST(TrimPacer, BeginsWithOneUnit) {
    const TrimPacer pacer({}, 1000, hours(2));
    EXPECT_EQ(pacer.next_units(any), 1U);
}

TEST(TrimPacer, CheapUnitsMakeSlicesGrowTowardsTheBudget) {
    TrimPacer pacer({}, 100'000, hours(2));
    pacer.took(1, milliseconds(1), quiet);
    EXPECT_EQ(pacer.next_units(any), 4U) << "four times as many at a time, no more";
    pacer.took(4, milliseconds(4), quiet);
    pacer.took(16, milliseconds(16), quiet);
    pacer.took(64, milliseconds(64), quiet);
    EXPECT_EQ(pacer.next_units(any), 100U) << "100 ms at 1 ms each";
    EXPECT_EQ(pacer.next_units(7), 7U) << "what the filesystem allows in one slice";
}

TEST(TrimPacer, ADearUnitMakesTheNextSliceSmallAtOnce) {
    TrimPacer pacer({}, 100'000, hours(2));
    pacer.took(64, milliseconds(10), quiet);
    pacer.took(256, seconds(20), quiet);
    EXPECT_EQ(pacer.next_units(any), 1U);
}

TEST(TrimPacer, NeverAsksForMoreThanIsLeft) {
    TrimPacer pacer({}, 10, hours(2));
    pacer.took(8, microseconds(1), quiet);
    EXPECT_EQ(pacer.next_units(any), 2U);
}

TEST(TrimPacer, LooksHardlyAtAllOnAnIdleDisk) {
    TrimPacer pacer({}, 1000, hours(2));
    pacer.looked(quiet, pacer.first_look());
    pacer.took(1, milliseconds(100), quiet);
    const auto rest = rest_of(pacer, quiet);
    EXPECT_LE(rest, milliseconds(4));
    EXPECT_GT(rest, microseconds(0));
    EXPECT_FALSE(pacer.is_busy());
}

TEST(TrimPacer, LeavesTheDiskToOthersForMostOfTheTime) {
    TrimPacer pacer({}, 1000, hours(2));
    pacer.looked(some(100), pacer.first_look());
    EXPECT_TRUE(pacer.is_busy());
    pacer.took(1, milliseconds(100), some(20));
    const auto rest = rest_of(pacer, some(10));
    EXPECT_GE(rest, milliseconds(1800)) << "a twentieth of the time in FITRIM";
    EXPECT_LE(rest, milliseconds(2100));
}

TEST(TrimPacer, SomebodySeenInAShortLookMakesItALongRest) {
    TrimPacer pacer({}, 1000, hours(2));
    pacer.looked(quiet, pacer.first_look());
    pacer.took(1, milliseconds(100), quiet);
    EXPECT_GE(rest_of(pacer, some(1)), milliseconds(1800));
}

TEST(TrimPacer, ARestEndsOnceNobodyUsesTheDiskAnyMore) {
    TrimPacer pacer({}, 1000, hours(2));
    pacer.looked(some(100), pacer.first_look());
    pacer.took(1, seconds(1), some(20));
    EXPECT_LE(rest_of(pacer, quiet), milliseconds(150));
    EXPECT_FALSE(pacer.is_busy());
}

TEST(TrimPacer, WritesInASliceAreLookedInto) {
    TrimPacer pacer({}, 1000, hours(2));
    pacer.looked(quiet, pacer.first_look());
    pacer.took(1, milliseconds(10), some(50));
    const auto suspicious = rest_of(pacer, quiet);
    EXPECT_GE(suspicious, milliseconds(10));
    pacer.took(1, milliseconds(10), some(50));
    EXPECT_LT(rest_of(pacer, quiet), milliseconds(1)) << "they were the filesystem's own";
}

TEST(TrimPacer, SlowWritesOfOthersMakeItWorkLess) {
    TrimPacer pacer({}, 100, hours(2));
    pacer.looked(some(100, milliseconds(20)), pacer.first_look());
    for (int slice = 0; slice < 20; ++slice) {
        pacer.took(1, milliseconds(100), some(20, milliseconds(200)));  // 10 ms each, before 0.2 ms
        rest_of(pacer, some(100, milliseconds(20)));
    }
    pacer.took(1, milliseconds(100), some(20, milliseconds(200)));
    EXPECT_GE(rest_of(pacer, some(100, milliseconds(20))), milliseconds(4500)) << "a fiftieth";
}

TEST(TrimPacer, TheEndOfTheWindowShortensTheRests) {
    TrimPacer pacer({}, 100, seconds(20));
    pacer.looked(some(100), pacer.first_look());
    pacer.took(1, milliseconds(100), some(20));
    // 99 more of 100 ms are 10 s, and so are half of what is left.
    const auto rest = rest_of(pacer, some(10), seconds(20));
    EXPECT_LE(rest, milliseconds(150));
    pacer.took(1, milliseconds(100), some(20));
    EXPECT_EQ(rest_of(pacer, some(10), seconds(10)), microseconds(0)) << "no time to lose";
}

TEST(TrimPacer, GuessesWhatIsLeftByWhatWasDone) {
    TrimPacer pacer({}, 100, hours(2));
    EXPECT_EQ(pacer.time_left(), microseconds(0)) << "nothing is known yet";
    pacer.took(10, seconds(1), quiet);
    EXPECT_EQ(pacer.work_left(), seconds(9));
    EXPECT_EQ(pacer.time_left(), seconds(9));
}

TEST(TrimPacer, CountersThatBeganAnewAreNoUse) {
    EXPECT_EQ((DiskUse{5, 5, milliseconds(5)} - DiskUse{9, 2, milliseconds(9)}), (DiskUse{0, 3, milliseconds(0)}));
}

TEST(TrimPacer, IsDoneWithinTheWindowWhateverOthersDo) {
    EXPECT_TRUE(rc::check("ends in time", [] {
        const auto units = *rc::gen::inRange<std::uint64_t>(1, 3000);
        const auto unit_cost = *rc::gen::inRange<int>(1, 200'000);
        const auto window = microseconds(static_cast<std::int64_t>(units) * unit_cost * 3 + 1'000'000);
        const auto busy = *rc::gen::arbitrary<bool>();
        TrimPacer pacer({}, units, window);
        microseconds now(0);
        pacer.looked(busy ? some(9) : quiet, pacer.first_look());
        for (std::uint64_t done = 0; done < units;) {
            const auto next = pacer.next_units(any);
            RC_ASSERT(next >= 1U && next <= units - done);
            const microseconds took(static_cast<std::int64_t>(next) * unit_cost);
            now += took;
            done += next;
            pacer.took(next, took, busy ? some(3) : quiet);
            now += rest_of(pacer, busy ? some(9) : quiet, window - now);
        }
        RC_ASSERT(now <= window);
    }));
}

}  // namespace
}  // namespace storpol
