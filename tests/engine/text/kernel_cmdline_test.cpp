// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/kernel_cmdline.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace storpol {
namespace {

TEST(KernelCommandLine, CutsWordsAtWhiteSpace) {
    const std::string text = "BOOT_IMAGE=/vmlinuz  root=UUID=9c1f ro\tquiet\n";
    const auto line = KernelCommandLine::parse(text);
    ASSERT_EQ(line.arguments().size(), 4U);
    EXPECT_EQ(line.arguments()[0].name, "BOOT_IMAGE");
    EXPECT_EQ(line.root(), "UUID=9c1f");
    EXPECT_EQ(line.read_only(), true);
    EXPECT_FALSE(line.arguments()[3].value);
    EXPECT_EQ(text.substr(line.arguments()[1].begin, line.arguments()[1].end - line.arguments()[1].begin),
              "root=UUID=9c1f");
}

TEST(KernelCommandLine, QuotesKeepBlanksAndAreDropped) {
    const auto line =
        KernelCommandLine::parse("rootflags=\"subvol=my root,commit=300\" \"dyndbg=file a.c +p\" x=a\"b c\"d");
    ASSERT_EQ(line.arguments().size(), 3U);
    EXPECT_EQ(line.rootflags(), "subvol=my root,commit=300");
    EXPECT_EQ(line.arguments()[1].name, "dyndbg");
    EXPECT_EQ(line.arguments()[1].value, "file a.c +p");
    EXPECT_EQ(line.arguments()[2].value, "a\"b c\"d");  // the kernel drops quotes at the front of a value alone
}

TEST(KernelCommandLine, TheLastOfTwoCounts) {
    const auto line =
        KernelCommandLine::parse("root=/dev/a rootflags=discard ro rootfstype=ext4 rw rootflags=commit=5 root=/dev/b");
    EXPECT_EQ(line.root(), "/dev/b");
    EXPECT_EQ(line.rootflags(), "commit=5");
    EXPECT_EQ(line.values("rootflags"), (std::vector<std::string>{"discard", "commit=5"}));
    EXPECT_EQ(line.rootfstype(), "ext4");
    EXPECT_EQ(line.read_only(), false);
}

TEST(KernelCommandLine, NothingIsNotReadOnly) {
    const auto line = KernelCommandLine::parse("  \n");
    EXPECT_TRUE(line.arguments().empty());
    EXPECT_FALSE(line.read_only());
    EXPECT_FALSE(line.root());
}

TEST(KernelCommandLine, HyphenAndUnderscoreAreOne) {
    const auto line = KernelCommandLine::parse("nvme_core.default-ps-max-latency-us=5000");
    ASSERT_NE(line.last("nvme_core.default_ps_max_latency_us"), nullptr);
    EXPECT_EQ(line.last("nvme_core.default_ps_max_latency_us")->value, "5000");
    EXPECT_EQ(line.last("nvme-core"), nullptr);
}

TEST(KernelCommandLine, ARenderedArgumentReadsBack) {
    EXPECT_EQ(render_argument("quiet", std::nullopt), "quiet");
    EXPECT_EQ(render_argument("rootflags", "subvol=my root"), "rootflags=\"subvol=my root\"");
    EXPECT_FALSE(render_argument("a", "b\"c"));
    EXPECT_TRUE(rc::check("render then parse", [](const std::string& value) {
        const auto word = render_argument("name", value);
        RC_PRE(word.has_value());
        const auto line = KernelCommandLine::parse("a " + *word + " b");
        RC_ASSERT(line.arguments().size() == 3U);
        RC_ASSERT(line.arguments()[1].value == value);
    }));
}

TEST(KernelCommandLine, SurvivesAnyTextAndCoversIt) {
    EXPECT_TRUE(rc::check("words lie in order", [](const std::string& text) {
        std::size_t at = 0;
        const auto line = KernelCommandLine::parse(text);
        for (const KernelArgument& argument : line.arguments()) {
            RC_ASSERT(argument.begin >= at);
            RC_ASSERT(argument.end > argument.begin);
            at = argument.end;
        }
        RC_ASSERT(at <= text.size());
    }));
}

TEST(KernelCommandLineCorpus, RealLinesAreCutAndRenderedAgain) {
    const char* const shared = std::getenv("STORPOL_SHARED");
    if (shared == nullptr) GTEST_SKIP() << "STORPOL_SHARED names no folder with corpus/";
    std::size_t words = 0;
    for (const char* const folder : {"proc-cmdline", "cmdline", "loader-entry"}) {
        for (const auto& file :
             std::filesystem::directory_iterator(std::filesystem::path(shared) / "corpus" / folder)) {
            std::ifstream in(file.path(), std::ios::binary);
            std::ostringstream text;
            text << in.rdbuf();
            const std::string bytes = text.str();
            const auto line = KernelCommandLine::parse(bytes);
            for (const KernelArgument& argument : line.arguments()) {
                const auto again = render_argument(argument.name, argument.value);
                const std::string word = bytes.substr(argument.begin, argument.end - argument.begin);
                if (word.find('"') == std::string::npos) {
                    EXPECT_EQ(again, word) << file.path();
                }
                ++words;
            }
        }
    }
    EXPECT_GT(words, 500U);
}

}  // namespace
}  // namespace storpol
