// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "tests/engine/policy/made_up.h"

namespace storpol::made_up {
namespace {

const std::string right = R"(version = 1
unmanaged = ["sysctl[\"vm.x\"]", 'mount["/srv*"].*']
[discard]
filesystem = "periodic"   # per layer
models = ["Samsung SSD 8*", "é"]
[fstrim]
schedule = '''daily'''
since = 2027-03-01
evidence = { max-age = "3d", max-zero-byte-runs = 4 }
[vm]
swappiness = { at-least = 0x1F }
[sysctl]
net.core.somaxconn = 1_000
[[block]]
match = { model = "Lexar*", rotational = false }
read-ahead = { at-least = "128KiB" }
[[accept]]
address = 'mount["/srv/old"].discard'
until = 2027-03-01
reason = "array replaced in February"
)";

// What load_policy promises for any bytes: it comes back, its errors render, and what it made of them shows.
void survive(const std::string& bytes) {
    const Loaded loaded = load({{"p.toml", bytes}});
    for (const PolicyError& error : loaded.errors) {
        const std::string text = render(error);
        RC_ASSERT(text.ends_with("\n"));
        RC_ASSERT(error.where.file == "p.toml");
        for (const char byte : text) RC_ASSERT(byte == '\n' || static_cast<unsigned char>(byte) >= 0x20);
    }
    const Loaded again = load({{"p.toml", render_merged(loaded.policy)}});
    RC_ASSERT(outline(again.policy.root()) == outline(loaded.policy.root()));
}

TEST(HostilePolicy, TheSampleIsRight) {
    EXPECT_EQ(rendered(load({{"p.toml", right}})), "");
}

TEST(HostilePolicy, AnyBytesAreSurvived) {
    EXPECT_TRUE(rc::check("any bytes", [](const std::string& bytes) { survive(bytes); }));
}

TEST(HostilePolicy, AnyTextOfTheLanguagesCharactersIsSurvived) {
    EXPECT_TRUE(rc::check("any text", [] {
        const std::string alphabet = "ab1.-_=[]{}\"'\\#, \n\t:+\xc3\xa9\xff";
        survive(*rc::gen::container<std::string>(rc::gen::elementOf(alphabet)));
    }));
}

TEST(HostilePolicy, AnyMutationOfARightPolicyIsSurvived) {
    EXPECT_TRUE(rc::check("mutations", [] {
        std::string text = right;
        for (int change = *rc::gen::inRange(1, 6); change > 0; --change) {
            const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
            const auto length = *rc::gen::inRange<std::size_t>(0, 12);
            const auto from = *rc::gen::inRange<std::size_t>(0, right.size());
            text.replace(at, *rc::gen::arbitrary<bool>() ? length : 0, right.substr(from, length));
            if (*rc::gen::arbitrary<bool>() && !text.empty()) text[at % text.size()] = *rc::gen::arbitrary<char>();
        }
        survive(text);
    }));
}

std::string repeated(const std::string& part, int times) {
    std::string out;
    for (int time = 0; time < times; ++time) out += part;
    return out;
}

TEST(HostilePolicy, DeepNestingIsOneError) {
    const std::string dotted = repeated("a.", 100000) + "a";
    for (const std::string& deep :
         {dotted + " = 1", "[" + dotted + "]", "[[" + dotted + "]]", "a = " + repeated("[", 100000),
          "a = " + repeated("{a=", 100000), "a = { " + dotted + " = 1 }", repeated("\"a\".", 100000) + "b = 1",
          repeated("'a' . ", 100000) + "b = 1"}) {
        const Loaded loaded = load_text(deep + "\n");
        ASSERT_EQ(loaded.errors.size(), 1u);
        EXPECT_LT(render(loaded.errors[0]).size(), 1000u);
    }
    EXPECT_NE(errors_of(dotted + " = 1\n").find("p.toml:2:66: error: tables and arrays are nested more than 32 deep"),
              std::string::npos);
    // Dots within texts and comments, and many short keys, are no nesting.
    EXPECT_EQ(errors_of("[fstrim]\nschedule = \"" + repeated("a.", 100) + "\" # " + repeated("a.", 100) +
                        "\n[discard]\nmodels = ['" + repeated("[", 50) + "', \"\\\"" + repeated("[", 50) + "\"]\n"),
              "");
}

TEST(HostilePolicy, HugeFilesAreRefusedAndLargeOnesAreRead) {
    const Loaded huge = load_text(std::string(2 << 20, '\n'));
    ASSERT_EQ(huge.errors.size(), 1u);
    EXPECT_EQ(render(huge.errors[0]),
              "p.toml: error: this file has more than 1048576 bytes\n  fix: split it, or check what wrote it\n");
    std::string many = "[sysctl]\n";
    std::string unknown = "[vm]\n";
    std::string one_line = "[discard]\nmodels = [";
    for (int number = 0; many.size() < 1000000; ++number) many += "k" + std::to_string(number) + "=1\n";
    for (int number = 0; unknown.size() < 1000000; ++number) unknown += "x" + std::to_string(number) + "=1\n";
    while (one_line.size() < 1000000) one_line += "'é',";
    EXPECT_TRUE(load_text(many).errors.empty());
    EXPECT_GT(load_text(unknown).errors.size(), 50000u);
    EXPECT_TRUE(load_text(one_line + "]\n").errors.empty());
}

TEST(HostilePolicy, BytesThatAreNotUtf8AreRefused) {
    for (const std::string bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80"}) {
        EXPECT_EQ(load_text("[fstrim]\nschedule = \"" + bad + "\"\n").errors.size(), 1u);
    }
    EXPECT_EQ(load_text(std::string("[fstrim]\nschedule = \"a\0b\"\n", 25)).errors.size(), 1u);
}

}  // namespace
}  // namespace storpol::made_up
