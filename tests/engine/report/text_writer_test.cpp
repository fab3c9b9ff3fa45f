// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/report/text_writer.h"

#include <gtest/gtest.h>

#include "engine/base/text.h"

namespace storpol {
namespace {

TextStyle narrow(int columns) {
    TextStyle style;
    style.columns = columns;
    return style;
}

TEST(TextWriter, WrapsWordsAtTheColumnsAndIndentsTheRest) {
    TextWriter out(narrow(40));
    out.wrapped("  note: ", 8, "one two three four five six seven eight nine ten");
    EXPECT_EQ(out.take(), "  note: one two three four five six\n        seven eight nine ten\n");
}

TEST(TextWriter, KeepsAWordThatIsLongerThanALineWhole) {
    TextWriter out(narrow(40));
    out.wrapped("  ", 2, "at /a/path/that/is/much/longer/than/forty/columns/can/hold");
    EXPECT_EQ(out.take(), "  at\n  /a/path/that/is/much/longer/than/forty/columns/can/hold\n");
}

TEST(TextWriter, PutsTheRightPartOnItsOwnLineWhenItDoesNotFit) {
    TextWriter out(narrow(40));
    out.pair("left", 4, "right", 2, Tone::plain);
    out.pair("left", 4, "a right part that is just a bit too long", 2, Tone::plain);
    EXPECT_EQ(out.take(), "left  right\nleft\n  a right part that is just a bit too long\n");
}

TEST(TextWriter, CountsCharactersAndNotBytes) {
    EXPECT_EQ(width_of("größe"), 5u);
    EXPECT_EQ(padded("ö", 3), "ö  ");
    EXPECT_EQ(padded("longer", 3), "longer");
}

TEST(TextWriter, EmitsNoEscapeUnlessColourIsAskedFor) {
    TextWriter plain(narrow(80));
    EXPECT_EQ(plain.paint(Tone::bad, "drift"), "drift");
    TextStyle style;
    style.color = true;
    TextWriter colour(style);
    EXPECT_EQ(colour.paint(Tone::bad, "drift"), "\x1b[31mdrift\x1b[0m");
    EXPECT_EQ(colour.paint(Tone::bad, ""), "");
}

TEST(TextWriter, ADiffKeepsTabsAndShowsControlBytes) {
    TextWriter out(narrow(80));
    out.diff(2, "--- /etc/fstab\n+/dev/sda1\t/\x1b[31m\text4\n \tend\n");
    EXPECT_EQ(out.take(), "  --- /etc/fstab\n  +/dev/sda1\t/\\x1b[31m\text4\n   \tend\n");
}

TEST(TextWriter, NoBlankLineStandsFirst) {
    TextWriter out(narrow(80));
    out.blank();
    out.line("a");
    out.blank();
    out.line("b");
    EXPECT_EQ(out.take(), "a\n\nb\n");
}

}  // namespace
}  // namespace storpol
