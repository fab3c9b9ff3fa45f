// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cases/expectation.h"

#include <gtest/gtest.h>

namespace storpol::cases {
namespace {

template <class T>
T parsed(std::string_view line) {
    const auto assertion = parse_assertion(line);
    EXPECT_TRUE(assertion) << line;
    const auto* as = assertion ? std::get_if<T>(&*assertion) : nullptr;
    EXPECT_NE(as, nullptr) << line;
    return as == nullptr ? T{} : *as;
}

TEST(Expectation, BlanksInsideTheQuotesOfAnAddressDoNotEndIt) {
    const auto is = parsed<PlaneIs>(R"(P persisted mount["/mnt/a b \" c"].atime in-sync src=/etc/fstab:3)");
    EXPECT_EQ(is.address, R"(mount["/mnt/a b \" c"].atime)");
    EXPECT_EQ(is.plane, Plane::persisted);
    EXPECT_EQ(is.verdict, Verdict::in_sync);
    EXPECT_EQ(is.source, "/etc/fstab:3");
}

TEST(Expectation, ActionTakesTargetTimeAndRiskInThatOrder) {
    const auto has = parsed<HasAction>("A has remount /srv now guarded");
    EXPECT_TRUE(has.wanted);
    EXPECT_EQ(has.action.verb, Verb::remount);
    EXPECT_EQ(has.action.target, "/srv");
    EXPECT_EQ(has.action.when, When::now);
    EXPECT_EQ(has.action.risk, Risk::guarded);
}

TEST(Expectation, StarIsAnyVerbAndAWordOfTimeIsNoTarget) {
    const auto lacks = parsed<HasAction>("A lacks * now");
    EXPECT_FALSE(lacks.wanted);
    EXPECT_FALSE(lacks.action.verb);
    EXPECT_EQ(lacks.action.target, "");
    EXPECT_EQ(lacks.action.when, When::now);
}

TEST(Expectation, FileLineKeepsBlanksAndStandsForTabs) {
    const auto line = parsed<FileLine>("F line /etc/fstab:4 PARTUUID=1  /      ext4<TAB>noatime<CR>");
    EXPECT_EQ(line.file, "/etc/fstab");
    EXPECT_EQ(line.line, 4);
    EXPECT_EQ(line.text, "PARTUUID=1  /      ext4\tnoatime\r");
}

TEST(Expectation, CountSplitsTheNumberOffTheEnd) {
    const auto count = parsed<FileMatches>("F count /etc/sysctl.d/*.conf ^vm.swappiness = 1$ 2");
    EXPECT_EQ(count.file, "/etc/sysctl.d/*.conf");
    EXPECT_EQ(count.regex, "^vm.swappiness = 1$");
    EXPECT_EQ(count.count, 2);
}

TEST(Expectation, OrderNamesTwoActions) {
    const auto order = parsed<Orders>("A order set-luks2-flag root before remount /");
    EXPECT_EQ(order.first.verb, Verb::set_luks2_flag);
    EXPECT_EQ(order.second.target, "/");
}

TEST(Expectation, WhatTheGrammarHasNotIsAnError) {
    for (const auto* line : {"",
                             "Q x",
                             "P live",
                             "P sideways a drift",
                             "P live a maybe",
                             "P live a drift etc",
                             "A has fly",
                             "A has",
                             "A has remount / / /",
                             "A count write",
                             "A count write many",
                             "A order write /a remount /b",
                             "S",
                             "S sings",
                             "S superblocks-listed some",
                             "V",
                             "V error x",
                             "V ok then",
                             "F line /etc/fstab text",
                             "F same etc/fstab",
                             "F lines /etc/fstab",
                             "F count /a b",
                             "F eats /a",
                             "X drift",
                             "X drift 9",
                             "X apply 2"}) {
        EXPECT_FALSE(parse_assertion(line)) << line;
    }
}

TEST(Expectation, WholeFileNamesTheLineThatIsNotUnderstood) {
    const auto all = parse_expectations("# why\n\nX drift 0\nA empty\n", "expect.txt");
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 2U);
    EXPECT_EQ(all->back().line, 4);
    const auto wrong = parse_expectations("X drift 0\nA emtpy\n", "expect.txt");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().where, "expect.txt:2");
    EXPECT_FALSE(parse_expectations("# nothing\n", "expect.txt"));
}

}  // namespace
}  // namespace storpol::cases
