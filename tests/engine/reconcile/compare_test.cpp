// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/compare.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace storpol {
namespace {

Value word(const char* text) {
    return std::string(text);
}

Reading found(Value value) {
    return {Found{std::move(value), {}}, {}, {}};
}

Reading unset() {
    return {Unset{}, {}, {}};
}

Reading unset(Value by_default) {
    return {Unset{std::move(by_default), "kernel default"}, {}, {}};
}

const Reading unknown{Unknown{"no root"}, {}, {}};
const Reading absent{Absent{"no such attribute"}, {}, {}};

TEST(Compare, TheSameValueIsInSync) {
    EXPECT_EQ(compare(Is{std::int64_t{5}}, found(std::int64_t{5})), Verdict::in_sync);
    EXPECT_EQ(compare(Is{std::int64_t{5}}, found(std::int64_t{6})), Verdict::drift);
    EXPECT_EQ(compare(Is{word("bfq")}, found(word("bfq"))), Verdict::in_sync);
    EXPECT_EQ(compare(Is{word("bfq")}, found(word("BFQ"))), Verdict::drift);
}

TEST(Compare, ANumberAndAWordAreNeverEqual) {
    EXPECT_EQ(compare(Is{word("5")}, found(std::int64_t{5})), Verdict::drift);
    EXPECT_EQ(compare(Is{std::int64_t{5}}, found(word("5"))), Verdict::drift);
}

TEST(Compare, SlackIsTakenEitherWay) {
    const Is about{std::int64_t{100}, 4};
    EXPECT_EQ(compare(about, found(std::int64_t{96})), Verdict::in_sync);
    EXPECT_EQ(compare(about, found(std::int64_t{104})), Verdict::in_sync);
    EXPECT_EQ(compare(about, found(std::int64_t{95})), Verdict::drift);
    EXPECT_EQ(compare(about, found(std::int64_t{105})), Verdict::drift);
    EXPECT_EQ(compare(Is{std::int64_t{5}, -1}, found(std::int64_t{5})), Verdict::drift);
}

TEST(Compare, SlackDoesNotOverflowAtTheEndsOfTheNumbers) {
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(compare(Is{most, 10}, found(least)), Verdict::drift);
    EXPECT_EQ(compare(Is{least, most}, found(most)), Verdict::drift);
    EXPECT_EQ(compare(Is{most, 1}, found(most - 1)), Verdict::in_sync);
}

TEST(Compare, BoundsHoldAtTheirEnds) {
    EXPECT_EQ(compare(AtLeast{5}, found(std::int64_t{5})), Verdict::in_sync);
    EXPECT_EQ(compare(AtLeast{5}, found(std::int64_t{4})), Verdict::drift);
    EXPECT_EQ(compare(AtMost{5}, found(std::int64_t{5})), Verdict::in_sync);
    EXPECT_EQ(compare(AtMost{5}, found(std::int64_t{6})), Verdict::drift);
}

TEST(Compare, ABoundOnAWordIsUnknown) {
    EXPECT_EQ(compare(AtLeast{5}, found(word("auto"))), Verdict::unknown);
    EXPECT_EQ(compare(AtMost{5}, unset(word("auto"))), Verdict::unknown);
}

TEST(Compare, AForbiddenValueFoundIsDrift) {
    const Not forbidden{{word("async"), std::int64_t{3}}};
    EXPECT_EQ(compare(forbidden, found(word("async"))), Verdict::drift);
    EXPECT_EQ(compare(forbidden, found(std::int64_t{3})), Verdict::drift);
    EXPECT_EQ(compare(forbidden, found(word("sync"))), Verdict::in_sync);
    EXPECT_EQ(compare(forbidden, unset()), Verdict::in_sync);
    EXPECT_EQ(compare(forbidden, unset(word("async"))), Verdict::drift);
}

TEST(Compare, WhereAnyValueIsForbiddenOnlyUnsetAndOffHold) {
    EXPECT_EQ(compare(Not{}, unset()), Verdict::in_sync);
    EXPECT_EQ(compare(Not{}, found(word("off"))), Verdict::in_sync);
    EXPECT_EQ(compare(Not{}, unset(word("off"))), Verdict::in_sync);
    EXPECT_EQ(compare(Not{}, found(word("async"))), Verdict::drift);
    EXPECT_EQ(compare(Not{}, found(std::int64_t{300})), Verdict::drift);
    // A number has some default always; a word that is one is turned on by itself (btrfs discard=async).
    EXPECT_EQ(compare(Not{}, unset(std::int64_t{30})), Verdict::in_sync);
    EXPECT_EQ(compare(Not{}, unset(word("async"))), Verdict::drift);
}

TEST(Compare, UnsetIsJudgedByItsDefault) {
    EXPECT_EQ(compare(Is{std::int64_t{60}}, unset(std::int64_t{60})), Verdict::in_sync);
    EXPECT_EQ(compare(Is{std::int64_t{60}}, unset(std::int64_t{100})), Verdict::drift);
    EXPECT_EQ(compare(Is{std::int64_t{60}}, unset()), Verdict::drift);
}

TEST(Compare, UnderABoundUnsetTakesTheLiveReading) {
    const auto live = found(std::int64_t{128});
    EXPECT_EQ(compare(AtLeast{128}, unset(), &live), Verdict::in_sync);
    EXPECT_EQ(compare(AtLeast{129}, unset(), &live), Verdict::drift);
    EXPECT_EQ(compare(AtMost{127}, unset(), &live), Verdict::drift);
    // Its own default is nearer than the live value.
    EXPECT_EQ(compare(AtLeast{129}, unset(std::int64_t{200}), &live), Verdict::in_sync);
    // A wanted value is not taken from what happens to run.
    EXPECT_EQ(compare(Is{std::int64_t{128}}, unset(), &live), Verdict::drift);
}

TEST(Compare, UnderABoundUnsetWithoutAnyDefaultIsUnknown) {
    EXPECT_EQ(compare(AtLeast{1}, unset()), Verdict::unknown);
    EXPECT_EQ(compare(AtLeast{1}, unset(), &unknown), Verdict::unknown);
    EXPECT_EQ(compare(AtLeast{1}, unset(), &absent), Verdict::unknown);
    const auto live_default = unset(std::int64_t{2});
    EXPECT_EQ(compare(AtLeast{1}, unset(), &live_default), Verdict::in_sync);
}

TEST(Compare, UnknownAndAbsentStayWhatTheyAre) {
    for (const Condition& wanted :
         {Condition{Is{std::int64_t{1}}}, Condition{AtLeast{1}}, Condition{AtMost{1}}, Condition{Not{}}}) {
        EXPECT_EQ(compare(wanted, unknown), Verdict::unknown);
        EXPECT_EQ(compare(wanted, absent), Verdict::absent);
    }
}

}  // namespace
}  // namespace storpol
