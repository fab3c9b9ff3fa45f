// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/shell_assignments.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace storpol {
namespace {

ShellAssignments read(const std::string& text, const std::string& later = "") {
    ShellAssignments all;
    all.source("/etc/default/grub", text);
    if (!later.empty()) all.source("/etc/default/grub.d/50-cloud.cfg", later);
    return all;
}

std::string value(const ShellAssignments& all, const std::string& name) {
    const auto* found = all.find(name);
    if (found == nullptr) return "(none)";
    return found->unknown.empty() ? found->text : "(unknown)";
}

TEST(ShellAssignments, QuotesOfBothKindsAreDropped) {
    const auto all = read("A=\"quiet splash\"\nB='single $A'\nC=bare # comment\nexport D=\"x\"'y'z\n#E=1\n");
    EXPECT_EQ(value(all, "A"), "quiet splash");
    EXPECT_EQ(value(all, "B"), "single $A");
    EXPECT_EQ(value(all, "C"), "bare");
    EXPECT_EQ(value(all, "D"), "xyz");
    EXPECT_EQ(all.find("E"), nullptr);
}

TEST(ShellAssignments, ReferencesAreEvaluatedInOrder) {
    const auto all = read("A=\"one\"\nA=\"$A two ${A}\"\nB=\"$unset\"\n");
    EXPECT_EQ(value(all, "A"), "one two one");
    EXPECT_EQ(value(all, "B"), "");
}

TEST(ShellAssignments, ALaterFileReplacesOrAppends) {
    EXPECT_EQ(value(read("L=\"quiet\"\n", "L=\"console=ttyS0\"\n"), "L"), "console=ttyS0");
    const auto all = read("L=\"quiet\"\n", "L=\"$L nvme=1\"\n");
    EXPECT_EQ(value(all, "L"), "quiet nvme=1");
    const auto* found = all.find("L");
    EXPECT_EQ(all.path_of(found->origins[0].file), "/etc/default/grub");
    EXPECT_EQ(all.path_of(found->origins[7].file), "/etc/default/grub.d/50-cloud.cfg");
    EXPECT_EQ(found->origins[7].offset, 7U) << "in its own line, behind the reference";
    EXPECT_EQ(value(read("L=a\nL+=b\n"), "L"), "ab");
}

TEST(ShellAssignments, LinesThatAreContinuedAreOne) {
    const auto all = read("L=\"a \\\nb\"\nM=x\n");
    EXPECT_EQ(value(all, "L"), "a b");
    EXPECT_EQ(all.find("L")->origins[2].line, 2U);
    EXPECT_EQ(all.find("M")->line, 3U);
}

TEST(ShellAssignments, EscapesAreUndoneAndToldApart) {
    const auto all = read("L=\"a\\\"b\"\n");
    EXPECT_EQ(value(all, "L"), "a\"b");
    EXPECT_EQ(all.find("L")->origins[0].is_plain, 1U);
    EXPECT_EQ(all.find("L")->origins[1].is_plain, 0U);
}

TEST(ShellAssignments, WhatDependsOnMoreThanTextIsUnknown) {
    const auto all = read(
        "A=\"$(cat /proc/cmdline)\"\nB=`uname`\nif [ -f x ]; then\n C=1\nfi\nD=2\n[ -f y ] && "
        "E=1\nF=${D:-x}\nG=\"$A\"\n");
    for (const auto* name : {"A", "B", "C", "E", "F", "G"}) EXPECT_EQ(value(all, name), "(unknown)") << name;
    EXPECT_EQ(value(all, "D"), "2");
    EXPECT_NE(all.find("C")->unknown.find("/etc/default/grub:4"), std::string::npos);
    EXPECT_EQ(all.unknown(), "");
}

TEST(ShellAssignments, AFileThatSourcesAnotherTellsNothingForSure) {
    EXPECT_NE(read("A=1\n. /etc/other\n").unknown(), "");
    EXPECT_NE(read("A=1\n[ -r /x ] && . /x\n").unknown(), "");
    EXPECT_EQ(read("A=1\necho source\n").unknown(), "");
}

TEST(ShellAssignments, AnAssignmentBeforeACommandIsTheCommands) {
    EXPECT_EQ(read("A=1 ls\n").find("A"), nullptr);
}

TEST(ShellAssignments, UnclosedQuotesAreUnknown) {
    EXPECT_EQ(value(read("A=\"never closed\nB=1\n"), "A"), "(unknown)");
}

TEST(ShellAssignments, AnEscapedQuoteOpensNothing) {
    EXPECT_EQ(value(read("echo \\' ; A=1\n"), "A"), "1");
    EXPECT_EQ(value(read("echo \\\" ; A=1\n"), "A"), "1");
}

// Read from memory of just this size, so that a sanitizer sees one byte too far.
TEST(ShellAssignments, ATextMayEndInTheMiddleOfAnything) {
    for (const std::string whole :
         {"A=\"${saved_entry}\"\n", "A=${x:-\"y\"}\n", "A=`echo \\`x`\n", "A=$(ls \"$(a 'b')\" \\))\n",
          "A='x'\\\n\"y\\\"\"\n", "echo \\' \"a\\\"\" 'b' ; A=1 && B=$C\n", "A+=$1$$\nexport A B=2\n"}) {
        for (std::size_t size = 0; size <= whole.size(); ++size) {
            const std::vector<char> exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
            ShellAssignments all;
            all.source("x", std::string_view(exact.data(), exact.size()));
            const auto* found = all.find("A");
            if (found != nullptr && found->unknown.empty()) {
                EXPECT_EQ(found->text.size(), found->origins.size()) << whole << size;
            }
        }
    }
}

TEST(ShellAssignments, DoublingValuesIsBounded) {
    std::string text = "A=0123456789abcdef\n";
    for (int i = 0; i < 200; ++i) text += "A=\"$A$A\"\n";
    const auto all = read(text);
    EXPECT_EQ(value(all, "A"), "(unknown)");
}

TEST(ShellAssignments, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("any text", [](const std::string& text) {
        ShellAssignments all;
        all.source("x", text);
        const auto shell = rc::gen::container<std::string>(rc::gen::elementOf(std::string("A=\"'$(){}`\\\n; &|#+xif")));
        all.source("y", *shell);
        const auto* found = all.find("A");
        if (found != nullptr && found->unknown.empty()) RC_ASSERT(found->text.size() == found->origins.size());
    }));
}

// What a shell makes of the real files, for those that need no evaluation beyond quotes.
TEST(ShellAssignments, RealDefaultsAreRead) {
    const char* shared = std::getenv("STORPOL_SHARED");
    if (shared == nullptr) GTEST_SKIP() << "STORPOL_SHARED names no folder";
    int known = 0;
    int files = 0;
    for (const auto& file : std::filesystem::directory_iterator(std::string(shared) + "/corpus/grub-default")) {
        std::ifstream in(file.path(), std::ios::binary);
        const auto all = read({std::istreambuf_iterator<char>(in), {}});
        ++files;
        const auto* found = all.find("GRUB_CMDLINE_LINUX");
        if (found != nullptr && found->unknown.empty() && all.unknown().empty()) ++known;
    }
    EXPECT_GT(files, 20);
    EXPECT_GT(known, files / 2);
}

}  // namespace
}  // namespace storpol
