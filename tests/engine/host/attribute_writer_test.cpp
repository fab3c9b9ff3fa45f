// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cerrno>

#include "engine/host/performer.h"
#include "tests/engine/host/temp_tree.h"

namespace storpol {
namespace {

constexpr const char* host_name = "/proc/sys/kernel/hostname";

TEST(AttributeWriter, WritesAndReadsBack) {
    STORPOL_NEEDS_ROOT();
    // The host name of a UTS namespace of its own: a real kernel value that no other process sees.
    const bool ran = run_isolated(
        [] {
            const auto performer = make_live_performer();
            const Step step = WriteAttribute{host_name, "storpol-test"};
            const auto undo = performer->undo_of(step);
            ASSERT_TRUE(undo) << to_text(undo.error());
            const auto before = *performer->state(step);
            const auto done = performer->perform(step);
            ASSERT_TRUE(done) << to_text(done.error());
            EXPECT_EQ(*done, "storpol-test");
            utsname names{};
            uname(&names);
            EXPECT_STREQ(names.nodename, "storpol-test");
            ASSERT_EQ(*undo, (std::vector<Step>{WriteAttribute{host_name, before}}));
            EXPECT_EQ(*performer->perform(undo->front()), before);
        },
        CLONE_NEWUTS);
    if (!ran) GTEST_SKIP() << "no namespace can be made here";
}

TEST(AttributeWriter, TheKernelsRefusalIsToldWithTheValue) {
    STORPOL_NEEDS_ROOT();
    const auto performer = make_live_performer();
    const Step step = WriteAttribute{"/proc/sys/vm/swappiness", "no-number"};
    const auto before = performer->state(step);
    ASSERT_TRUE(before);
    const auto done = performer->perform(step);
    ASSERT_FALSE(done);
    if (done.error().code == EROFS) GTEST_SKIP() << "/proc/sys is read-only here";
    EXPECT_EQ(done.error().code, EINVAL);
    EXPECT_NE(done.error().what.find("the kernel refused \"no-number\""), std::string::npos) << to_text(done.error());
    EXPECT_EQ(done.error().where, "/proc/sys/vm/swappiness");
    EXPECT_EQ(performer->state(step), before);
}

TEST(AttributeWriter, OnlyKernelValuesAreWritten) {
    const TempTree tree;
    tree.write("/file", "old");
    const auto performer = make_live_performer();
    for (const auto& path : {tree.at("/file"), std::string("/proc/sys/../../etc/fstab"), std::string("/proc/self/comm"),
                             std::string("/sys"), std::string("/sys//kernel/x"), std::string("sys/x"),
                             std::string("/sys/class/zram-control/hot_remove"), std::string("")}) {
        const auto done = performer->perform(WriteAttribute{path, "1"});
        ASSERT_FALSE(done) << path;
        EXPECT_EQ(done.error().kind, ErrorKind::unsupported) << path;
        EXPECT_FALSE(performer->state(WriteAttribute{path, "1"})) << path;
    }
    EXPECT_EQ(tree.read("/file"), "old");
}

TEST(AttributeWriter, AFilesystemBoundOverTheKernelsIsNoKernelValue) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/fake", "old");
    const bool ran = run_isolated([&] {
        if (mount(tree.at("/fake").c_str(), "/proc/sys/vm/swappiness", nullptr, MS_BIND, nullptr) != 0) _exit(77);
        EXPECT_EQ(make_live_performer()->perform(WriteAttribute{"/proc/sys/vm/swappiness", "1"}).error().kind,
                  ErrorKind::unsupported);
    });
    if (!ran) GTEST_SKIP() << "no mount namespace can be made here";
    EXPECT_EQ(tree.read("/fake"), "old");
}

TEST(AttributeWriter, AValueIsOnePrintableLine) {
    const auto performer = make_live_performer();
    for (const auto& value : {std::string(), std::string("1\n"), std::string("1\n2"), std::string("a\tb"),
                              std::string("a\0b", 3), std::string(5000, '1')}) {
        const auto done = performer->perform(WriteAttribute{"/proc/sys/vm/swappiness", value});
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().kind, ErrorKind::invalid) << to_text(done.error());
    }
}

TEST(AttributeWriter, AMissingAttributeIsNoSuchFile) {
    EXPECT_EQ(make_live_performer()->state(WriteAttribute{"/proc/sys/vm/no_such_key", "1"}).error().kind,
              ErrorKind::no_such_file);
}

}  // namespace
}  // namespace storpol
