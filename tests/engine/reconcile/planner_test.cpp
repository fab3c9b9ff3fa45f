// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/planner.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "engine/base/digest.h"
#include "engine/host/host.h"

namespace storpol {
namespace {

struct PlannerTest : testing::Test {
    MemoryHost host;

    Action edit(const std::string& path, const std::string& address, const std::vector<std::string>& lines) {
        const auto text = host.read_file(path);
        Action action;
        action.verb = Verb::drop_in;
        action.target = path;
        action.step =
            EditFile{path, text ? digest_of(*text) : std::string(no_file_digest), OwnLines{address, {}, lines}};
        action.serves = {{address, Plane::persisted}};
        action.when = When::next_boot;
        action.says = "persists " + address;
        return action;
    }

    Action words(const std::string& path, int line, std::vector<std::string> out, std::vector<std::string> in) {
        auto action = edit(path, "mount[\"/\"].x" + std::to_string(line), {});
        action.verb = Verb::edit;
        std::get<EditFile>(action.step).edit = FieldWords{line, 4, std::move(out), std::move(in)};
        return action;
    }

    static Action write(const std::string& path, const std::string& value) {
        Action action;
        action.target = path;
        action.step = WriteAttribute{path, value};
        action.serves = {{"x[\"" + path + "\"]", Plane::live}};
        action.says = "writes " + path;
        return action;
    }

    static Action reload(const std::string& address) {
        Action action;
        action.verb = Verb::daemon_reload;
        action.target = "systemd";
        action.step = DaemonReload{};
        action.serves = {{address, Plane::live}};
        action.says = "reloads";
        return action;
    }
};

TEST_F(PlannerTest, EditsOfOneFileBecomeOneReplacement) {
    auto risky = edit("/etc/own.conf", "x.b", {"b = 2"});
    risky.risk = Risk::guarded;
    const auto plan = make_plan({edit("/etc/own.conf", "x.a", {"a = 1"}), risky}, {}, host);
    ASSERT_EQ(plan.actions.size(), 1U);
    const auto& action = plan.actions[0];
    EXPECT_EQ(action.id, "a1");
    EXPECT_EQ(action.verb, Verb::drop_in);
    EXPECT_EQ(action.risk, Risk::guarded);
    EXPECT_EQ(action.serves.size(), 2U);
    EXPECT_EQ(action.says, "persists x.a; persists x.b");
    const auto& file = std::get<ReplaceFile>(action.step);
    EXPECT_EQ(file.before, no_file_digest);
    EXPECT_NE(file.bytes.find("# x.a\na = 1\n"), std::string::npos) << file.bytes;
    EXPECT_NE(file.bytes.find("# x.b\nb = 2\n"), std::string::npos) << file.bytes;
    EXPECT_TRUE(action.diff.starts_with("--- /dev/null\n+++ /etc/own.conf\n")) << action.diff;
}

TEST_F(PlannerTest, FieldEditsKeepEveryOtherByte) {
    host.put_file("/etc/fstab", "#  mine\nUUID=1\t/  ext4 noatime,discard 0 1\nUUID=2 /home xfs defaults 0 2");
    const auto plan =
        make_plan({words("/etc/fstab", 2, {"discard"}, {}), words("/etc/fstab", 3, {}, {"noatime"})}, {}, host);
    ASSERT_EQ(plan.actions.size(), 1U);
    EXPECT_EQ(plan.actions[0].verb, Verb::edit);
    EXPECT_EQ(std::get<ReplaceFile>(plan.actions[0].step).bytes,
              "#  mine\nUUID=1\t/  ext4 noatime 0 1\nUUID=2 /home xfs defaults,noatime 0 2");
}

TEST_F(PlannerTest, AnOwnFileThatIsThenEmptyIsDeleted) {
    host.put_file("/etc/own.conf", "# x.a\na = 1\n");
    const auto plan = make_plan({edit("/etc/own.conf", "x.a", {})}, {}, host);
    ASSERT_EQ(plan.actions.size(), 1U);
    EXPECT_EQ(plan.actions[0].verb, Verb::remove);
    EXPECT_EQ(plan.actions[0].step, Step(DeleteFile{"/etc/own.conf", digest_of("# x.a\na = 1\n")}));
    EXPECT_NE(plan.actions[0].diff.find("+++ /dev/null"), std::string::npos);
}

TEST_F(PlannerTest, AnEditThatChangesNothingIsAGap) {
    host.put_file("/etc/own.conf", "# x.a\na = 1\n");
    const auto plan = make_plan({edit("/etc/own.conf", "x.a", {"a = 1"})}, {}, host);
    EXPECT_TRUE(plan.actions.empty());
    ASSERT_EQ(plan.gaps.size(), 1U);
    EXPECT_NE(plan.gaps[0].cannot.find("changes nothing"), std::string::npos);
}

TEST_F(PlannerTest, AnEditThatCannotBeMadeIsAGap) {
    host.put_file("/etc/fstab", "UUID=1 / ext4 noatime 0 1\n");
    const auto plan = make_plan({words("/etc/fstab", 7, {"noatime"}, {})}, {}, host);
    EXPECT_TRUE(plan.actions.empty());
    ASSERT_EQ(plan.gaps.size(), 1U);
    EXPECT_FALSE(plan.gaps[0].cannot.empty());
}

TEST_F(PlannerTest, ARefusedEditHoldsNothingElseUp) {
    auto refused = edit("/etc/own.conf", "x.b", {"b = 2"});
    refused.refused = "too big";
    const auto plan = make_plan({refused, edit("/etc/own.conf", "x.a", {"a = 1"})}, {}, host);
    ASSERT_EQ(plan.actions.size(), 2U);
    EXPECT_TRUE(plan.actions[0].refused.empty());
    EXPECT_EQ(std::get<ReplaceFile>(plan.actions[0].step).bytes.find("b = 2"), std::string::npos);
    EXPECT_EQ(plan.actions[1].refused, "too big");
}

TEST_F(PlannerTest, FilesComeBeforeTheKernelAndGeneratorsLast) {
    const auto plan =
        make_plan({reload("a"), write("/proc/sys/a", "1"), edit("/etc/z.conf", "z.z", {"z = 1"})}, {}, host);
    ASSERT_EQ(plan.actions.size(), 3U);
    EXPECT_EQ(plan.actions[0].verb, Verb::drop_in);
    EXPECT_EQ(plan.actions[1].verb, Verb::write);
    EXPECT_EQ(plan.actions[2].verb, Verb::daemon_reload);
    EXPECT_EQ(plan.actions[2].id, "a3");
}

TEST_F(PlannerTest, WhatReadsATargetComesAfterIt) {
    auto needs = write("/proc/sys/a", "1");
    needs.reads = {"/proc/sys/b", "/etc/z.conf", "/not/in/the/plan"};
    const auto plan = make_plan({needs, write("/proc/sys/b", "1"), edit("/etc/z.conf", "z.z", {"z = 1"})}, {}, host);
    ASSERT_EQ(plan.actions.size(), 3U);
    EXPECT_EQ(plan.actions[2].target, "/proc/sys/a");
    EXPECT_EQ(plan.actions[2].after, (std::vector<std::string>{"a1", "a2"}));
}

TEST_F(PlannerTest, TheOrderDoesNotDependOnTheOrderProposed) {
    const std::vector<Action> actions{write("/b", "1"), write("/a", "1"), edit("/etc/y", "y.y", {"y"}),
                                      edit("/etc/x", "x.x", {"x"}), reload("r")};
    const auto forwards = make_plan(actions, {}, host);
    const auto backwards = make_plan({actions.rbegin(), actions.rend()}, {}, host);
    EXPECT_EQ(forwards, backwards);
}

TEST_F(PlannerTest, EqualGeneratorsRunOnce) {
    auto one = reload("x.a");
    one.reads = {"/etc/a"};
    auto other = reload("x.b");
    other.reads = {"/etc/b"};
    const auto plan = make_plan({one, other, edit("/etc/a", "x.a", {"a"}), edit("/etc/b", "x.b", {"b"})}, {}, host);
    ASSERT_EQ(plan.actions.size(), 3U);
    EXPECT_EQ(plan.actions[2].serves.size(), 2U);
    EXPECT_EQ(plan.actions[2].after, (std::vector<std::string>{"a1", "a2"}));
    EXPECT_EQ(plan.actions[2].says, "reloads");
}

using PlannerDeathTest = PlannerTest;

TEST_F(PlannerDeathTest, ContradictionsAreBugsOfTheirResource) {
    EXPECT_DEATH(make_plan({write("/a", "1"), write("/a", "2")}, {}, host), "two values");
    EXPECT_DEATH(make_plan({edit("/etc/x", "x.a", {"1"}), edit("/etc/x", "x.a", {"2"})}, {}, host), "contradict");
    auto stale = edit("/etc/x", "x.a", {"1"});
    host.put_file("/etc/x", "changed\n");
    EXPECT_DEATH(make_plan({stale}, {}, host), "other bytes");
    auto one = write("/a", "1");
    one.reads = {"/b"};
    auto other = write("/b", "1");
    other.reads = {"/a"};
    EXPECT_DEATH(make_plan({one, other}, {}, host), "wait for each other");
    host.put_file("/etc/fstab", "UUID=1 / ext4 noatime 0 1\n");
    EXPECT_DEATH(
        make_plan({words("/etc/fstab", 1, {"noatime"}, {}), words("/etc/fstab", 1, {}, {"noatime"})}, {}, host),
        "noatime");
}

}  // namespace
}  // namespace storpol
