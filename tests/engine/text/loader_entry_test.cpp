// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/loader_entry.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace storpol {
namespace {

TEST(LoaderEntry, KeysAndValuesAreSplitByBlanks) {
    const auto entry = parse_loader_entry(
        "arch.conf",
        "# mine\ntitle   Arch Linux\nlinux\t/vmlinuz-linux\ninitrd /amd-ucode.img\ninitrd /initramfs-linux.img\n"
        "options root=/dev/mapper/root \noptions rw  quiet\n");
    EXPECT_EQ(entry.id, "arch");
    EXPECT_EQ(entry.title, "Arch Linux");
    EXPECT_EQ(entry.linux_path, "/vmlinuz-linux");
    EXPECT_EQ(entry.initrds, (std::vector<std::string>{"/amd-ucode.img", "/initramfs-linux.img"}));
    ASSERT_EQ(entry.options.size(), 2U);
    EXPECT_EQ(entry.options[1].value, "rw  quiet");
    EXPECT_EQ(entry.options[1].line, 7);
}

TEST(LoaderEntry, TheCountOfTriesIsNoPartOfTheId) {
    EXPECT_EQ(parse_loader_entry("arch+3-1.conf", "").id, "arch");
    EXPECT_FALSE(parse_loader_entry("arch+3-1.conf", "").is_exhausted);
    EXPECT_TRUE(parse_loader_entry("arch+0-3.conf", "").is_exhausted);
    EXPECT_EQ(parse_loader_entry("6.1.0-1~bpo+deb.conf", "").id, "6.1.0-1~bpo+deb");
}

TEST(LoaderEntry, VersionsCompareByNumber) {
    EXPECT_LT(compare_versions("6.9", "6.10"), 0);
    EXPECT_EQ(compare_versions("6.01", "6.1"), 0);
    EXPECT_LT(compare_versions("6.1~rc1", "6.1"), 0);
    EXPECT_LT(compare_versions("6.1", "6.1.1"), 0);
    EXPECT_GT(compare_versions("b", "a10"), 0);
}

TEST(LoaderEntry, NewerVersionsComeFirstAndExhaustedOnesLast) {
    const auto one = parse_loader_entry("a-6.9.conf", "version 6.9\nsort-key os\n");
    const auto two = parse_loader_entry("a-6.10.conf", "version 6.10\nsort-key os\n");
    const auto tired = parse_loader_entry("a-6.11+0.conf", "version 6.11\nsort-key os\n");
    EXPECT_TRUE(loader_entry_before(two, one));
    EXPECT_FALSE(loader_entry_before(one, two));
    EXPECT_TRUE(loader_entry_before(one, tired));
    EXPECT_TRUE(loader_entry_before(one, parse_loader_entry("zz.conf", "")));
}

TEST(LoaderEntry, TheOrderIsOneForAnyTexts) {
    EXPECT_TRUE(rc::check("strict weak order", [](const std::string& a, const std::string& b, const std::string& c) {
        RC_ASSERT(compare_versions(a, a) == 0);
        RC_ASSERT((compare_versions(a, b) < 0) == (compare_versions(b, a) > 0));
        if (compare_versions(a, b) < 0 && compare_versions(b, c) < 0) RC_ASSERT(compare_versions(a, c) < 0);
        static_cast<void>(parse_loader_entry(a, b + "\noptions " + c));
    }));
}

TEST(LoaderEntry, VersionsOfDigitsAndDotsKeepTheLaws) {
    const auto version = rc::gen::container<std::string>(rc::gen::elementOf(std::string("0129.~-a")));
    EXPECT_TRUE(rc::check("strict weak order", [&] {
        const auto a = *version;
        const auto b = *version;
        const auto c = *version;
        RC_ASSERT((compare_versions(a, b) < 0) == (compare_versions(b, a) > 0));
        if (compare_versions(a, b) <= 0 && compare_versions(b, c) <= 0) RC_ASSERT(compare_versions(a, c) <= 0);
    }));
}

}  // namespace
}  // namespace storpol
