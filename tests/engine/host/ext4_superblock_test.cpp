// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/ext4_superblock.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace storpol {
namespace {

std::string superblock(unsigned defaults, const std::string& options) {
    std::string bytes(1024, '\0');
    bytes[0x38] = '\x53';
    bytes[0x39] = '\xEF';
    bytes[0x3C] = 2;
    for (std::size_t i = 0; i < 4; ++i) bytes[0x100 + i] = static_cast<char>(defaults >> (8 * i));
    bytes.replace(0x200, options.size(), options);
    return bytes;
}

TEST(Ext4Superblock, NamesItsDefaultsAsTune2fsDoes) {
    EXPECT_EQ(*describe_ext4_superblock(superblock(0x40C, "")),
              "default_mount_opts=user_xattr acl discard\nmount_opts=\nerrors=remount-ro\n");
    EXPECT_EQ(*describe_ext4_superblock(superblock(0x60, "discard,commit=60")),
              "default_mount_opts=journal_data_writeback\nmount_opts=discard,commit=60\nerrors=remount-ro\n");
}

TEST(Ext4Superblock, OtherBytesAreNone) {
    EXPECT_EQ(describe_ext4_superblock(std::string(1024, 'x')).error().kind, ErrorKind::invalid);
    EXPECT_EQ(describe_ext4_superblock("short").error().kind, ErrorKind::invalid);
    EXPECT_TRUE(rc::check("any bytes behind the magic are survived", [] {
        auto bytes = superblock(0, "");
        for (std::size_t at = 0x3C; at < bytes.size(); ++at) bytes[at] = *rc::gen::arbitrary<char>();
        RC_ASSERT(describe_ext4_superblock(bytes).has_value());
    }));
}

TEST(Ext4Superblock, OnlyDevicesAreAsked) {
    const Query query{QueryKind::ext4_super, {"/etc/fstab"}};
    EXPECT_TRUE(answer_ext4_super(query).refusal.has_value());
}

}  // namespace
}  // namespace storpol
