// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/handle.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>

namespace storpol {
namespace {

int released = 0;

void release_int(int* number) {
    ++released;
    delete number;
}

bool is_open(int fd) {
    return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(Handle, ReleasesOnce) {
    released = 0;
    {
        Handle<int, release_int> first(new int(1));
        const Handle<int, release_int> second = std::move(first);
    }
    EXPECT_EQ(released, 1);
}

TEST(Fd, ClosesAtTheEndAndWhenReplaced) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    {
        Fd reader(ends[0]);
        Fd moved(std::move(reader));
        EXPECT_TRUE(moved);
        Fd writer(ends[1]);
        moved = std::move(writer);
        EXPECT_FALSE(is_open(ends[0]));
        EXPECT_EQ(moved.get(), ends[1]);
    }
    EXPECT_FALSE(is_open(ends[1]));
}

TEST(Fd, ReleaseGivesItAway) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const Fd writer(ends[1]);
    int given = -1;
    {
        Fd reader(ends[0]);
        given = reader.release();
        EXPECT_FALSE(reader);
    }
    EXPECT_TRUE(is_open(given));
    const Fd owner(given);
}

}  // namespace
}  // namespace storpol
