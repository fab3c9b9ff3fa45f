// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/diagnostic.h"

#include <gtest/gtest.h>

#include <string>

namespace storpol {
namespace {

PolicyError sample() {
    PolicyError error;
    error.where = {"policies/laptop.toml", 31, 13};
    error.says = "unknown scheduler \"bqf\"";
    error.fix = "write \"bfq\"";
    error.note = "schedulers: none, mq-deadline, kyber, bfq";
    error.width = 5;
    error.line = "scheduler = \"bqf\"";
    return error;
}

TEST(Diagnostic, ReadsAsTheStyleSays) {
    EXPECT_EQ(render(sample()),
              "policies/laptop.toml:31:13: error: unknown scheduler \"bqf\"\n"
              "   31 | scheduler = \"bqf\"\n"
              "      |             ^~~~~ schedulers: none, mq-deadline, kyber, bfq\n"
              "  fix: write \"bfq\"\n");
}

TEST(Diagnostic, WithoutALineItHasNoExcerpt) {
    PolicyError error = sample();
    error.line.clear();
    EXPECT_EQ(render(error),
              "policies/laptop.toml:31:13: error: unknown scheduler \"bqf\"\n"
              "  note: schedulers: none, mq-deadline, kyber, bfq\n"
              "  fix: write \"bfq\"\n");
}

TEST(Diagnostic, HostileTextIsMadeHarmless) {
    PolicyError error = sample();
    error.where.file = "a\x1b[2J.toml";
    error.line = "\tx = \"\x1b\xff\"\r";
    error.where.column = 6;
    error.width = 4;
    error.note.clear();
    error.fix.clear();
    EXPECT_EQ(render(error),
              "a\\x1b[2J.toml:31:6: error: unknown scheduler \"bqf\"\n"
              "   31 |  x = \"\\x1b\\xff\"\n"
              "      |      ^~~~~~~~~~\n");
}

TEST(Diagnostic, LongLinesAreCutAroundTheMark) {
    PolicyError error = sample();
    error.line = std::string(5000, 'a') + "éX" + std::string(5000, 'b');
    error.where.column = 5003;
    error.width = 1;
    const std::string text = render(error);
    EXPECT_NE(text.find("| ..." + std::string(58, 'a') + "éXbbb"), std::string::npos) << text;
    EXPECT_NE(text.find("b...\n"), std::string::npos);
    EXPECT_LT(text.size(), 500u);
}

TEST(Diagnostic, PlacesBeyondTheLineAreHarmless) {
    PolicyError error = sample();
    error.where.column = 1000;
    error.width = 1 << 30;
    EXPECT_NE(render(error).find("| scheduler = \"bqf\"\n"), std::string::npos);
    error.where.column = -5;
    error.width = -3;
    EXPECT_NE(render(error).find("| scheduler = \"bqf\"\n"), std::string::npos);
}

}  // namespace
}  // namespace storpol
