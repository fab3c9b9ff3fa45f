// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/result.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace storpol {
namespace {

TEST(Result, FailHoldsKindAndTexts) {
    const Result<int> result = fail(ErrorKind::invalid, "what", "where", "fix");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(), (Error{ErrorKind::invalid, "what", "where", "fix", 0}));
}

TEST(Result, ErrnoBecomesKindAndSentence) {
    const Result<int> result = fail_errno(EACCES, "cannot open", "/etc/crypttab");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::denied);
    EXPECT_EQ(result.error().what, "cannot open: Permission denied");
    EXPECT_EQ(result.error().code, EACCES);
    EXPECT_EQ(to_text(result.error()), "/etc/crypttab: cannot open: Permission denied");
}

TEST(Result, UnknownErrnoStillSaysItsNumber) {
    const Result<int> result = fail_errno(9999, "cannot read", "x");
    EXPECT_EQ(result.error().what, "cannot read: E9999");
}

TEST(Result, KindsOfErrno) {
    for (const int code : {ENOENT, ENOTDIR, ENXIO}) EXPECT_EQ(kind_of_errno(code), ErrorKind::no_such_file) << code;
    for (const int code : {EACCES, EPERM}) EXPECT_EQ(kind_of_errno(code), ErrorKind::denied) << code;
    for (const int code : {EIO, EINVAL, 0, -1}) EXPECT_EQ(kind_of_errno(code), ErrorKind::failed) << code;
}

TEST(Result, TextLeavesOutWhatIsEmpty) {
    EXPECT_EQ(to_text(Error{ErrorKind::failed, "w", "", "", 0}), "w");
    EXPECT_EQ(to_text(Error{ErrorKind::failed, "w", "f:1", "do", 0}), "f:1: w; do");
    EXPECT_EQ(to_text(Error{ErrorKind::failed, "", "f", "", 0}), "f");
    EXPECT_EQ(to_text(Error{}), "");
}

TEST(Result, ErrnoNamesGoBothWays) {
    for (int code = 1; code < 200; ++code) EXPECT_EQ(name_to_errno(errno_name(code)), code) << errno_name(code);
    EXPECT_EQ(errno_name(ENOENT), "ENOENT");
    EXPECT_EQ(errno_name(EOPNOTSUPP), "EOPNOTSUPP");
    EXPECT_EQ(name_to_errno("EAGAIN"), EAGAIN);
    EXPECT_EQ(name_to_errno("EWOULDBLOCK"), EAGAIN);
    EXPECT_EQ(name_to_errno("ENOTSUP"), EOPNOTSUPP);
}

TEST(Result, TextsThatAreNoErrnoAreZero) {
    for (const char* text :
         {"", "E", "ENOSUCH", "enoent", "ENOENT ", "E-5", "E0", "E99999999999999999999", "E5x", "5"}) {
        EXPECT_EQ(name_to_errno(text), 0) << text;
    }
}

TEST(ResultDeathTest, BugNamesFileAndLineAndAborts) {
    EXPECT_DEATH(STORPOL_BUG("the impossible"), "result_test\\.cpp:[0-9]+: the impossible");
}

}  // namespace
}  // namespace storpol
