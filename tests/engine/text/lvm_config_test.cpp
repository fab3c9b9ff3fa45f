// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/lvm_config.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace storpol {
namespace {

TEST(LvmConfig, SectionsAndPathsNameTheSameThing) {
    const auto braces = parse_lvm_config("devices {\n\tdir = \"/dev\"\n\tissue_discards = 1\n}\n");
    ASSERT_NE(braces.find("devices/issue_discards"), nullptr);
    const auto& found = *braces.find("devices/issue_discards");
    EXPECT_EQ(found.value, "1");
    EXPECT_EQ(found.line, 3);
    EXPECT_EQ(found.field, 3);
    EXPECT_EQ(found.word, "1");
    const auto path = parse_lvm_config("devices/issue_discards=0");
    ASSERT_NE(path.find("devices/issue_discards"), nullptr);
    EXPECT_EQ(path.find("devices/issue_discards")->word, "devices/issue_discards=0");
    EXPECT_EQ(path.find("devices/issue_discards")->offset, 23U);
    EXPECT_EQ(path.find("devices/issue_discards")->field, 1);
}

TEST(LvmConfig, OfTwoTheLastHolds) {
    const auto config = parse_lvm_config("devices { issue_discards = 1 }\ndevices {\n issue_discards = 0\n}\n");
    ASSERT_EQ(config.assignments.size(), 2U);
    EXPECT_EQ(config.find("devices/issue_discards")->value, "0");
    EXPECT_EQ(config.find("devices/issue_discards")->line, 3);
}

TEST(LvmConfig, CommentsAndStringsHideWhatLooksLikeAssignments) {
    const auto config = parse_lvm_config(
        "# devices/issue_discards = 1\ndevices {\n  filter = [ \"a|.*|\", \"r#x}#\" ] # issue_discards = 1\n"
        "  scan = \"issue_discards = 1 }\"\n}\n");
    EXPECT_EQ(config.broken_line, 0);
    EXPECT_EQ(config.find("devices/issue_discards"), nullptr);
    ASSERT_NE(config.find("devices/filter"), nullptr);
    EXPECT_EQ(config.find("devices/filter")->value, "[ \"a|.*|\", \"r#x}#\" ]");
}

TEST(LvmConfig, ValueAgainstABraceIsFoundInItsWord) {
    const auto config = parse_lvm_config("devices {issue_discards=1}");
    ASSERT_NE(config.find("devices/issue_discards"), nullptr);
    EXPECT_EQ(config.find("devices/issue_discards")->word, "{issue_discards=1}");
    EXPECT_EQ(config.find("devices/issue_discards")->offset, 16U);
    EXPECT_EQ(config.find("devices/issue_discards")->field, 2);
}

TEST(LvmConfig, BrokenTextSaysWhere) {
    EXPECT_EQ(parse_lvm_config("devices {\n a = \n").broken_line, 3);
    EXPECT_EQ(parse_lvm_config("}\n").broken_line, 1);
    EXPECT_EQ(parse_lvm_config("a = 1\nb\n").broken_line, 3);
    EXPECT_EQ(parse_lvm_config("a = \"x\n").broken_line, 1);
    EXPECT_EQ(parse_lvm_config("a = [ 1, 2\n").broken_line, 2);
    EXPECT_EQ(parse_lvm_config("").broken_line, 0);
}

TEST(LvmConfig, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("no crash, and values stand where they are said to stand", [](const std::string& text) {
        for (const auto& assignment : parse_lvm_config(text).assignments) {
            RC_ASSERT(assignment.line >= 1);
            RC_ASSERT(assignment.field >= 1);
            RC_ASSERT(assignment.offset < assignment.word.size());
        }
    }));
    EXPECT_TRUE(rc::check("nor of pieces of real ones", [] {
        const auto piece = rc::gen::elementOf(std::vector<std::string>{
            "devices", " {", "}", "issue_discards", " = ", "1", "\n", "# x", "\"s\"", "[", "]", ",", "/", "\t"});
        std::string text;
        for (const auto& part : *rc::gen::container<std::vector<std::string>>(piece)) text += part;
        parse_lvm_config(text);
    }));
}

}  // namespace
}  // namespace storpol
