// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/tmpfiles_d.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace storpol {
namespace {

TEST(TmpfilesD, OnlyLinesThatWriteCount) {
    const auto writes = parse_tmpfiles_writes(
        "# w /a - - - - 1\nd /run/x 0755 root root -\nw+! /a - - - - one  two\nw \"/b c\"\nw /d - - - - \"x\\sy%%\"\n");
    ASSERT_EQ(writes.size(), 3U);
    EXPECT_EQ(writes[0].argument, "one  two");
    EXPECT_TRUE(writes[0].appends);
    EXPECT_TRUE(writes[0].at_boot_only);
    EXPECT_EQ(writes[0].line, 3);
    EXPECT_EQ(writes[1].argument, "");
    EXPECT_EQ(writes[2].argument, "x y%");
}

TEST(TmpfilesD, SpecifiersAreNotGuessed) {
    const auto writes = parse_tmpfiles_writes("w /a - - - - %b\nw /a - - - - \\x41\nw /a - - - - 50%\n");
    ASSERT_EQ(writes.size(), 3U);
    for (const auto& write : writes) EXPECT_FALSE(write.argument.has_value()) << write.written;
}

TEST(TmpfilesD, WhatIsRenderedReadsBack) {
    EXPECT_TRUE(rc::check("an argument of printable text", [] {
        const auto text = *rc::gen::container<std::string>(rc::gen::inRange('!', '~'));
        RC_PRE(!text.empty() && text.front() != '"' && text.front() != '\'');
        const auto writes = parse_tmpfiles_writes("w /a - - - - " + render_tmpfiles_argument(text));
        RC_ASSERT(writes.size() == 1U);
        RC_ASSERT(writes[0].argument == text);
    }));
}

TEST(TmpfilesD, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("no crash", [](const std::string& text) { parse_tmpfiles_writes("w " + text); }));
}

}  // namespace
}  // namespace storpol
