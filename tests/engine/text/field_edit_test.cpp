// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/field_edit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "engine/base/text.h"

namespace storpol {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view fstab =
    "# /etc/fstab\n"
    "UUID=0a3407de  /      ext4\tdefaults,noatime  0 1\r\n"
    "\n"
    "/dev/sda2\t/srv\txfs\tdefaults\t0\t2\n"
    "LABEL=\xff /x btrfs rw,,nodiscard";

std::string edited(int line, int field, const Words& take_out, const Words& put_in) {
    const auto text = edit_words(fstab, line, field, take_out, put_in);
    return text ? std::string(split_lines(*text).at(static_cast<std::size_t>(line) - 1))
                : "Error: " + text.error().what;
}

TEST(FieldEdit, AppendsAfterTheWordsThatAreThere) {
    EXPECT_EQ(edited(2, 4, {}, {"commit=300", "lazytime"}),
              "UUID=0a3407de  /      ext4\tdefaults,noatime,commit=300,lazytime  0 1\r");
}

TEST(FieldEdit, PutsTheNthWordInThePlaceOfTheNthTakenOut) {
    EXPECT_EQ(edited(2, 4, {"noatime", "defaults"}, {"relatime"}), "UUID=0a3407de  /      ext4\trelatime  0 1\r");
    EXPECT_EQ(edited(2, 4, {"defaults"}, {"rw", "nodev"}), "UUID=0a3407de  /      ext4\trw,noatime,nodev  0 1\r");
}

TEST(FieldEdit, DefaultsStaysUnlessItIsTakenOut) {
    EXPECT_EQ(edited(4, 4, {}, {"noatime"}), "/dev/sda2\t/srv\txfs\tdefaults,noatime\t0\t2");
    EXPECT_EQ(edited(4, 4, {"defaults"}, {"noatime"}), "/dev/sda2\t/srv\txfs\tnoatime\t0\t2");
}

TEST(FieldEdit, AnEmptiedFieldBecomesDefaults) {
    EXPECT_EQ(edit_words("a b c noatime", 1, 4, Words{"noatime"}, Words{}), "a b c defaults");
    EXPECT_EQ(edited(4, 4, {"defaults"}, {}), "/dev/sda2\t/srv\txfs\tdefaults\t0\t2");
}

TEST(FieldEdit, TheFieldBehindTheLastOneIsMade) {
    EXPECT_EQ(edit_words("UUID=x / ext4 \r\nb", 1, 4, Words{}, Words{"noatime"}), "UUID=x / ext4 noatime \r\nb");
    EXPECT_EQ(edit_words("UUID=x / ext4", 1, 4, Words{}, Words{"noatime", "ro"}), "UUID=x / ext4 noatime,ro");
    EXPECT_FALSE(edit_words("UUID=x /", 1, 4, Words{}, Words{"noatime"}));
}

TEST(FieldEdit, ACommaInQuotesSeparatesNothing) {
    EXPECT_EQ(edit_words("a b context=\"x,y\",rw", 1, 3, Words{"rw"}, Words{"ro"}), "a b context=\"x,y\",ro");
    EXPECT_FALSE(edit_words("a b context=\"x,y\"", 1, 3, Words{"y\""}, Words{}));
    EXPECT_EQ(edit_words("a b x\",rw", 1, 3, Words{"rw"}, Words{"ro"}), "a b x\",ro") << "nothing closes this quote";
}

TEST(FieldEdit, OddBytesAndAMissingLastNewlineStay) {
    EXPECT_EQ(edited(5, 4, {"nodiscard"}, {"discard=async"}), "LABEL=\xff /x btrfs rw,,discard=async");
    const auto text = edit_words(fstab, 5, 4, Words{}, Words{"x"});
    ASSERT_TRUE(text);
    EXPECT_EQ(text->back(), 'x');
}

TEST(FieldEdit, TakesOutOneOfTwoEqualWordsAtATime) {
    EXPECT_EQ(edit_words("a b,b", 1, 2, Words{"b"}, Words{"c"}), "a c,b");
    EXPECT_EQ(edit_words("a b,b", 1, 2, Words{"b", "b"}, Words{"b"}), "a b");
    EXPECT_FALSE(edit_words("a b", 1, 2, Words{"b", "b"}, Words{"b"}));
}

TEST(FieldEdit, WhatIsNotThereIsAnError) {
    EXPECT_EQ(edited(2, 4, {"discard"}, {}), "Error: the word \"discard\" is not there");
    EXPECT_EQ(edited(2, 4, {"noatim"}, {}), "Error: the word \"noatim\" is not there");
    for (const int line : {-1, 0, 6, 1000}) {
        EXPECT_EQ(edit_words(fstab, line, 1, Words{}, Words{"x"}).error().kind, ErrorKind::changed) << line;
    }
    for (const int field : {-1, 0, 8}) {
        EXPECT_EQ(edit_words(fstab, 2, field, Words{}, Words{"x"}).error().kind, ErrorKind::changed) << field;
    }
    EXPECT_FALSE(edit_words(fstab, 3, 1, Words{}, Words{"x"}));
    EXPECT_FALSE(edit_words("", 1, 1, Words{}, Words{"x"}));
}

TEST(FieldEdit, WordsThatWouldBreakTheLineAreRefused) {
    for (const char* word : {"", "a b", "a\tb", "a\nb", "a\rb", "a,b"}) {
        const auto text = edit_words(fstab, 2, 4, Words{}, Words{word});
        ASSERT_FALSE(text) << word;
        EXPECT_EQ(text.error().kind, ErrorKind::invalid);
    }
    EXPECT_FALSE(edit_words(fstab, 2, 4, Words{}, Words{std::string("a\0b", 3)}));
}

// A line of blanks and fields as odd as people write them.
rc::Gen<std::string> any_line() {
    return rc::gen::map(rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab,= \t\t#\xff\\\r"))),
                        [](std::string line) { return line; });
}

rc::Gen<std::string> any_word() {
    return rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc=\xff"))));
}

// Fields as fstab(5) parts them: a '\r' in the midst is no blank.
std::size_t count_fields(std::string_view line) {
    std::size_t count = 0;
    for (const std::string_view part : split(line, ' ')) {
        for (const std::string_view field : split(part, '\t')) count += field.empty() ? 0 : 1;
    }
    return count;
}

TEST(FieldEdit, OnlyThatFieldsBytesChange) {
    EXPECT_TRUE(rc::check("bytes before and after the field stay", [] {
        const auto lines = *rc::gen::nonEmpty(rc::gen::container<Words>(any_line()));
        const std::string text = join(lines, "\n");
        const int line = *rc::gen::inRange(1, static_cast<int>(lines.size()) + 2);
        const int field = *rc::gen::inRange(1, 4);
        const auto put_in = *rc::gen::nonEmpty(rc::gen::container<Words>(any_word()));
        const auto result = edit_words(text, line, field, Words{}, put_in);
        if (!result) return;
        const auto before = split(text, '\n');
        const auto after = split(*result, '\n');
        RC_ASSERT(before.size() == after.size());
        for (std::size_t index = 0; index < before.size(); ++index) {
            if (index != static_cast<std::size_t>(line) - 1) RC_ASSERT(before[index] == after[index]);
        }
        const auto at = static_cast<std::size_t>(line) - 1;
        const bool dos = before[at].back() == '\r';
        // One field more where the edit made it.
        const std::size_t made = count_fields(before[at]) + 1 == static_cast<std::size_t>(field) ? 1 : 0;
        RC_ASSERT(count_fields(before[at]) + made == count_fields(after[at]) || dos);
    }));
}

TEST(FieldEdit, TakingOutWhatWasPutInGivesTheOldBytes) {
    EXPECT_TRUE(rc::check("undo restores", [] {
        const auto line = *any_line();
        const auto word = "new" + *any_word();
        const auto there = edit_words(line, 1, 1, Words{}, Words{word});
        RC_PRE(there.has_value());
        RC_ASSERT(edit_words(*there, 1, 1, Words{word}, Words{}) == line);
    }));
}

TEST(FieldEdit, NothingToDoIsIdentity) {
    EXPECT_TRUE(rc::check("no words, no change", [](const std::string& text, int line, int field) {
        const auto once = edit_words(text, line, field, Words{}, Words{});
        RC_ASSERT(once == text);
    }));
}

TEST(FieldEdit, SurvivesAnyText) {
    EXPECT_TRUE(rc::check("edit_words answers", [](const std::string& text, const Words& out, const Words& in) {
        static_cast<void>(edit_words(text, *rc::gen::inRange(0, 5), *rc::gen::inRange(0, 5), out, in));
    }));
}

}  // namespace
}  // namespace storpol
