// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_slices.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "engine/host/trim_geometry.h"

namespace storpol {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

TrimGeometry ext4(std::uint64_t size) {
    TrimGeometry geometry;
    geometry.group = 128 * mebibyte;
    geometry.size = size;
    return geometry;
}

TEST(TrimSlices, Ext4IsCutAtItsBlockGroups) {
    const auto slices = cut(ext4(10 * gibibyte + 4096), "ext4");
    EXPECT_EQ(slices.count(), 81U);
    EXPECT_EQ(slices.range(0, 1), (TrimRange{0, 128 * mebibyte}));
    EXPECT_EQ(slices.range(2, 3), (TrimRange{256 * mebibyte, 384 * mebibyte}));
    EXPECT_EQ(slices.range(80, 1), (TrimRange{10 * gibibyte, 4096})) << "the last one is short";
}

TEST(TrimSlices, GroupsOfOneKibibyteBlocksBeginBehindTheBootBlock) {
    auto geometry = ext4(64 * mebibyte);
    geometry.block = geometry.offset = 1024;
    geometry.group = 8 * mebibyte;
    const auto slices = cut(geometry, "ext4");
    EXPECT_EQ(slices.range(0, 1), (TrimRange{0, 8 * mebibyte + 1024}));
    EXPECT_EQ(slices.range(1, 1), (TrimRange{8 * mebibyte + 1024, 8 * mebibyte}));
    EXPECT_EQ(slices.unit_at(8 * mebibyte + 1024), 1U);
    EXPECT_EQ(slices.unit_at(1), 1U);
}

TEST(TrimSlices, NoXfsSliceCoversAnAllocationGroup) {
    EXPECT_TRUE(rc::check("smaller than a group", [] {
        TrimGeometry geometry;
        geometry.group = *rc::gen::inRange<std::uint64_t>(4096, 300'000) * 4096;
        geometry.size = geometry.group * *rc::gen::inRange<std::uint64_t>(1, 20);
        const auto slices = cut(geometry, "xfs");
        const auto range = slices.range(0, std::min(slices.count(), slices.most()));
        RC_ASSERT(range.length <= geometry.group / 2);
    }));
}

TEST(TrimSlices, BtrfsIsCutAtItsBlockGroupsAndHasNoEnd) {
    TrimGeometry geometry;
    geometry.chunks = {{30 * gibibyte, gibibyte}, {13631488, 8 * mebibyte}, {22020096, gibibyte}};
    const auto slices = cut(geometry, "btrfs");
    EXPECT_EQ(slices.count(), 3U);
    EXPECT_EQ(slices.range(0, 1), (TrimRange{0, 22020096}));
    EXPECT_EQ(slices.range(1, 1), (TrimRange{22020096, 30 * gibibyte - 22020096}));
    EXPECT_EQ(slices.range(2, 1), (TrimRange{30 * gibibyte, no_end - 30 * gibibyte}));
    EXPECT_EQ(slices.unit_at(22020096), 1U);
    EXPECT_EQ(slices.unit_at(22020097), 2U);
    EXPECT_EQ(slices.unit_at(no_end), 3U);
}

TEST(TrimSlices, WhatIsNotKnownIsOneCall) {
    for (const char* fstype : {"f2fs", "vfat", "ext4", "xfs", "btrfs"}) {
        const auto slices = cut(TrimGeometry(), fstype);
        EXPECT_EQ(slices.count(), 1U) << fstype;
        EXPECT_EQ(slices.range(0, 1), (TrimRange{0, no_end})) << fstype;
        EXPECT_EQ(slices.unit_at(5), 1U) << "nothing is left to do after it";
    }
}

TEST(TrimSlices, SlicesFollowEachOtherWithoutGapOrOverlap) {
    EXPECT_TRUE(rc::check("whole", [] {
        auto geometry = ext4(*rc::gen::inRange<std::uint64_t>(1, 40'000) * mebibyte);
        geometry.offset = *rc::gen::element<std::uint64_t>(0, 1024);
        const auto fstype = *rc::gen::element<std::string>("ext4", "xfs");
        const auto slices = cut(geometry, fstype);
        std::uint64_t position = 0;
        for (std::uint64_t unit = 0; unit < slices.count();) {
            const auto units =
                std::min(slices.count() - unit, std::min(slices.most(), *rc::gen::inRange<std::uint64_t>(1, 50)));
            const auto range = slices.range(unit, units);
            RC_ASSERT(range.start == position);
            RC_ASSERT(slices.unit_at(position) == unit);
            position += range.length;
            unit += units;
        }
        RC_ASSERT(position == geometry.size || position == no_end);
    }));
}

std::string superblock() {
    std::string bytes(1024, '\0');
    const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xFF);
    };
    put(0x38, 0xEF53, 2);
    put(0x18, 2, 4);
    put(0x20, 32768, 4);
    put(0x4, 2621440, 4);
    for (std::size_t i = 0; i < 16; ++i) bytes[0x68 + i] = static_cast<char>(0xA0 + i);
    return bytes;
}

TEST(TrimGeometry, ReadsAnExt4Superblock) {
    const auto geometry = parse_ext4_geometry(superblock());
    ASSERT_TRUE(geometry);
    EXPECT_EQ(geometry->group, 128 * mebibyte);
    EXPECT_EQ(geometry->size, 10 * gibibyte);
    EXPECT_EQ(geometry->min_extent_limit, 128 * mebibyte);
    EXPECT_EQ(geometry->uuid, "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
}

TEST(TrimGeometry, RefusesWhatIsNoSuperblock) {
    EXPECT_FALSE(parse_ext4_geometry(""));
    EXPECT_FALSE(parse_ext4_geometry(std::string(1024, '\0')));
    auto odd = superblock();
    odd[0x18] = 40;  // blocks of 2^50 bytes
    EXPECT_FALSE(parse_ext4_geometry(odd));
    odd = superblock();
    odd[0x20] = odd[0x21] = 0;  // groups without blocks
    EXPECT_FALSE(parse_ext4_geometry(odd));
    odd = superblock();
    odd[0x60] = static_cast<char>(0x80);
    for (std::size_t i = 0; i < 4; ++i) odd[0x150 + i] = static_cast<char>(0xFF);  // more bytes than 64 bits count
    EXPECT_FALSE(parse_ext4_geometry(odd));
}

TEST(TrimGeometry, SpellsUuids) {
    EXPECT_EQ(uuid_text(std::string(16, '\0')), "") << "all zeros is none";
    EXPECT_EQ(uuid_text("\x12\xAB\x34\xCD"), "12ab34cd");
}

}  // namespace
}  // namespace storpol
