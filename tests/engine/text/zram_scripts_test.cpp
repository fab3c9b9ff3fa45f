// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/zram_scripts.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace storpol {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20U;

TEST(Zramswap, PercentWinsOverSize) {
    // The machine whose 50 % zram-tools 0.3.7 makes 12638029824 bytes of.
    const auto device = read_zramswap("ALGO=zstd\nPERCENT=50\nSIZE=512\nPRIORITY=\"7\"\n", 24683652);
    EXPECT_EQ(device.size.number, 12638029824);
    EXPECT_EQ(device.size.variable, "PERCENT");
    EXPECT_EQ(device.size.line, 2);
    EXPECT_EQ(device.algorithm.word, "zstd");
    EXPECT_EQ(device.priority.number, 7);
    EXPECT_EQ(device.use.word, "swap");
}

TEST(Zramswap, EmptyPercentLeavesTheSize) {
    const auto device = read_zramswap("PERCENT=\nSIZE=256 # MiB\n", 8192000);
    EXPECT_EQ(device.size.number, 256 * mib);
    EXPECT_EQ(device.size.line, 2);
}

TEST(Zramswap, WithoutSettingsTheScriptsOwnApply) {
    const auto device = read_zramswap("#ALGO=lz4\n#PERCENT=50\n", 8192000);
    EXPECT_FALSE(device.size.is_set());
    EXPECT_EQ(device.size.number, std::nullopt) << "256 or 512 MiB, by version";
    EXPECT_EQ(device.algorithm.word, "lz4");
    EXPECT_FALSE(device.algorithm.is_set());
    EXPECT_EQ(device.priority.number, 100);
}

TEST(Zramswap, WhatAShellWouldHaveToRunIsUnknown) {
    EXPECT_NE(read_zramswap("PERCENT=$(nproc)\n", 8192000).size.unknown, "");
    EXPECT_NE(read_zramswap("PERCENT=50%\n", 8192000).size.unknown, "");
    EXPECT_NE(read_zramswap("PERCENT={{PERCENT}}\n", 8192000).size.unknown, "");
    EXPECT_NE(read_zramswap("PERCENT=99999999999999999999\n", 8192000).size.unknown, "");
    EXPECT_NE(read_zramswap("PERCENT=-5\n", 8192000).size.unknown, "");
    EXPECT_NE(read_zramswap(". /etc/other\n", 8192000).size.unknown, "");
}

TEST(ZramInit, DevicesByNumber) {
    const auto init = read_zram_init(
        "num_devices=\"3\"\ntype0=swap\nflag0= # default\nsize0=512\nalgo0=zstd\nmlim0=100\n"
        "type1=/tmp\nsize1=2048\nflag1=ext4\nnotr1=yes\ntype2=swap\nsize2=0\ntype3=swap\nsize3=5\n");
    ASSERT_EQ(init.devices.size(), 2U);
    const auto& swap = init.devices.at("zram0");
    EXPECT_EQ(swap.size.number, 512 * mib);
    EXPECT_EQ(swap.algorithm.word, "zstd");
    EXPECT_EQ(swap.priority.number, 16383);
    EXPECT_EQ(swap.resident_limit.number, 100 * mib);
    EXPECT_EQ(swap.discard.word, "on");
    const auto& other = init.devices.at("zram1");
    EXPECT_EQ(other.use.word, "/tmp");
    EXPECT_EQ(other.discard.word, "off");
    EXPECT_EQ(other.priority.number, std::nullopt);
}

TEST(ZramInit, PriorityMayBeNone) {
    EXPECT_EQ(read_zram_init("num_devices=1\ntype0=swap\nsize0=5\nflag0=-\n").devices.at("zram0").priority.number, -1);
    EXPECT_EQ(read_zram_init("num_devices=1\ntype0=swap\nsize0=5\nflag0=9\n").devices.at("zram0").priority.number, 9);
}

TEST(ZramInit, RealFilesHoldWhatAShellComputes) {
    const auto init = read_zram_init("num_devices=2\ntype1=swap\nsize1=`free -m | awk 'x'`\nalgo1=zstd\n");
    EXPECT_NE(init.devices.at("zram1").size.unknown, "");
    EXPECT_EQ(init.devices.at("zram1").algorithm.word, "zstd");
    const char* shared = std::getenv("STORPOL_SHARED");
    if (shared == nullptr) GTEST_SKIP() << "STORPOL_SHARED is not set";
    int seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(shared) / "corpus/zram")) {
        std::ostringstream bytes;
        bytes << std::ifstream(entry.path()).rdbuf();
        if (bytes.str().find("\nnum_devices=2") == std::string::npos) continue;
        ++seen;
        const auto real = read_zram_init(bytes.str());
        EXPECT_EQ(real.unknown, "") << entry.path();
        ASSERT_EQ(real.devices.count("zram0"), 1U) << entry.path();
        EXPECT_EQ(real.devices.at("zram0").size.number, 20000 * mib);
        EXPECT_EQ(real.devices.at("zram0").algorithm.word, "zstd");
        EXPECT_NE(real.devices.at("zram1").size.unknown, "");
    }
    EXPECT_GE(seen, 2);
}

TEST(ZramScripts, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("no crash", [](const std::string& text) {
        (void)read_zramswap("PERCENT=" + text, 1000);
        (void)read_zram_init("num_devices=3\ntype0=swap\nsize0=" + text);
    }));
}

}  // namespace
}  // namespace storpol
