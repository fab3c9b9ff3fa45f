// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/udev_rules.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace storpol {
namespace {

UdevToken token(std::string key, std::string attribute, std::string op, std::string value) {
    return {std::move(key), std::move(attribute), std::move(op), std::move(value), false};
}

TEST(UdevRulesText, ARuleIsItsTokensInOrder) {
    const auto parsed = parse_udev_rules(
        "# SSD\n"
        "ACTION==\"add|change\", KERNEL!=\"loop*\", ATTR{queue/rotational}==\"0\", ATTR{queue/scheduler}=\"bfq\"\n");
    ASSERT_EQ(parsed.rules.size(), 1U);
    EXPECT_EQ(parsed.rules[0].line, 2);
    const std::vector<UdevToken> expected{token("ACTION", "", "==", "add|change"), token("KERNEL", "", "!=", "loop*"),
                                          token("ATTR", "queue/rotational", "==", "0"),
                                          token("ATTR", "queue/scheduler", "=", "bfq")};
    EXPECT_EQ(parsed.rules[0].tokens, expected);
    EXPECT_TRUE(parsed.rules[0].tokens[1].is_match());
    EXPECT_FALSE(parsed.rules[0].tokens[3].is_match());
}

TEST(UdevRulesText, ABackslashContinuesARuleAndCommentsInBetweenAreSkipped) {
    const auto parsed =
        parse_udev_rules("KERNEL==\"sd*\", \\\n# why\n   ATTR{queue/scheduler}=\"none\"\nKERNEL==\"b\"\n");
    ASSERT_EQ(parsed.rules.size(), 2U);
    EXPECT_EQ(parsed.rules[0].line, 1);
    EXPECT_EQ(parsed.rules[0].tokens.size(), 2U);
    EXPECT_EQ(parsed.rules[1].line, 4);
}

TEST(UdevRulesText, CommasAndBlanksBetweenTokensAreOptional) {
    const auto parsed = parse_udev_rules("\tKERNEL==\"sda\"ATTR{queue/nr_requests} = \"64\" ,,\r\n");
    ASSERT_EQ(parsed.rules.size(), 1U);
    EXPECT_EQ(parsed.rules[0].tokens[1], token("ATTR", "queue/nr_requests", "=", "64"));
}

TEST(UdevRulesText, QuotesInsideAValueAreEscaped) {
    const auto parsed =
        parse_udev_rules("ATTRS{model}==\"A \\\"B\\\" C\\d\"\nATTRS{model}==e\"x\\\\y\"\nENV{a}==i\"Foo\"\n");
    ASSERT_EQ(parsed.rules.size(), 3U);
    EXPECT_EQ(parsed.rules[0].tokens[0].value, "A \"B\" C\\d");
    EXPECT_EQ(parsed.rules[1].tokens[0].value, "x\\y");
    EXPECT_TRUE(parsed.rules[2].tokens[0].ignores_case);
}

TEST(UdevRulesText, ABrokenLineCostsItselfOnly) {
    const auto parsed = parse_udev_rules("KERNEL==sda\nATTR{x=\"1\"\nfoo\nKERNEL==\"sd\nKERNEL==\"sda\"\n");
    EXPECT_EQ(parsed.rules.size(), 1U);
    ASSERT_EQ(parsed.broken.size(), 4U);
    EXPECT_EQ(parsed.broken[0].line, 1);
    EXPECT_FALSE(parsed.broken[1].why.empty());
}

TEST(UdevRulesText, PatternsAreAlternativesOfFnmatch) {
    EXPECT_TRUE(udev_glob_match("sd[a-z]|nvme*n*", "nvme0n1"));
    EXPECT_TRUE(udev_glob_match("sd[a-z]|nvme*n*", "sda"));
    EXPECT_FALSE(udev_glob_match("sd[a-z]", "sda1"));
    EXPECT_TRUE(udev_glob_match("FOO", "foo", true));
    EXPECT_TRUE(udev_glob_match("", ""));
}

TEST(UdevRulesText, WhatIsQuotedParsesBack) {
    EXPECT_TRUE(rc::check("quote, then parse", [] {
        auto value = *rc::gen::container<std::string>(rc::gen::inRange<char>(' ', 127));
        const auto parsed = parse_udev_rules("ENV{a}==" + quote_udev(value) + "\n");
        RC_ASSERT(parsed.rules.size() == 1U);
        RC_ASSERT(parsed.rules[0].tokens.at(0).value == value);
    }));
}

TEST(UdevRulesText, AnyBytesAreSurvived) {
    EXPECT_TRUE(rc::check("no crash", [] { parse_udev_rules(*rc::gen::arbitrary<std::string>()); }));
}

TEST(UdevRulesText, RealFilesParse) {
    const char* shared = std::getenv("STORPOL_SHARED");
    if (shared == nullptr) GTEST_SKIP() << "STORPOL_SHARED is not set: no corpus";
    std::size_t rules = 0;
    std::size_t broken = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(shared) / "corpus/udev")) {
        std::ifstream file(entry.path());
        std::stringstream text;
        text << file.rdbuf();
        const auto parsed = parse_udev_rules(text.str());
        rules += parsed.rules.size();
        broken += parsed.broken.size();
    }
    EXPECT_GT(rules, 50U);
    EXPECT_LE(broken, 1U) << "one real file has a line that udev rejects too";
}

}  // namespace
}  // namespace storpol
