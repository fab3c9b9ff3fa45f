// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/unit_file.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace storpol {
namespace {

constexpr const char* timer = R"(# /etc/systemd/system/fstrim.timer
[Unit]
Description=Discard unused filesystem blocks once a week

[Timer]
OnCalendar=weekly
; a comment
OnCalendar=
OnCalendar = Mon 04:00
OnCalendar=Thu 04:00
Persistent=true
)";

TEST(UnitFile, ReadsAssignmentsWithSectionsAndLines) {
    const UnitFile file = parse_unit_file(timer);
    EXPECT_TRUE(file.rejected.empty());
    ASSERT_EQ(file.assignments.size(), 6U);
    EXPECT_EQ(file.assignments[0],
              (UnitAssignment{"Unit", "Description", "Discard unused filesystem blocks once a week", 3, 3}));
    const UnitAssignment* const persistent = last_assignment(file.assignments, "Timer", "Persistent");
    ASSERT_NE(persistent, nullptr);
    EXPECT_EQ(persistent->line, 11);
    EXPECT_EQ(parse_unit_boolean(persistent->value), true);
}

TEST(UnitFile, AnEmptyAssignmentEndsTheListBeforeIt) {
    const UnitFile file = parse_unit_file(timer);
    const auto list = list_assignments(file.assignments, "Timer", "OnCalendar");
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[0]->value, "Mon 04:00");
    EXPECT_EQ(list[1]->value, "Thu 04:00");
    EXPECT_EQ(list[1]->line, 10);
}

TEST(UnitFile, KeysOfOtherSectionsAreOthers) {
    const UnitFile file = parse_unit_file("[A]\nx=1\n[B]\nx=2\n[A]\nx=3\n");
    EXPECT_EQ(last_assignment(file.assignments, "A", "x")->value, "3");
    EXPECT_EQ(last_assignment(file.assignments, "B", "x")->value, "2");
    EXPECT_EQ(last_assignment(file.assignments, "C", "x"), nullptr);
}

TEST(UnitFile, ContinuationLinesJoinAndCommentsBetweenThemVanish) {
    const UnitFile file =
        parse_unit_file("[Service]\nExecStart=/sbin/fstrim \\\n# note\n   --all \\\n   --verbose\nNice=19\n");
    ASSERT_EQ(file.assignments.size(), 2U);
    EXPECT_EQ(file.assignments[0].value, "/sbin/fstrim  --all  --verbose");
    EXPECT_EQ(file.assignments[0].line, 2);
    EXPECT_EQ(file.assignments[0].last_line, 5);
    EXPECT_EQ(file.assignments[1].line, 6);
}

TEST(UnitFile, AContinuationAtTheEndStillCounts) {
    const UnitFile file = parse_unit_file("[Mount]\nOptions=noatime \\");
    ASSERT_EQ(file.assignments.size(), 1U);
    EXPECT_EQ(file.assignments[0].value, "noatime");
}

TEST(UnitFile, AnEvenNumberOfBackslashesContinuesNothing) {
    const UnitFile file = parse_unit_file("[A]\nx=a\\\\\ny=b\n");
    ASSERT_EQ(file.assignments.size(), 2U);
    EXPECT_EQ(file.assignments[0].value, "a\\\\");
}

TEST(UnitFile, WhatSystemdIgnoresIsRejectedByLine) {
    const UnitFile file = parse_unit_file("early=1\n[A]\nnoise\n=x\nok=1\nbad=\xff\n[B\ny=2\n[C]\nz=3\n");
    ASSERT_EQ(file.assignments.size(), 2U);
    EXPECT_EQ(file.assignments[0].key, "ok");
    EXPECT_EQ(file.assignments[1].key, "z");
    std::vector<int> lines;
    for (const auto& line : file.rejected) lines.push_back(line.line);
    EXPECT_EQ(lines, (std::vector<int>{1, 3, 4, 6, 7, 8}));
}

TEST(UnitFile, ReturnsAndAByteOrderMarkAreNoPartOfAnything) {
    const UnitFile file = parse_unit_file("\xEF\xBB\xBF[A]\r\nx=1\r\n\r\ny=2\r\n");
    ASSERT_EQ(file.assignments.size(), 2U);
    EXPECT_EQ(file.assignments[0], (UnitAssignment{"A", "x", "1", 2, 2}));
    EXPECT_EQ(file.assignments[1].line, 4);
}

TEST(UnitFile, UnicodeIsKept) {
    const UnitFile file = parse_unit_file("[Unit]\nDescription=Gr\xC3\xBC\xC3\x9F \xC2\x80\n");
    ASSERT_EQ(file.assignments.size(), 1U);
    EXPECT_EQ(file.assignments[0].value, "Gr\xC3\xBC\xC3\x9F \xC2\x80");
}

TEST(UnitFile, BooleansAreSystemdsAndNothingElse) {
    EXPECT_EQ(parse_unit_boolean("Yes"), true);
    EXPECT_EQ(parse_unit_boolean("off"), false);
    EXPECT_EQ(parse_unit_boolean("maybe"), std::nullopt);
    EXPECT_EQ(parse_unit_boolean(""), std::nullopt);
}

TEST(UnitFile, SurvivesAnyText) {
    const auto piece = rc::gen::element<std::string>("[", "]", "A", "=", "\n", "\\", "\r", " ", "#", ";",
                                                     std::string(1, '\0'), "\xff", "x");
    EXPECT_TRUE(rc::check("lines are in order", [&] {
        std::string text;
        for (const auto& part : *rc::gen::container<std::vector<std::string>>(piece)) text += part;
        int at = 0;
        for (const UnitAssignment& assignment : parse_unit_file(text).assignments) {
            RC_ASSERT(assignment.line > at);
            RC_ASSERT(assignment.last_line >= assignment.line);
            RC_ASSERT(!assignment.key.empty());
            at = assignment.line;
        }
    }));
}

TEST(UnitFileCorpus, RealUnitsHaveNoRejectedLine) {
    const char* const shared = std::getenv("STORPOL_SHARED");
    if (shared == nullptr) GTEST_SKIP() << "STORPOL_SHARED names no folder with corpus/";
    std::size_t files = 0;
    for (const auto& file :
         std::filesystem::directory_iterator(std::filesystem::path(shared) / "corpus" / "trim-units")) {
        std::ifstream in(file.path(), std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        if (text.str().find('[') == std::string::npos) continue;  // the target of a link, stored as text
        const UnitFile unit = parse_unit_file(text.str());
        for (const auto& line : unit.rejected) ADD_FAILURE() << file.path() << ":" << line.line << ": " << line.why;
        files += unit.assignments.empty() ? 0U : 1U;
    }
    EXPECT_GT(files, 5U);
}

}  // namespace
}  // namespace storpol
