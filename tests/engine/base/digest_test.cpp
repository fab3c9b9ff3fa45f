// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/digest.h"

#include <gtest/gtest.h>

namespace storpol {
namespace {

// FIPS 180-4 examples.
TEST(Digest, IsSha256InLowerCaseHex) {
    EXPECT_EQ(digest_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(digest_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(digest_of(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, EveryByteCounts) {
    EXPECT_NE(digest_of(std::string_view("a\0", 2)), digest_of("a"));
    EXPECT_NE(digest_of("a\n"), digest_of("a"));
    EXPECT_NE(digest_of(""), no_file_digest);
}

}  // namespace
}  // namespace storpol
