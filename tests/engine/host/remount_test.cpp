// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cerrno>

#include "engine/base/text.h"
#include "engine/host/performer.h"
#include "tests/engine/host/temp_tree.h"

namespace storpol {
namespace {

// Runs `check` with a tmpfs on a directory (nosuid,nodev,noatime, 1 MiB) in a namespace of its own.
void with_tmpfs(const std::function<void(Performer&, const Remount&)>& check) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.make_directory("/my mount");
    const auto target = tree.at("/my mount");
    const bool ran = run_isolated([&] {
        ASSERT_EQ(mount("x", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOATIME, "size=1m,mode=0700"), 0);
        const auto performer = make_live_performer();
        const auto state = performer->state(Remount{target, "", {}, {}});
        ASSERT_TRUE(state) << to_text(state.error());
        check(*performer, Remount{target, state->substr(0, state->find(' ')), {}, {}});
    });
    if (!ran) GTEST_SKIP() << "no mount namespace can be made here";
}

TEST(Remount, ChangesOnlyWhatItNames) {
    with_tmpfs([](Performer& performer, Remount step) {
        step.flags = {"relatime", "noexec"};
        step.parameters = {"size=2m"};
        const auto before = *performer.state(step);
        EXPECT_NE(before.find("nosuid,nodev,noatime"), std::string::npos) << before;
        const auto undo = performer.undo_of(step);
        ASSERT_TRUE(undo) << to_text(undo.error());
        const auto done = performer.perform(step);
        ASSERT_TRUE(done) << to_text(done.error());
        EXPECT_NE(done->find("rw,nosuid,nodev,noexec,relatime"), std::string::npos) << *done;
        EXPECT_NE(done->find("size=2048k,mode=700"), std::string::npos) << *done;
        const auto undone = performer.perform(undo->front());
        ASSERT_TRUE(undone) << to_text(undone.error());
        EXPECT_EQ(*undone, before);
    });
}

TEST(Remount, TheFilesystemsRefusalIsToldInItsWords) {
    with_tmpfs([](Performer& performer, Remount step) {
        step.flags = {"noexec"};
        step.parameters = {"bogus=1"};
        const auto before = *performer.state(step);
        const auto done = performer.perform(step);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, EINVAL);
        EXPECT_NE(done.error().what.find("bogus"), std::string::npos) << to_text(done.error());
        EXPECT_EQ(*performer.state(step), before);
    });
}

TEST(Remount, AnotherMountThanPlannedIsLeftAlone) {
    with_tmpfs([](Performer& performer, Remount step) {
        step.flags = {"noexec"};
        step.mount_id = "1";
        EXPECT_EQ(performer.perform(step).error().kind, ErrorKind::changed);
        EXPECT_EQ(performer.undo_of(step).error().kind, ErrorKind::changed);
        step.target += "/below";
        EXPECT_EQ(performer.perform(step).error().kind, ErrorKind::no_such_file);
    });
}

TEST(Remount, UnknownFlagsAreNoFlags) {
    with_tmpfs([](Performer& performer, Remount step) {
        step.flags = {"commit"};
        EXPECT_EQ(performer.perform(step).error().kind, ErrorKind::invalid);
    });
}

TEST(Remount, AnOldValueThatNothingShowsCannotBeUndone) {
    with_tmpfs([](Performer& performer, Remount step) {
        step.parameters = {"commit=300"};
        EXPECT_EQ(performer.undo_of(step).error().kind, ErrorKind::unsupported);
    });
}

}  // namespace
}  // namespace storpol
