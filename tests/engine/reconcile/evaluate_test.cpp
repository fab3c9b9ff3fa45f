// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "tests/support/fake_resource.h"
#include "tests/support/memory_machine.h"

namespace storpol {
namespace {

struct EvaluateTest : testing::Test {
    MemoryMachine machine;
    Resources resources = fake_resources();
    Record record;

    void kernel(const std::string& name, const std::string& value) {
        machine.host.put_file(fake_attribute(name), value + "\n");
    }

    void own(const std::string& text) { machine.host.put_file(std::string(fake_own_file), text); }

    Evaluation look(const std::string& toml, EvaluateOptions options = {}) {
        const auto policy = policy_of("version = 1\n" + toml, resources);
        if (options.record == nullptr) options.record = &record;
        Picture picture(machine.host);
        return evaluate(policy, resources, picture, options);
    }

    static const PlaneState& plane(const Evaluation& evaluation, const std::string& name, Plane plane) {
        for (const auto& state : evaluation.settings) {
            if (state.setting.address == fake_address(name)) return *state.on(plane);
        }
        throw std::out_of_range(name);
    }

    static std::vector<std::string> codes(const Evaluation& evaluation) {
        std::vector<std::string> out;
        for (const auto& finding : evaluation.findings) out.push_back(finding.code);
        return out;
    }
};

TEST_F(EvaluateTest, WhatHoldsOnBothPlanesIsInSync) {
    kernel("a", "1");
    own("# fake[\"a\"]\na = 1\n");
    const auto got = look("[fake]\na = 1\n");
    ASSERT_EQ(got.settings.size(), 1U);
    EXPECT_EQ(got.settings[0].verdict, Verdict::in_sync);
    EXPECT_TRUE(got.plan.actions.empty());
    EXPECT_TRUE(got.findings.empty());
    EXPECT_FALSE(got.has_drift(true));
    EXPECT_EQ(got.summary.in_sync, 1);
}

TEST_F(EvaluateTest, EachPlaneDriftsByItself) {
    kernel("a", "2");
    own("# fake[\"a\"]\na = 1\n");
    const auto got = look("[fake]\na = 1\n");
    EXPECT_EQ(plane(got, "a", Plane::live).verdict, Verdict::drift);
    EXPECT_EQ(plane(got, "a", Plane::persisted).verdict, Verdict::in_sync);
    EXPECT_EQ(got.settings[0].verdict, Verdict::drift);
    ASSERT_EQ(got.plan.actions.size(), 1U);
    EXPECT_EQ(got.plan.actions[0].verb, Verb::write);
    EXPECT_TRUE(got.has_drift(false));
}

TEST_F(EvaluateTest, SettingsAreSortedByAddress) {
    const auto got = look("[fake]\nz = 1\nb = 1\na10 = 1\na = 1\n");
    std::vector<std::string> addresses;
    for (const auto& state : got.settings) addresses.push_back(state.setting.address);
    EXPECT_TRUE(std::is_sorted(addresses.begin(), addresses.end()));
    EXPECT_EQ(addresses.size(), 4U);
}

TEST_F(EvaluateTest, WhatTheRecordSaysMakesTheKind) {
    kernel("a", "2");
    own("# fake[\"a\"]\na = 1\n");
    const SettingPlane live{fake_address("a"), Plane::live};
    EXPECT_EQ(plane(look("[fake]\na = 1\n"), "a", Plane::live).kind, DifferenceKind::fresh);
    record.applied = {{live, {}, Is{std::int64_t{1}}, "1"}};
    EXPECT_EQ(plane(look("[fake]\na = 1\n"), "a", Plane::live).kind, DifferenceKind::moved);
    record.applied = {{live, {}, Is{std::int64_t{3}}, "3"}};
    EXPECT_EQ(plane(look("[fake]\na = 1\n"), "a", Plane::live).kind, DifferenceKind::changed);
    record.applied = {{live, "another disk", Is{std::int64_t{1}}, "1"}};
    EXPECT_EQ(plane(look("[fake]\na = 1\n"), "a", Plane::live).kind, DifferenceKind::fresh);
    EvaluateOptions unreadable;
    unreadable.record_readable = false;
    EXPECT_EQ(plane(look("[fake]\na = 1\n", unreadable), "a", Plane::live).kind, std::nullopt);
}

TEST_F(EvaluateTest, UnknownIsNeverInSyncAndNeverActs) {
    machine.host.refuse({QueryKind::file, {fake_attribute("a")}}, EACCES);
    own("# fake[\"a\"]\na = 1\n");
    record.applied = {{{fake_address("a"), Plane::live}, {}, Is{std::int64_t{1}}, "1"}};
    const auto got = look("[fake]\na = 1\n");
    EXPECT_EQ(plane(got, "a", Plane::live).verdict, Verdict::unknown);
    EXPECT_EQ(plane(got, "a", Plane::live).recorded, "1");
    EXPECT_EQ(got.settings[0].verdict, Verdict::unknown);
    EXPECT_TRUE(got.plan.actions.empty());
    EXPECT_TRUE(got.plan.gaps.empty());
    EXPECT_TRUE(got.has_unknown(false));
    EXPECT_FALSE(got.has_drift(true));
}

TEST_F(EvaluateTest, AWordUnderABoundIsUnknownWithItsReason) {
    kernel("a", "auto");
    own("# fake[\"a\"]\na = 8\n");
    const auto got = look("[fake]\na = { at-least = 5 }\n");
    const auto& live = plane(got, "a", Plane::live);
    EXPECT_EQ(live.verdict, Verdict::unknown);
    ASSERT_TRUE(std::holds_alternative<Unknown>(live.reading.state));
    EXPECT_NE(std::get<Unknown>(live.reading.state).why.find("auto"), std::string::npos);
}

TEST_F(EvaluateTest, AbsentDoesNotCount) {
    own("# fake[\"a\"]\na = 1\n");
    const auto got = look("[fake]\na = 1\nb = 2\n");
    EXPECT_EQ(got.settings[0].verdict, Verdict::in_sync);
    EXPECT_EQ(plane(got, "a", Plane::live).verdict, Verdict::absent);
    EXPECT_EQ(got.settings[1].verdict, Verdict::drift);
}

TEST_F(EvaluateTest, AnAcceptedDifferenceIsInSyncThroughItsLastDay) {
    kernel("a", "2");
    own("# fake[\"a\"]\na = 1\n");
    const std::string toml =
        "[fake]\na = 1\n[[accept]]\naddress = 'fake[\"a\"]'\nuntil = 2026-11-30\nreason = \"a test\"\n";
    machine.set_time("2026-11-30T23:59:59Z");
    auto got = look(toml);
    EXPECT_EQ(plane(got, "a", Plane::live).verdict, Verdict::drift);
    ASSERT_TRUE(plane(got, "a", Plane::live).accepted);
    EXPECT_EQ(plane(got, "a", Plane::live).accepted->until, "2026-11-30");
    EXPECT_EQ(got.settings[0].verdict, Verdict::in_sync);
    EXPECT_EQ(got.summary.accepted, 1);
    EXPECT_TRUE(got.plan.actions.empty());
    EXPECT_FALSE(got.has_drift(true));

    machine.set_time("2026-12-01T00:00:00Z");
    got = look(toml);
    EXPECT_EQ(got.settings[0].verdict, Verdict::drift);
    EXPECT_EQ(codes(got), std::vector<std::string>{"accept-expired"});
}

TEST_F(EvaluateTest, AnAcceptOfOtherPlanesDoesNotCover) {
    kernel("a", "2");
    own("# fake[\"a\"]\na = 1\n");
    const auto got = look(
        "[fake]\na = 1\n[[accept]]\naddress = 'fake[*]'\nplanes = [\"persisted\"]\nuntil = 2027-01-01\nreason = "
        "\"x\"\n");
    EXPECT_EQ(got.settings[0].verdict, Verdict::drift);
}

TEST_F(EvaluateTest, AnAcceptThatMatchesNothingIsAFinding) {
    const auto got = look("[[accept]]\naddress = 'fake[\"b\"]'\nuntil = 2027-01-01\nreason = \"x\"\n");
    EXPECT_EQ(codes(got), std::vector<std::string>{"accept-matches-nothing"});
    EXPECT_EQ(got.findings[0].where.substr(0, 9), "test.toml");
}

TEST_F(EvaluateTest, WithoutAClockNoAcceptIsTaken) {
    kernel("a", "2");
    own("# fake[\"a\"]\na = 1\n");
    machine.set_time("whenever");
    const auto got = look("[fake]\na = 1\n[[accept]]\naddress = 'fake[\"a\"]'\nuntil = 2027-01-01\nreason = \"x\"\n");
    EXPECT_EQ(got.settings[0].verdict, Verdict::drift);
    EXPECT_EQ(codes(got), std::vector<std::string>{"accept-not-judged"});
}

TEST_F(EvaluateTest, WhatIsUnmanagedIsNoSetting) {
    const auto got = look("unmanaged = ['fake[\"a\"]']\n[fake]\nb = 1\n");
    EXPECT_EQ(got.settings.size(), 1U);
}

TEST_F(EvaluateTest, ADifferenceThatTheResourceForgetsBecomesAGap) {
    kernel("lost_a", "2");
    own("# fake[\"lost_a\"]\nlost_a = 1\n");
    const auto got = look("[fake]\nlost_a = 1\n");
    ASSERT_EQ(got.plan.gaps.size(), 1U);
    EXPECT_EQ(got.plan.gaps[0].cannot, "no way to change this is known");
    EXPECT_EQ(plane(got, "lost_a", Plane::live).cannot, "no way to change this is known");
}

struct WaitingTest : EvaluateTest {
    static constexpr const char* this_boot = "11111111-1111-1111-1111-111111111111";

    WaitingTest() {
        kernel("slow_a", "2");
        kernel("mount_a", "2");
        own("# fake[\"mount_a\"]\nmount_a = 1\n# fake[\"slow_a\"]\nslow_a = 1\n");
        machine.host.put_file("/proc/fake/mount-id", "40\n");
    }

    void waits(const std::string& name, When when, const std::string& boot, const std::string& mount_id = {}) {
        record.waiting.push_back({{fake_address(name), Plane::live}, {}, Is{std::int64_t{1}}, when, boot, mount_id});
    }

    const std::string slow = "[fake]\nslow_a = 1\n";
    const std::string mount = "[fake]\nmount_a = 1\n";
};

TEST_F(WaitingTest, WithoutARecordItIsAnOrdinaryDifferenceThatSaysItWillWait) {
    const auto got = look(slow);
    EXPECT_FALSE(plane(got, "slow_a", Plane::live).waits);
    ASSERT_EQ(got.plan.gaps.size(), 1U);
    EXPECT_EQ(got.plan.gaps[0].waits, When::next_boot);
    EXPECT_TRUE(got.has_drift(false));
    EXPECT_FALSE(got.summary.reboot_pending);
}

TEST_F(WaitingTest, WithARecordOfThisBootItWaits) {
    waits("slow_a", When::next_boot, this_boot);
    const auto got = look(slow);
    EXPECT_EQ(plane(got, "slow_a", Plane::live).waits, When::next_boot);
    EXPECT_EQ(got.settings[0].verdict, Verdict::drift);
    EXPECT_EQ(got.summary.waiting, 1);
    EXPECT_TRUE(got.summary.reboot_pending);
    EXPECT_FALSE(got.has_drift(false));
    EXPECT_TRUE(got.has_drift(true));
}

TEST_F(WaitingTest, ItWaitsOnlyWhilePersistedIsInSync) {
    waits("slow_a", When::next_boot, this_boot);
    own("");
    const auto got = look(slow);
    EXPECT_FALSE(plane(got, "slow_a", Plane::live).waits);
    EXPECT_TRUE(got.has_drift(false));
}

TEST_F(WaitingTest, AfterThatBootItIsSaidThatItDidNotTakeEffect) {
    waits("slow_a", When::next_boot, "an earlier boot");
    const auto got = look(slow);
    const auto& live = plane(got, "slow_a", Plane::live);
    EXPECT_FALSE(live.waits);
    EXPECT_EQ(live.cannot, "did not take effect at the boot of 2026-11-30T11:00:00Z");
    EXPECT_TRUE(got.has_drift(false));
}

TEST_F(WaitingTest, AnotherConditionDoesNotWait) {
    record.waiting.push_back(
        {{fake_address("slow_a"), Plane::live}, {}, Is{std::int64_t{7}}, When::next_boot, this_boot, {}});
    EXPECT_FALSE(plane(look(slow), "slow_a", Plane::live).waits);
}

TEST_F(WaitingTest, ANewMountEndsTheWaitForIt) {
    waits("mount_a", When::next_mount, this_boot, "40");
    auto got = look(mount);
    EXPECT_EQ(plane(got, "mount_a", Plane::live).waits, When::next_mount);
    EXPECT_FALSE(got.summary.reboot_pending);
    machine.host.put_file("/proc/fake/mount-id", "55\n");
    got = look(mount);
    EXPECT_FALSE(plane(got, "mount_a", Plane::live).waits);
    EXPECT_EQ(plane(got, "mount_a", Plane::live).cannot, "did not take effect when it was mounted anew");
}

TEST_F(EvaluateTest, AStepTriedInThisBootIsNotPlannedAgain) {
    kernel("a", "2");
    own("# fake[\"a\"]\na = 1\n");
    record.tried = {
        {{fake_address("a"), Plane::live}, Is{std::int64_t{1}}, WaitingTest::this_boot, "2026-11-30T11:30:00Z", "2"}};
    auto got = look("[fake]\na = 1\n");
    EXPECT_TRUE(got.plan.actions.empty());
    EXPECT_EQ(plane(got, "a", Plane::live).cannot, "tried at 2026-11-30T11:30:00Z, the kernel holds 2");
    record.tried[0].boot_id = "an earlier boot";
    got = look("[fake]\na = 1\n");
    EXPECT_EQ(got.plan.actions.size(), 1U);
    record.tried[0].boot_id = WaitingTest::this_boot;
    record.tried[0].condition = Is{std::int64_t{9}};
    got = look("[fake]\na = 1\n");
    EXPECT_EQ(got.plan.actions.size(), 1U);
}

TEST_F(EvaluateTest, AnImageHasNoLivePlaneAndNothingShowsNow) {
    kernel("a", "2");
    EvaluateOptions image;
    image.image = true;
    const auto got = look("[fake]\na = 1\n", image);
    ASSERT_EQ(got.settings.size(), 1U);
    EXPECT_EQ(got.settings[0].on(Plane::live), nullptr);
    ASSERT_EQ(got.plan.actions.size(), 1U);
    EXPECT_EQ(got.plan.actions[0].verb, Verb::drop_in);
    EXPECT_EQ(got.plan.actions[0].when, When::next_boot);
}

TEST_F(EvaluateTest, LinesThatThePolicyNoLongerNamesAreFindings) {
    kernel("a", "1");
    own("# fake[\"a\"]\na = 1\n\n# fake[\"b\"]\nb = 2\n");
    const auto got = look("[fake]\na = 1\n");
    EXPECT_EQ(codes(got), std::vector<std::string>{"no-longer-in-policy"});
    EXPECT_TRUE(got.findings[0].where.starts_with(std::string(fake_own_file) + ":")) << got.findings[0].where;
    EXPECT_TRUE(got.plan.actions.empty());
}

TEST_F(EvaluateTest, PruneTakesTheirLinesOut) {
    kernel("a", "1");
    own("# fake[\"a\"]\na = 1\n# fake[\"b\"]\nb = 2\n");
    EvaluateOptions prune;
    prune.prune = true;
    auto got = look("[fake]\na = 1\n", prune);
    ASSERT_EQ(got.plan.actions.size(), 1U);
    EXPECT_EQ(got.plan.actions[0].verb, Verb::drop_in);
    const auto& bytes = std::get<ReplaceFile>(got.plan.actions[0].step).bytes;
    EXPECT_NE(bytes.find("a = 1"), std::string::npos) << bytes;
    EXPECT_EQ(bytes.find("b = 2"), std::string::npos) << bytes;

    got = look("", prune);
    ASSERT_EQ(got.plan.actions.size(), 1U);
    EXPECT_EQ(got.plan.actions[0].verb, Verb::remove);
    EXPECT_TRUE(std::holds_alternative<DeleteFile>(got.plan.actions[0].step));
}

}  // namespace
}  // namespace storpol
