// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/modprobe_d.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace storpol {
namespace {

TEST(ModprobeD, OptionsOfSeveralLinesAreOneCommand) {
    const auto options =
        parse_module_options("alias a b\noptions dm-raid a=1 \\\n b-c=\"x\" flag\n# options raid456 a=1\n");
    ASSERT_EQ(options.size(), 3U);
    EXPECT_EQ(options[0].module, "dm_raid");
    EXPECT_EQ(options[1].name, "b_c");
    EXPECT_EQ(options[1].value, "\"x\"");
    EXPECT_EQ(options[1].line, 2);
    EXPECT_EQ(options[2].value, "Y") << "a bare name switches on";
}

TEST(ModprobeD, WhatIsNoOptionsCommandSaysNothing) {
    EXPECT_TRUE(parse_module_options("options\noptions raid456\ninstall raid456 options x y\n\\").empty());
}

TEST(ModprobeD, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("no crash", [](const std::string& text) { parse_module_options("options a " + text); }));
}

}  // namespace
}  // namespace storpol
