// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/apply.h"

#include <gtest/gtest.h>

#include "engine/reconcile/journal.h"
#include "tests/support/fake_resource.h"
#include "tests/support/memory_machine.h"

namespace storpol {
namespace {

struct ApplyTest : testing::Test {
    MemoryMachine machine;
    Resources resources = fake_resources();
    const std::string own = std::string(fake_own_file);

    void kernel(const std::string& name, const std::string& value) {
        machine.host.put_file(fake_attribute(name), value + "\n");
    }

    const std::string& file(const std::string& path) const { return machine.host.files().at(path); }

    Policy policy(const std::string& toml) { return policy_of("version = 1\n" + toml, resources); }

    ApplyReport run(const std::string& toml, const ApplyOptions& options = {}) {
        auto report = machine.apply(policy(toml), resources, options);
        if (!report) throw std::runtime_error(to_text(report.error()));
        return std::move(*report);
    }

    Evaluation plan(const std::string& toml) { return machine.plan(policy(toml), resources); }

    std::vector<Transaction> journal() {
        MemoryStore store(machine.state, machine.power);
        return Journal(store).read_all().value();
    }

    Record record() {
        MemoryStore store(machine.state, machine.power);
        return read_record(store).value();
    }
};

TEST_F(ApplyTest, WhatWasWantedHoldsAfterwardsOnBothPlanes) {
    kernel("a", "2");
    const auto report = run("[fake]\na = 1\n");
    EXPECT_EQ(report.exit_code, 0);
    ASSERT_EQ(report.outcomes.size(), 2U);
    EXPECT_EQ(report.outcomes[0].action.verb, Verb::drop_in);
    EXPECT_EQ(report.outcomes[1].action.verb, Verb::write);
    EXPECT_EQ(file(fake_attribute("a")), "1\n");
    EXPECT_NE(file(own).find("a = 1\n"), std::string::npos);
    EXPECT_EQ(report.after.settings.at(0).verdict, Verdict::in_sync);
    EXPECT_TRUE(plan("[fake]\na = 1\n").plan.actions.empty());
}

TEST_F(ApplyTest, ItIsJournaledAndRecorded) {
    kernel("a", "2");
    run("[fake]\na = 1\n");
    const auto all = journal();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].command, "apply");
    EXPECT_TRUE(all[0].complete);
    EXPECT_FALSE(all[0].finished.empty());
    EXPECT_FALSE(all[0].record_before);
    EXPECT_EQ(all[0].steps.size(), 2U);
    EXPECT_EQ(record().applied.size(), 2U);
    EXPECT_EQ(record().applied[0].value, "1");
}

TEST_F(ApplyTest, NothingToDoAsksNothingAndStartsNoTransaction) {
    kernel("a", "2");
    run("[fake]\na = 1\n");
    const auto state = machine.state;
    ApplyOptions options;
    options.confirm = [](const Evaluation&) -> bool { throw std::logic_error("asked"); };
    const auto report = run("[fake]\na = 1\n", options);
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_EQ(machine.state, state);
}

TEST_F(ApplyTest, DecliningChangesNothing) {
    kernel("a", "2");
    ApplyOptions options;
    options.confirm = [](const Evaluation& evaluation) {
        EXPECT_EQ(evaluation.plan.actions.size(), 2U);
        return false;
    };
    const auto report = run("[fake]\na = 1\n", options);
    EXPECT_TRUE(report.declined);
    EXPECT_EQ(report.exit_code, 1);
    EXPECT_EQ(file(fake_attribute("a")), "2\n");
    EXPECT_TRUE(machine.state.empty());
}

TEST_F(ApplyTest, AHeldLockIsAnErrorAndNothingHappens) {
    kernel("a", "2");
    MemoryStore store(machine.state, machine.power);
    store.refuse_lock();
    const Machine locked{machine.host, machine.performer, store, false};
    const auto report = storpol::apply(policy("[fake]\na = 1\n"), resources, locked, {});
    ASSERT_FALSE(report);
    EXPECT_EQ(machine.performer.performed(), 0);
    EXPECT_TRUE(machine.state.empty());
}

TEST_F(ApplyTest, AFailedStepIsUndoneAndTheOthersGoOn) {
    kernel("a", "2");
    kernel("b", "2");
    machine.performer.fail_after_at(2);  // the write of a: done, then said to have failed
    const auto report = run("[fake]\na = 1\nb = 1\n");
    EXPECT_EQ(report.exit_code, 1);
    ASSERT_EQ(report.outcomes.size(), 3U);
    EXPECT_EQ(report.outcomes[1].result, ActionResult::failed);
    EXPECT_NE(report.outcomes[1].why.find("cannot flush"), std::string::npos) << report.outcomes[1].why;
    EXPECT_NE(report.outcomes[1].why.find("the state before was put back"), std::string::npos)
        << report.outcomes[1].why;
    EXPECT_EQ(report.outcomes[2].result, ActionResult::done);
    EXPECT_EQ(file(fake_attribute("a")), "2\n");
    EXPECT_EQ(file(fake_attribute("b")), "1\n");
    EXPECT_FALSE(journal().at(0).complete);
    EXPECT_EQ(journal().at(0).steps.at(1).outcome, JournaledStep::Outcome::undone);
}

TEST_F(ApplyTest, WhatNeedsAFailedActionIsSkipped) {
    kernel("after_a", "2");
    kernel("b", "2");
    machine.performer.fail_at(1);
    const auto report = run("[fake]\nafter_a = 1\nb = 1\n");
    EXPECT_EQ(report.exit_code, 1);
    ASSERT_EQ(report.outcomes.size(), 3U);
    EXPECT_EQ(report.outcomes[0].result, ActionResult::failed);
    EXPECT_EQ(report.outcomes[1].result, ActionResult::skipped);
    EXPECT_EQ(report.outcomes[1].why, "needs a1, which failed");
    EXPECT_EQ(report.outcomes[2].result, ActionResult::done);
    EXPECT_EQ(file(fake_attribute("after_a")), "2\n");
}

TEST_F(ApplyTest, AStepThatDidNothingNeedsNoUndoing) {
    kernel("a", "2");
    machine.performer.fail_at(1);
    const auto report = run("[fake]\na = 1\n");
    EXPECT_EQ(report.exit_code, 1);
    EXPECT_NE(report.outcomes[0].why.find("nothing was changed"), std::string::npos) << report.outcomes[0].why;
    EXPECT_FALSE(machine.host.files().contains(own));
}

TEST_F(ApplyTest, DisruptiveActionsNeedTheirAllow) {
    kernel("wild_a", "2");
    ApplyOptions options;
    auto report = run("[fake]\nwild_a = 1\n", options);
    EXPECT_EQ(report.exit_code, 2);
    EXPECT_EQ(report.outcomes.at(1).result, ActionResult::refused);
    EXPECT_NE(report.outcomes[1].why.find("--allow write:/proc/sys/fake/wild_a"), std::string::npos);
    EXPECT_EQ(file(fake_attribute("wild_a")), "2\n");
    options.allow = {"write:/proc/sys/fake/wild_a"};
    report = run("[fake]\nwild_a = 1\n", options);
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_EQ(file(fake_attribute("wild_a")), "1\n");
}

TEST_F(ApplyTest, AGuardThatDoesNotHoldRefuses) {
    kernel("guard_a", "2");
    const auto report = run("[fake]\nguard_a = 1\n");
    EXPECT_EQ(report.exit_code, 2);
    EXPECT_EQ(report.outcomes.at(1).result, ActionResult::refused);
    EXPECT_EQ(report.outcomes[1].why, "2 are needed and 1 is there");
    EXPECT_EQ(file(fake_attribute("guard_a")), "2\n");
    EXPECT_NE(file(own).find("guard_a = 1"), std::string::npos);
}

TEST_F(ApplyTest, WhatNoApplyCanDoLeavesTwo) {
    kernel("hard_a", "2");
    EXPECT_EQ(run("[fake]\nhard_a = 1\n").exit_code, 2);
}

TEST_F(ApplyTest, WhatWaitsForTheBootIsRecordedAndIsNoFailure) {
    kernel("slow_a", "2");
    const auto report = run("[fake]\nslow_a = 1\n");
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_TRUE(report.after.summary.reboot_pending);
    ASSERT_EQ(record().waiting.size(), 1U);
    EXPECT_EQ(record().waiting[0].boot_id, "11111111-1111-1111-1111-111111111111");
    EXPECT_FALSE(plan("[fake]\nslow_a = 1\n").has_drift(false));
}

TEST_F(ApplyTest, AnApplyWithNothingToDoStillRecordsWhatWaits) {
    kernel("slow_a", "2");
    machine.host.put_file(own, "# fake[\"slow_a\"]\nslow_a = 1\n");
    const auto report = run("[fake]\nslow_a = 1\n");
    EXPECT_TRUE(report.outcomes.empty());
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_EQ(record().waiting.size(), 1U);
    EXPECT_TRUE(journal().empty());
}

TEST_F(ApplyTest, ABootThatDidNotBringItEndsTheWaitAlsoForLaterApplies) {
    kernel("slow_a", "2");
    run("[fake]\nslow_a = 1\n");
    machine.set_boot("22222222-2222-2222-2222-222222222222");
    EXPECT_TRUE(plan("[fake]\nslow_a = 1\n").has_drift(false));
    for (int i = 0; i < 2; ++i) {
        const auto report = run("[fake]\nslow_a = 1\n");
        EXPECT_EQ(report.exit_code, 2);
        EXPECT_NE(report.after.settings.at(0).on(Plane::live)->cannot.find("did not take effect"), std::string::npos);
    }
}

TEST_F(ApplyTest, WorkingOnItAgainBeginsANewWait) {
    kernel("slow_a", "2");
    run("[fake]\nslow_a = 1\n");
    machine.set_boot("22222222-2222-2222-2222-222222222222");
    machine.host.remove(own);
    const auto report = run("[fake]\nslow_a = 1\n");
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_EQ(record().waiting.at(0).boot_id, "22222222-2222-2222-2222-222222222222");
}

TEST_F(ApplyTest, AWaitEndsWhenTheBootBringsIt) {
    kernel("slow_a", "2");
    run("[fake]\nslow_a = 1\n");
    machine.set_boot("22222222-2222-2222-2222-222222222222");
    kernel("slow_a", "1");
    EXPECT_EQ(run("[fake]\nslow_a = 1\n").exit_code, 0);
    EXPECT_TRUE(record().waiting.empty());
    EXPECT_EQ(record().applied.size(), 2U);
}

TEST_F(ApplyTest, AWriteWithoutEffectIsNotTriedAgainInThisBoot) {
    kernel("a", "2");
    machine.performer.ignore_writes_to(fake_attribute("a"));
    auto report = run("[fake]\na = 1\n");
    EXPECT_EQ(report.exit_code, 2);
    ASSERT_EQ(record().tried.size(), 1U);
    EXPECT_EQ(record().tried[0].found, "2");
    EXPECT_EQ(report.after.settings.at(0).on(Plane::live)->cannot, "tried at 2026-11-30T12:00:00Z, the kernel holds 2");
    const auto performed = machine.performer.performed();
    report = run("[fake]\na = 1\n");
    EXPECT_EQ(report.exit_code, 2);
    EXPECT_EQ(machine.performer.performed(), performed);
    EXPECT_EQ(record().tried.size(), 1U);
    machine.set_boot("22222222-2222-2222-2222-222222222222");
    run("[fake]\na = 1\n");
    EXPECT_EQ(machine.performer.performed(), performed + 1);
}

TEST_F(ApplyTest, ASavedPlanGoesOnlyWhileItIsThePlan) {
    kernel("a", "2");
    const auto saved = plan("[fake]\na = 1\n").plan;
    ApplyOptions options;
    options.expected = &saved;
    machine.host.put_file(own, "# fake[\"z\"]\nz = 9\n");
    const auto moved = machine.apply(policy("[fake]\na = 1\n"), resources, options);
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().kind, ErrorKind::changed);
    EXPECT_NE(moved.error().what.find(own), std::string::npos) << moved.error().what;
    EXPECT_EQ(machine.performer.performed(), 0);

    machine.host.remove(own);
    EXPECT_EQ(run("[fake]\na = 1\n", options).exit_code, 0);
    const auto done = machine.apply(policy("[fake]\na = 1\n"), resources, options);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().what.find("no longer needed"), std::string::npos) << done.error().what;
}

TEST_F(ApplyTest, EntriesOfOtherPoliciesStayInTheRecord) {
    kernel("a", "2");
    kernel("b", "2");
    run("[fake]\na = 1\nb = 1\n");
    run("[fake]\na = 1\n");
    EXPECT_EQ(record().applied.size(), 4U);
}

TEST_F(ApplyTest, PruneTakesLinesOutAndForgetsThem) {
    kernel("a", "2");
    kernel("b", "2");
    run("[fake]\na = 1\nb = 1\n");
    ApplyOptions prune;
    prune.prune = true;
    EXPECT_EQ(run("[fake]\na = 1\n", prune).exit_code, 0);
    EXPECT_EQ(file(own).find("b = 1"), std::string::npos);
    EXPECT_EQ(file(fake_attribute("b")), "1\n");
    EXPECT_EQ(record().applied.size(), 2U);
    EXPECT_EQ(run("", prune).exit_code, 0);
    EXPECT_FALSE(machine.host.files().contains(own));
    EXPECT_TRUE(record().applied.empty());
}

TEST_F(ApplyTest, ABrokenRecordIsMovedAsideAndSaid) {
    kernel("a", "1");
    machine.state["applied.json"] = "{ broken";
    const auto report = run("[fake]\na = 1\n");
    EXPECT_EQ(machine.state.at("applied.json.broken"), "{ broken");
    EXPECT_EQ(record().applied.size(), 2U);
    ASSERT_FALSE(report.after.findings.empty());
    EXPECT_EQ(report.after.findings[0].code, "record-broken");
}

TEST_F(ApplyTest, WithoutAWritableJournalNothingIsDone) {
    kernel("a", "2");
    MemoryStore store(machine.state, machine.power);
    store.fail_writes_after(0);
    const Machine full{machine.host, machine.performer, store, false};
    ASSERT_FALSE(storpol::apply(policy("[fake]\na = 1\n"), resources, full, {}));
    EXPECT_EQ(machine.performer.performed(), 0);

    store.fail_writes_after(3);  // begin, intend, outcome; then the disk is full
    const auto report = storpol::apply(policy("[fake]\na = 1\n"), resources, full, {});
    ASSERT_TRUE(report) << to_text(report.error());
    EXPECT_EQ(report->exit_code, 1);
    EXPECT_EQ(report->outcomes[0].result, ActionResult::done);
    EXPECT_EQ(report->outcomes[1].result, ActionResult::failed);
    EXPECT_EQ(file(fake_attribute("a")), "2\n");
}

TEST_F(ApplyTest, AnImageTakesFilesOnly) {
    kernel("a", "2");
    machine.image = true;
    const auto report = run("[fake]\na = 1\n");
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_EQ(file(fake_attribute("a")), "2\n");
    EXPECT_TRUE(machine.host.files().contains(own));
    ASSERT_EQ(record().applied.size(), 1U);
    EXPECT_EQ(record().applied[0].of.plane, Plane::persisted);
}

}  // namespace
}  // namespace storpol
