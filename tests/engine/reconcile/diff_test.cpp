// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "engine/reconcile/planner.h"

namespace storpol {
namespace {

TEST(UnifiedDiff, EqualTextsHaveNone) {
    EXPECT_EQ(unified_diff("/etc/x", "a\nb\n", "a\nb\n"), "");
    EXPECT_EQ(unified_diff("/etc/x", "", std::string()), "");
}

TEST(UnifiedDiff, AChangedLineStandsBetweenThreeLinesOfContext) {
    EXPECT_EQ(unified_diff("/etc/x", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
              "--- /etc/x\n+++ /etc/x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, AnAbsentSideIsDevNull) {
    EXPECT_EQ(unified_diff("/etc/x", std::string_view{}, "a\n"), "--- /dev/null\n+++ /etc/x\n@@ -0,0 +1 @@\n+a\n");
    EXPECT_EQ(unified_diff("/etc/x", "a\nb\n", std::string_view{}),
              "--- /etc/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n");
}

TEST(UnifiedDiff, AMissingFinalNewlineIsSaid) {
    EXPECT_EQ(unified_diff("/x", "a", "a\n"), "--- /x\n+++ /x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    EXPECT_EQ(unified_diff("/x", "a\nb", "c\nb"),
              "--- /x\n+++ /x\n@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n");
}

TEST(UnifiedDiff, ChangesFarApartAreHunksOfTheirOwn) {
    std::string before;
    for (int i = 1; i <= 20; ++i) before += std::to_string(i) + "\n";
    std::string after = before;
    after.replace(after.find("2\n"), 2, "two\n");
    after.replace(after.find("19\n"), 3, "nineteen\n");
    EXPECT_EQ(unified_diff("/x", before, after),
              "--- /x\n+++ /x\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n"
              "@@ -16,5 +16,5 @@\n 16\n 17\n 18\n-19\n+nineteen\n 20\n");
}

TEST(UnifiedDiff, ChangesNearEachOtherShareAHunk) {
    const auto diff = unified_diff("/x", "a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n");
    EXPECT_EQ(diff, "--- /x\n+++ /x\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
}

TEST(UnifiedDiff, LongFilesWithNothingInCommonAreShownAsReplaced) {
    std::string before;
    std::string after;
    for (int i = 0; i < 10000; ++i) {
        before += "old " + std::to_string(i) + "\n";
        after += "new " + std::to_string(i) + "\n";
    }
    const auto diff = unified_diff("/x", before, after);
    EXPECT_TRUE(diff.starts_with("--- /x\n+++ /x\n@@ -1,10000 +1,10000 @@\n-old 0\n"));
    EXPECT_TRUE(diff.ends_with("+new 9999\n"));
}

}  // namespace
}  // namespace storpol
