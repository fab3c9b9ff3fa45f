// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

namespace storpol {
namespace {

using Views = std::vector<std::string_view>;

TEST(Text, TrimTakesBlanksAtBothEnds) {
    EXPECT_EQ(trim(" \t a b\r\n"), "a b");
    EXPECT_EQ(trim(" \n"), "");
    EXPECT_EQ(trim(""), "");
    EXPECT_EQ(trim("\va"), "\va");
}

TEST(Text, SplitKeepsEmptyParts) {
    EXPECT_EQ(split("a,,b", ','), (Views{"a", "", "b"}));
    EXPECT_EQ(split("", ','), Views{""});
    EXPECT_EQ(split(",", ','), (Views{"", ""}));
}

TEST(Text, SplitWordsTakesRunsOfBlanks) {
    EXPECT_EQ(split_words("  a\t b\nc "), (Views{"a", "b", "c"}));
    EXPECT_TRUE(split_words(" \t").empty());
    EXPECT_TRUE(split_words("").empty());
}

TEST(Text, SplitLinesCountsAnUnfinishedLine) {
    EXPECT_EQ(split_lines("a\nb"), (Views{"a", "b"}));
    EXPECT_EQ(split_lines("a\nb\n"), (Views{"a", "b"}));
    EXPECT_EQ(split_lines("\n\n"), (Views{"", ""}));
    EXPECT_EQ(split_lines("a\r\n"), Views{"a\r"});
    EXPECT_TRUE(split_lines("").empty());
}

TEST(Text, JoinIsTheReverseOfSplit) {
    EXPECT_TRUE(rc::check("join after split is identity", [](const std::string& text) {
        std::vector<std::string> parts;
        for (const std::string_view part : split(text, ',')) parts.emplace_back(part);
        RC_ASSERT(join(parts, ",") == text);
    }));
    EXPECT_EQ(join({}, ","), "");
}

TEST(Text, ParseIntTakesTheWholeTextOnly) {
    EXPECT_EQ(parse_int("42"), 42);
    EXPECT_EQ(parse_int("+42"), 42);
    EXPECT_EQ(parse_int("-42"), -42);
    EXPECT_EQ(parse_int("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(parse_int("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
    for (const char* text :
         {"", "+", "-", " 1", "1 ", "1.0", "0x10", "+-1", "--1", "++1", "9223372036854775808", "1e3"}) {
        EXPECT_FALSE(parse_int(text)) << text;
    }
}

TEST(Text, PrintableShowsControlBytes) {
    EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f"), "a\\x0ab\\x09c\\x1b[31m\\x7f");
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(printable("back\\slash"), "back\\slash");
    EXPECT_EQ(printable("na\u00efve \u65e5\u672c \U0001F600"), "na\u00efve \u65e5\u672c \U0001F600");
}

TEST(Text, PrintableShowsC1AndBidiControlsAsBytes) {
    EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
    EXPECT_EQ(printable("a\xe2\x80\xae"
                        "b"),
              "a\\xe2\\x80\\xaeb");
    EXPECT_EQ(printable("\xe2\x81\xa6"), "\\xe2\\x81\\xa6");
    EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");
}

TEST(Text, PrintableShowsWhatIsNotUtf8) {
    EXPECT_EQ(printable("\xff"), "\\xff");
    EXPECT_EQ(printable("\xc3("), "\\xc3(");
    EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong '/'
    EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
    EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                    // cut off
}

TEST(Text, EscapeIsReversibleForAllBytes) {
    EXPECT_EQ(escape_bytes("a\\b\n"), "a\\\\b\\x0a");
    EXPECT_TRUE(rc::check("unescape after escape is identity", [](const std::string& bytes) {
        const std::string text = escape_bytes(bytes);
        RC_ASSERT(unescape_bytes(text) == bytes);
        RC_ASSERT(text.find('\n') == std::string::npos);
    }));
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    EXPECT_EQ(unescape_bytes(escape_bytes(all)), all);
}

TEST(Text, UnescapeRefusesMalformedEscapes) {
    for (const char* text : {"\\", "a\\", "\\x", "\\x0", "\\xg0", "\\n", "\\u0041", "\\x1\\x"}) {
        EXPECT_FALSE(unescape_bytes(text)) << text;
    }
    EXPECT_EQ(unescape_bytes("\\x4A\\x4a"), "JJ");
}

TEST(Text, QuotesAsJson) {
    EXPECT_EQ(quote_json("/srv"), "\"/srv\"");
    EXPECT_EQ(quote_json("a\"b\\c"), "\"a\\\"b\\\\c\"");
    EXPECT_EQ(quote_json("\n\t\x01"), "\"\\n\\t\\u0001\"");
    EXPECT_EQ(quote_json("\u00fc"), "\"\u00fc\"");
    EXPECT_EQ(quote_json("\u202e"), "\"\\u202e\"");
    EXPECT_EQ(quote_json("\xff"), "\"\\\\xff\"");
}

TEST(Text, GlobKnowsStarAndQuestionMarkOnly) {
    EXPECT_TRUE(glob_match("data*", "data"));
    EXPECT_TRUE(glob_match("data*", "data-1"));
    EXPECT_FALSE(glob_match("data*", "xdata"));
    EXPECT_TRUE(glob_match("*", ""));
    EXPECT_TRUE(glob_match("", ""));
    EXPECT_FALSE(glob_match("", "a"));
    EXPECT_FALSE(glob_match("?", ""));
    EXPECT_TRUE(glob_match("mount[\"/srv*\"].*", "mount[\"/srv/a\"].commit"));
    EXPECT_FALSE(glob_match("[ab]", "a"));
    EXPECT_TRUE(glob_match("*ab*ab", "abxabab"));
    EXPECT_FALSE(glob_match("Lexar*", "lexar"));
}

TEST(Text, GlobOfManyStarsEndsSoon) {
    std::string pattern;
    for (int count = 0; count < 200; ++count) pattern += "a*";
    EXPECT_FALSE(glob_match(pattern + "b", std::string(2000, 'a')));
}

TEST(Text, GlobOfATextWithAStarInsertedMatchesIt) {
    EXPECT_TRUE(rc::check("a star may stand anywhere", [](const std::string& text) {
        const auto at = *rc::gen::inRange<std::size_t>(0, text.size() + 1);
        RC_PRE(text.find_first_of("*?") == std::string::npos);
        RC_ASSERT(glob_match(text, text));
        RC_ASSERT(glob_match(text.substr(0, at) + "*", text));
        RC_ASSERT(glob_match(text.substr(0, at) + "*" + text.substr(at), text));
        RC_ASSERT(!glob_match(text + "?", text));
    }));
}

TEST(Text, NearestFindsTypingMistakes) {
    const std::vector<std::string> schedulers{"none", "mq-deadline", "kyber", "bfq"};
    EXPECT_EQ(nearest("bqf", schedulers), "bfq");
    EXPECT_EQ(nearest("mq-deadlin", schedulers), "mq-deadline");
    EXPECT_EQ(nearest("kiber", schedulers), "kyber");
    EXPECT_FALSE(nearest("anticipatory", schedulers));
    EXPECT_FALSE(nearest("", schedulers));
    EXPECT_FALSE(nearest("x", std::vector<std::string>{"y"}));
    EXPECT_FALSE(nearest("bfq", {}));
    EXPECT_FALSE(nearest(std::string(100000, 'a'), schedulers));
}

}  // namespace
}  // namespace storpol
