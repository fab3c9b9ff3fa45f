// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <string>

#include "tests/engine/policy/made_up.h"

namespace storpol::made_up {
namespace {

TEST(PolicyErrors, MissingVersionIsAskedFor) {
    EXPECT_EQ(rendered(load({{"p.toml", "[fstrim]\n"}})),
              "p.toml:1:1: error: this file does not say its version\n"
              "    1 | [fstrim]\n"
              "      | ^\n"
              "  fix: write as the first line: version = 1\n");
    EXPECT_EQ(rendered(load({{"p.toml", ""}})),
              "p.toml:1:1: error: this file does not say its version\n"
              "  fix: write as the first line: version = 1\n");
}

TEST(PolicyErrors, AnotherVersionIsRefused) {
    EXPECT_EQ(rendered(load({{"p.toml", "version = 2\n"}})),
              "p.toml:1:11: error: version is 2, and only 1 is known here\n"
              "    1 | version = 2\n"
              "      |           ^\n"
              "  fix: write version = 1\n");
    EXPECT_EQ(rendered(load({{"p.toml", "version = \"1\"\n"}})),
              "p.toml:1:11: error: version wants a whole number, found the text \"1\"\n"
              "    1 | version = \"1\"\n"
              "      |           ^~~\n"
              "  fix: write version = 1\n");
}

TEST(PolicyErrors, ASyntaxErrorIsOnePerFile) {
    EXPECT_EQ(errors_of("[vm\nx = \n"),
              "p.toml:2:4: error: not TOML: Error while parsing table header: expected ']', saw '\\n'\n"
              "    2 | [vm\n"
              "      |    ^\n"
              "  fix: correct this first; the rest of the file is checked once it can be read\n");
}

TEST(PolicyErrors, MistypedTableSuggestsTheNearest) {
    EXPECT_EQ(errors_of("[discrad]\n"),
              "p.toml:2:2: error: unknown table \"discrad\"\n"
              "    2 | [discrad]\n"
              "      |  ^~~~~~~\n"
              "  fix: write [discard]\n");
    EXPECT_EQ(errors_of("[[blok]]\n"),
              "p.toml:2:3: error: unknown table \"blok\"\n"
              "    2 | [[blok]]\n"
              "      |   ^~~~\n"
              "  fix: write [[block]]\n");
}

TEST(PolicyErrors, MistypedKeySuggestsTheNearest) {
    EXPECT_EQ(errors_of("[vm]\nswapiness = 5\n"),
              "p.toml:3:1: error: unknown key \"swapiness\" in [vm]\n"
              "    3 | swapiness = 5\n"
              "      | ^~~~~~~~~\n"
              "  fix: write swappiness\n");
}

TEST(PolicyErrors, KeyInTheWrongTableNamesTheRightOne) {
    EXPECT_EQ(errors_of("[discard]\nswappiness = 5\n"),
              "p.toml:3:1: error: unknown key \"swappiness\" in [discard]\n"
              "    3 | swappiness = 5\n"
              "      | ^~~~~~~~~~ [vm] has a key of this name\n"
              "  fix: move it to [vm], or take it out\n");
    EXPECT_EQ(errors_of("swapiness = 5\n"),
              "p.toml:2:1: error: unknown top-level key \"swapiness\"\n"
              "    2 | swapiness = 5\n"
              "      | ^~~~~~~~~ [vm] has swappiness\n"
              "  fix: write swappiness in [vm], or take it out\n");
    EXPECT_EQ(errors_of("[vm]\ninclude = []\n"),
              "p.toml:3:1: error: unknown key \"include\" in [vm]\n"
              "    3 | include = []\n"
              "      | ^~~~~~~\n"
              "  fix: write it above the first table\n");
}

TEST(PolicyErrors, KeyLikeNoOtherListsWhatThereIs) {
    EXPECT_EQ(errors_of("[fstrim.evidence]\nzzz = 5\n"),
              "p.toml:3:1: error: unknown key \"zzz\" in [fstrim.evidence]\n"
              "    3 | zzz = 5\n"
              "      | ^~~ keys of [fstrim.evidence]: max-age, max-zero-byte-runs\n"
              "  fix: take it out, or write one of these\n");
}

TEST(PolicyErrors, UnknownWordListsTheWordsAndSuggestsOne) {
    EXPECT_EQ(errors_of("[[block]]\nscheduler = \"bqf\"\n"),
              "p.toml:3:13: error: unknown scheduler \"bqf\"\n"
              "    3 | scheduler = \"bqf\"\n"
              "      |             ^~~~~ one of: none, mq-deadline, kyber, bfq\n"
              "  fix: write \"bfq\"\n");
    EXPECT_EQ(errors_of("[[block]]\noptions = [\"noatime\", \"noatme\"]\n"),
              "p.toml:3:23: error: unknown word in options \"noatme\"\n"
              "    3 | options = [\"noatime\", \"noatme\"]\n"
              "      |                       ^~~~~~~~ one of: noatime, relatime\n"
              "  fix: write \"noatime\"\n");
}

struct WrongType {
    std::string text;  // after "version = 1\n"
    std::string says;
    std::string fix;
};

// The sentence and the fix of the only error.
void expect_one(const WrongType& wrong) {
    const Loaded loaded = load_text(wrong.text);
    ASSERT_EQ(loaded.errors.size(), 1u) << wrong.text << "\n" << rendered(loaded);
    EXPECT_EQ(loaded.errors[0].says, wrong.says);
    EXPECT_EQ(loaded.errors[0].fix, wrong.fix);
    EXPECT_FALSE(loaded.errors[0].line.empty());
}

TEST(PolicyErrors, WrongTypesSayWhatIsWantedAndWhatWasFound) {
    const std::vector<WrongType> all{
        {"[fstrim]\nenabled = \"yes\"", "enabled wants true or false, found the text \"yes\"", "write enabled = true"},
        {"[fstrim]\nenabled = 0", "enabled wants true or false, found the number 0", "write enabled = false"},
        {"[fstrim]\nenabled = 1979-05-27", "enabled wants true or false, found the date 1979-05-27",
         "write for example enabled = true"},
        {"[vm]\nswappiness = \"10\"", "swappiness wants a whole number, found the text \"10\"",
         "write swappiness = 10"},
        {"[vm]\nswappiness = 1.5", "swappiness wants a whole number, found the number 1.5",
         "write for example swappiness = 0"},
        {"[vm]\nswappiness = 10.0", "swappiness wants a whole number, found the number 10.0", "write swappiness = 10"},
        {"[vm]\nswappiness = nan", "swappiness wants a whole number, found the number nan",
         "write for example swappiness = 0"},
        {"[vm]\nswappiness = []", "swappiness wants a whole number, found an array",
         "write for example swappiness = 0"},
        {"[vm]\nswappiness.x = 5", "swappiness takes a value, at-least or at-most; unknown \"x\"",
         "write at-least or at-most"},
        {"[fstrim]\nschedule = 5", "schedule wants a word in quotes, found the number 5", "write schedule = \"5\""},
        {"[fstrim]\nschedule.x = 5", "schedule wants a word in quotes, found a table",
         "write for example schedule = \"...\""},
        {"[fstrim]\nmin-extent = true", "min-extent wants a size, found true",
         "write for example min-extent = \"1MiB\""},
        {"[fstrim]\nmin-extent = -1", "min-extent is -1, and a size is never negative", "write min-extent = \"1MiB\""},
        {"[fstrim]\nboot-delay = 1.5", "boot-delay wants a duration, found the number 1.5",
         "write for example boot-delay = \"5min\""},
        {"[[block]]\nmax-used = 80", "max-used wants a percentage, found the number 80", "write max-used = \"80%\""},
        {"[zram]\nsize = 1.5", "size wants a size or a percentage, found the number 1.5",
         "write for example size = \"15%\""},
        {"[sysctl]\na.b = true", "a.b wants a whole number or a text in quotes, found true", "write \"a.b\" = 1"},
        {"[sysctl]\na.b = 1.5", "a.b wants a whole number or a text in quotes, found the number 1.5",
         "write \"a.b\" = \"1.5\""},
        {"[fstrim]\nsince = \"2027-03-01\"", "since wants a date without quotes, found the text \"2027-03-01\"",
         "write since = 2027-03-01"},
        {"[fstrim]\nsince = 2027-03-01T10:00:00Z",
         "since wants a date without quotes, found the time 2027-03-01T10:00:00Z", "write since = 2027-03-01"},
        {"[discard]\nmodels = \"Samsung\"", "models wants a list of words, found the text \"Samsung\"",
         "write models = [\"Samsung\"]"},
        {"[discard]\nmodels = [5]", "models wants words in quotes, found the number 5", "write \"5\""},
        {"fstrim = 5", "fstrim wants a table, found the number 5", "write it as [fstrim]"},
        {"[[fstrim]]", "fstrim wants a table, found an array", "write [fstrim] once, with single brackets"},
        {"[block]", "block wants a list of rules, found a table", "write each rule as [[block]], with double brackets"},
        {"block = [1]", "block wants a list of rules, found an array",
         "write each rule as [[block]], with double brackets"},
        {"[[block]]\nmatch = \"x\"", "match wants a table, found the text \"x\"", "write match = { ... }"},
        {"unmanaged = \"x\"", "unmanaged wants a list of words, found the text \"x\"", "write unmanaged = [\"x\"]"},
    };
    for (const WrongType& wrong : all) expect_one(wrong);
}

TEST(PolicyErrors, UnitsAreNeverGuessed) {
    expect_one({"[fstrim]\nmin-extent = \"1G\"", "min-extent: ambiguous size \"1G\"",
                "write \"1GiB\" for powers of 1024, or \"1000000000B\" for powers of 1000"});
    expect_one({"[fstrim]\nboot-delay = 5", "boot-delay: duration \"5\" has no unit",
                "write for example \"5s\", \"5ms\" or \"5min\""});
}

TEST(PolicyErrors, RangesNameTheirEndsAndUnit) {
    EXPECT_EQ(errors_of("[vm]\nfactor = 5000\n"),
              "p.toml:3:10: error: factor is 5000, out of range\n"
              "    3 | factor = 5000\n"
              "      |          ^~~~ range: 0 to 3000, in 1/10000\n"
              "  fix: write at most 3000\n");
    EXPECT_EQ(errors_of("[[block]]\nread-ahead = \"2TiB\"\n"),
              "p.toml:3:14: error: read-ahead is 2TiB, out of range\n"
              "    3 | read-ahead = \"2TiB\"\n"
              "      |              ^~~~~~ range: 0B to 1GiB\n"
              "  fix: write at most 1GiB\n");
    expect_one({"[fstrim]\nnice = -21", "nice is -21, out of range", "write at least -20"});
    expect_one({"[vm]\nswappiness = { at-most = 201 }", "at-most is 201, out of range", "write at most 200"});
}

TEST(PolicyErrors, IntegersOutsideSixtyFourBitsAreSyntaxErrors) {
    EXPECT_NE(errors_of("[vm]\nswappiness = 99999999999999999999\n").find("not representable in 64 bits"),
              std::string::npos);
}

TEST(PolicyErrors, ContradictoryBoundsAreRefused) {
    EXPECT_EQ(errors_of("[vm]\nswappiness = { at-least = 5, at-most = 3 }\n"),
              "p.toml:3:14: error: swappiness wants at least 5 and at most 3: no value is both\n"
              "    3 | swappiness = { at-least = 5, at-most = 3 }\n"
              "      |              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
              "  fix: keep one of the two bounds\n");
    expect_one({"[vm]\nswappiness = { at-least = 3, at-most = 5 }",
                "swappiness has two bounds, and only one can be held to",
                "keep the bound that matters, or write one value"});
    expect_one(
        {"[vm]\nswappiness = { }", "swappiness has an empty bound", "write at-least or at-most in it, or take it out"});
    expect_one({"[vm]\nswappiness = { at-lest = 3 }",
                "swappiness takes a value, at-least or at-most; unknown \"at-lest\"", "write at-least"});
    expect_one({"[vm]\nfactor = { at-least = 3 }", "factor takes no bounds, only a whole number",
                "write for example factor = 0"});
    expect_one({"[sysctl]\na.b = { at-least = \"x y\" }", "the at-least of a.b is no number",
                "write for example at-least = 10"});
}

TEST(PolicyErrors, ControlCharactersNeverPass) {
    EXPECT_EQ(errors_of("[fstrim]\nschedule = \"daily\\nExecStart=/bin/sh\"\n"),
              "p.toml:3:12: error: schedule holds a control character, which would reach a configuration file\n"
              "    3 | schedule = \"daily\\nExecStart=/bin/sh\"\n"
              "      |            ^~~~~~~~~~~~~~~~~~~~~~~~~~\n"
              "  fix: take it out: \"daily\\x0aExecStart=/bin/sh\"\n");
    for (const std::string bad : {"\\u0000", "\\u007f", "\\u0085", "\\u202e", "\\t", "\\u001b[31m"}) {
        EXPECT_EQ(load_text("[fstrim]\nschedule = \"" + bad + "\"\n").errors.size(), 1u) << bad;
        EXPECT_EQ(load_text("[discard]\nmodels = [\"" + bad + "\"]\n").errors.size(), 1u) << bad;
        EXPECT_EQ(load_text("[sysctl]\n\"a" + bad + "\" = 1\n").errors.size(), 1u) << bad;
        EXPECT_EQ(load_text("unmanaged = [\"a" + bad + "\"]\n").errors.size(), 1u) << bad;
    }
}

TEST(PolicyErrors, OverlongTextsAreRefused) {
    EXPECT_TRUE(load_text("[fstrim]\nschedule = \"" + std::string(4096, 'x') + "\"\n").errors.empty());
    const Loaded loaded = load_text("[fstrim]\nschedule = \"" + std::string(4097, 'x') + "\"\n");
    ASSERT_EQ(loaded.errors.size(), 1u);
    EXPECT_EQ(loaded.errors[0].says, "schedule has 4097 bytes");
    EXPECT_LT(render(loaded.errors[0]).size(), 600u);
}

TEST(PolicyErrors, TheChecksOfKeysAreAsked) {
    EXPECT_EQ(errors_of("[sysctl]\nvm.swappiness = 3\n"),
              "p.toml:3:4: error: vm.swappiness stands under [sysctl]\n"
              "    3 | vm.swappiness = 3\n"
              "      |    ^~~~~~~~~~\n"
              "  fix: write it under [vm]\n");
    EXPECT_EQ(errors_of("[zram.disk1]\n"),
              "p.toml:2:7: error: disk1 is no zram device\n"
              "    2 | [zram.disk1]\n"
              "      |       ^~~~~\n"
              "  fix: write zram1\n");
}

TEST(PolicyErrors, AcceptNeedsAddressDateAndReason) {
    EXPECT_EQ(errors_of("[[accept]]\naddress = \"\"\nreason = \" \"\nplanes = [\"lives\"]\n"),
              "p.toml:2:1: error: [[accept]] lacks the key until\n"
              "    2 | [[accept]]\n"
              "      | ^~~~~~~~~~\n"
              "  fix: add for example until = 2027-03-01\n"
              "p.toml:3:11: error: address holds an empty address\n"
              "    3 | address = \"\"\n"
              "      |           ^~\n"
              "  fix: write an address as plan prints it, such as 'sysctl[\"vm.swappiness\"]'\n"
              "p.toml:4:10: error: reason is empty\n"
              "    4 | reason = \" \"\n"
              "      |          ^~~\n"
              "  fix: write one sentence for those who read this later\n"
              "p.toml:5:11: error: unknown word in planes \"lives\"\n"
              "    5 | planes = [\"lives\"]\n"
              "      |           ^~~~~~~ one of: live, persisted, boot, evidence\n"
              "  fix: write \"live\"\n");
}

TEST(PolicyErrors, AllErrorsOfAllFilesComeInOneRunSortedByPlace) {
    const Loaded loaded =
        load({{"p.toml", "version = 1\ninclude = [\"b.toml\", \"gone.toml\"]\n[vm]\nx = 1\nswappiness = 300\n"},
              {"b.toml", "version = 1\n[vm]\nfactor = true\nfactro = 1\n"}});
    std::vector<std::string> places;
    for (const PolicyError& error : loaded.errors) places.push_back(to_text(error.where));
    const std::vector<std::string> wanted{"b.toml:3:10", "b.toml:4:1", "p.toml:2:22", "p.toml:4:1", "p.toml:5:14"};
    EXPECT_EQ(places, wanted);
}

TEST(PolicyErrors, ColumnsCountBytesAndUnderlinesCountCharacters) {
    const Loaded loaded = load_text("\xef\xbb\xbf");
    EXPECT_EQ(loaded.errors.size(), 1u);  // a byte order mark in the middle of the file
    EXPECT_TRUE(load({{"p.toml", "\xef\xbb\xbfversion = 1\r\n[vm]\r\n"}}).errors.empty());
    EXPECT_EQ(errors_of("[[block]]\nmatch = { model = \"é\", rotational = 1 }\n"),
              "p.toml:3:38: error: rotational wants true or false, found the number 1\n"
              "    3 | match = { model = \"é\", rotational = 1 }\n"
              "      |                                     ^\n"
              "  fix: write rotational = true\n");
}

}  // namespace
}  // namespace storpol::made_up
