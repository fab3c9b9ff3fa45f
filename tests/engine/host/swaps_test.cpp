// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/swaps.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace storpol {
namespace {

constexpr std::string_view sample =
    "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
    "/dev/zram0                              partition\t8142680\t\t4000000\t\t100\n"
    "/swap\\040file\\134x                      file\t\t1048572\t\t0\t\t-2\n";

TEST(Swaps, LinesAreAreasAndTheHeadingIsNone) {
    const auto areas = parse_swaps(sample);
    ASSERT_EQ(areas.size(), 2U);
    EXPECT_EQ(areas[0], (SwapArea{"/dev/zram0", "partition", 8142680, 4000000, 100}));
    EXPECT_EQ(areas[1], (SwapArea{"/swap file\\x", "file", 1048572, 0, -2}));
    ASSERT_NE(find_swap(areas, "/dev/zram0"), nullptr);
    EXPECT_EQ(find_swap(areas, "/dev/zram1"), nullptr);
}

TEST(Swaps, DamagedLinesAreLeftOut) {
    EXPECT_TRUE(parse_swaps("").empty());
    EXPECT_TRUE(parse_swaps("/dev/zram0 partition 1 2\n/dev/zram0 partition x 2 3\n/dev/zram0 partition 1 2 99999\n"
                            "/dev/zram0 partition 1 2 3 4\n")
                    .empty());
    EXPECT_EQ(parse_swaps("/a\\04 file 1 2 3").at(0).path, "/a\\04");
}

TEST(Swaps, MemoryIsFoundByItsWholeName) {
    const std::string_view text =
        "MemTotal:       24683652 kB\nMemAvailable:    1205368 kB\nHugePages_Total:       0\n";
    EXPECT_EQ(meminfo_kib(text, "MemTotal"), 24683652);
    EXPECT_EQ(meminfo_kib(text, "MemAvailable"), 1205368);
    EXPECT_EQ(meminfo_kib(text, "Mem"), std::nullopt);
    EXPECT_EQ(meminfo_kib("MemTotal: many kB\n", "MemTotal"), std::nullopt);
    EXPECT_EQ(meminfo_kib("MemTotal: -1 kB\n", "MemTotal"), std::nullopt);
}

TEST(Swaps, AlgorithmInBracketsIsTheSelectedOne) {
    const auto found = parse_zram_algorithms("lzo [lzo-rle] lz4 zstd \n");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->selected, "lzo-rle");
    EXPECT_EQ(found->known, (std::vector<std::string>{"lzo", "lzo-rle", "lz4", "zstd"}));
    EXPECT_FALSE(parse_zram_algorithms("lzo lz4"));
    EXPECT_FALSE(parse_zram_algorithms("[]"));
    EXPECT_FALSE(parse_zram_algorithms(""));
}

TEST(Swaps, MemoryStatisticsMayGainColumns) {
    const ZramMemory wanted{166322176, 82451012, 85045248, 16777216};
    EXPECT_EQ(parse_zram_memory(" 166322176 82451012 85045248 16777216 85045248 12800 0 0 0\n"), wanted);
    EXPECT_EQ(parse_zram_memory("166322176 82451012 85045248 16777216 85045248 12800 0 0 0 7 8"), wanted);
    EXPECT_FALSE(parse_zram_memory("1 2 3"));
    EXPECT_FALSE(parse_zram_memory("1 2 3 x"));
    EXPECT_FALSE(parse_zram_memory("1 2 -3 4"));
}

TEST(Swaps, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("no text of the kernel stops it", [](const std::string& text) {
        parse_swaps("/" + text);
        parse_zram_algorithms(text);
        parse_zram_memory(text);
        meminfo_kib(text, "MemTotal");
    }));
}

}  // namespace
}  // namespace storpol
