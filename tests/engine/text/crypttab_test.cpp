// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/crypttab.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/base/text.h"
#include "engine/text/field_edit.h"

namespace storpol {
namespace {

TEST(Crypttab, FieldsAreSplitByBlanksAndTabs) {
    const auto table = parse_crypttab("root\tUUID=f6a93539-a91a-5ef4-b848-7e6c56e300f8   none \tluks,discard\n");
    ASSERT_EQ(table.entries.size(), 1U);
    const auto& entry = table.entries[0];
    EXPECT_EQ(entry.line, 1);
    EXPECT_EQ(entry.name, "root");
    EXPECT_EQ(entry.source, "UUID=f6a93539-a91a-5ef4-b848-7e6c56e300f8");
    EXPECT_EQ(entry.key, "");
    EXPECT_EQ(entry.options, (std::vector<std::string>{"luks", "discard"}));
    EXPECT_EQ(entry.fields, 4);
    EXPECT_TRUE(entry.has("discard"));
    EXPECT_FALSE(entry.has("disc"));
}

TEST(Crypttab, CommentsAndBlankLinesAreNoEntries) {
    const auto table = parse_crypttab("# root UUID=x none\n\n   \t\n\t# indented\nhome /dev/sda4 /key luks\n");
    ASSERT_EQ(table.entries.size(), 1U);
    EXPECT_EQ(table.entries[0].line, 5);
    EXPECT_EQ(table.entries[0].key, "/key");
    EXPECT_TRUE(table.rejected.empty());
}

TEST(Crypttab, MissingFieldsAreEmpty) {
    const auto table = parse_crypttab("a /dev/a\nb /dev/b -\nc /dev/c none -\nd\n");
    ASSERT_EQ(table.entries.size(), 3U);
    EXPECT_EQ(table.entries[0].fields, 2);
    EXPECT_EQ(table.entries[1].fields, 3);
    EXPECT_EQ(table.entries[2].options_text, "-");
    EXPECT_TRUE(table.entries[2].options.empty());
    ASSERT_EQ(table.rejected.size(), 1U);
    EXPECT_EQ(table.rejected[0].line, 4);
}

TEST(Crypttab, ALineWithoutNewlineAndOneWithACarriageReturnAreRead) {
    const auto table = parse_crypttab("a /dev/a none luks\r\nb /dev/b none discard");
    ASSERT_EQ(table.entries.size(), 2U);
    EXPECT_EQ(table.entries[0].options, std::vector<std::string>{"luks"});
    EXPECT_TRUE(table.entries[1].has("discard"));
}

TEST(Crypttab, OctalEscapesAreUndone) {
    const auto table = parse_crypttab("my\\040disk /dev/disk/by-label/my\\040disk none luks\n");
    ASSERT_EQ(table.entries.size(), 1U);
    EXPECT_EQ(table.entries[0].name, "my disk");
    EXPECT_NE(table.find("my disk"), nullptr);
}

TEST(Crypttab, TheFirstOfTwoLinesWithOneNameCounts) {
    const auto table = parse_crypttab("a /dev/a none luks\na /dev/b none luks,discard\n");
    ASSERT_NE(table.find("a"), nullptr);
    EXPECT_EQ(table.find("a")->line, 1);
    EXPECT_EQ(table.find("b"), nullptr);
}

TEST(Crypttab, RandomKeysAreKnownByTheirDeviceOrByWhatTheyAreFor) {
    const auto is_random = [](const std::string& line) { return parse_crypttab(line).entries.at(0).has_random_key(); };
    EXPECT_TRUE(is_random("s /dev/sda2 /dev/urandom swap,cipher=aes-xts-plain64,size=512"));
    EXPECT_TRUE(is_random("s /dev/sda2 /dev/random plain"));
    EXPECT_TRUE(is_random("t /dev/sda2 /dev/urandom tmp=ext4"));
    EXPECT_TRUE(is_random("t /dev/sda2 /dev/hwrng tmp"));
    EXPECT_FALSE(is_random("s /dev/sda2 none luks"));
    EXPECT_FALSE(is_random("s /dev/sda2 /etc/swap.key luks"));
}

TEST(Crypttab, ValuesAreFoundByTheirWholeKey) {
    const auto entry = parse_crypttab("a /dev/a none size=1,keyfile-size=64,size=512").entries.at(0);
    EXPECT_EQ(entry.value_of("size"), "512");
    EXPECT_EQ(entry.value_of("keyfile-size"), "64");
    EXPECT_EQ(entry.value_of("key"), std::nullopt);
    EXPECT_TRUE(parse_crypttab("a /dev/a none plain").entries.at(0).is_other_than_luks());
    EXPECT_FALSE(entry.is_other_than_luks());
}

TEST(Crypttab, AnyBytesAreSurvived) {
    EXPECT_TRUE(rc::check("any text", [](const std::string& text) {
        const auto table = parse_crypttab(text);
        for (const auto& entry : table.entries) RC_ASSERT(entry.line >= 1 && entry.fields >= 2);
        RC_ASSERT(table.entries.size() + table.rejected.size() <= split_lines(text).size());
    }));
}

std::string slurp(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// A word put into every real line and taken out again leaves the old bytes, and is an option in between.
TEST(Crypttab, RealFilesTakeAWordAndGiveItBack) {
    const char* shared = std::getenv("STORPOL_SHARED");
    if (shared == nullptr) GTEST_SKIP() << "STORPOL_SHARED names no folder";
    int edited = 0;
    for (const auto& file : std::filesystem::directory_iterator(std::string(shared) + "/corpus/crypttab")) {
        const auto text = slurp(file.path());
        for (const auto& entry : parse_crypttab(text).entries) {
            if (entry.fields < 4 || entry.has("discard")) continue;
            const std::vector<std::string> none;
            const std::vector<std::string> word{"discard"};
            const auto there = edit_words(text, entry.line, crypttab_options_field, none, word);
            ASSERT_TRUE(there) << file.path() << ":" << entry.line;
            const auto found = parse_crypttab(*there);
            const auto at = std::find_if(found.entries.begin(), found.entries.end(),
                                         [&](const CrypttabEntry& other) { return other.line == entry.line; });
            ASSERT_NE(at, found.entries.end());
            EXPECT_TRUE(entry.options.empty() || at->has("discard")) << file.path() << ":" << entry.line;
            const auto back = edit_words(*there, entry.line, crypttab_options_field, word, none);
            ASSERT_TRUE(back);
            EXPECT_EQ(*back, text) << file.path() << ":" << entry.line;
            ++edited;
        }
    }
    EXPECT_GT(edited, 20);
}

}  // namespace
}  // namespace storpol
