// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "engine/reconcile/apply.h"
#include "engine/reconcile/journal.h"
#include "engine/reconcile/recovery.h"
#include "tests/support/fake_resource.h"
#include "tests/support/memory_machine.h"

namespace storpol {
namespace {

struct RollbackTest : testing::Test {
    MemoryMachine machine;
    Resources resources = fake_resources();
    const std::string own = std::string(fake_own_file);

    RollbackTest() {
        kernel("a", "2");
        kernel("b", "2");
    }

    void kernel(const std::string& name, const std::string& value) {
        machine.host.put_file(fake_attribute(name), value + "\n");
    }

    void apply(const std::string& toml) {
        ASSERT_TRUE(machine.apply(policy_of("version = 1\n" + toml, resources), resources));
    }

    std::vector<Transaction> journal() {
        MemoryStore store(machine.state, machine.power);
        return Journal(store).read_all().value();
    }
};

TEST_F(RollbackTest, EverythingIsAsBefore) {
    const auto before = machine.host.files();
    apply("[fake]\na = 1\nb = 3\n");
    ASSERT_NE(machine.host.files(), before);
    const auto report = machine.rollback();
    ASSERT_TRUE(report) << to_text(report.error());
    EXPECT_EQ(report->number, 1);
    EXPECT_EQ(report->exit_code, 0);
    EXPECT_EQ(report->says.size(), 3U);
    EXPECT_EQ(machine.host.files(), before);
    EXPECT_FALSE(machine.state.contains("applied.json"));
    EXPECT_EQ(journal().back().rolls_back, 1);
}

TEST_F(RollbackTest, TheRecordIsPutBack) {
    apply("[fake]\na = 1\n");
    const auto record = machine.state.at("applied.json");
    apply("[fake]\na = 5\n");
    ASSERT_TRUE(machine.rollback());
    EXPECT_EQ(machine.state.at("applied.json"), record);
}

TEST_F(RollbackTest, RollingBackTwiceGoesOneFurtherBack) {
    const auto before = machine.host.files();
    apply("[fake]\na = 1\n");
    const auto between = machine.host.files();
    apply("[fake]\na = 5\n");
    EXPECT_EQ(machine.rollback()->number, 2);
    EXPECT_EQ(machine.host.files(), between);
    EXPECT_EQ(machine.rollback()->number, 1);
    EXPECT_EQ(machine.host.files(), before);
    const auto none = machine.rollback();
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::no_such_file);
}

TEST_F(RollbackTest, ATargetThatMovedSinceStopsItBeforeTheFirstChange) {
    apply("[fake]\na = 1\nb = 3\n");
    kernel("a", "77");
    const auto files = machine.host.files();
    const auto performed = machine.performer.performed();
    const auto report = machine.rollback();
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, ErrorKind::changed);
    EXPECT_EQ(report.error().where, fake_attribute("a"));
    EXPECT_NE(report.error().what.find("\"1\""), std::string::npos) << report.error().what;
    EXPECT_NE(report.error().what.find("\"77\""), std::string::npos) << report.error().what;
    EXPECT_EQ(machine.host.files(), files);
    EXPECT_EQ(machine.performer.performed(), performed);
}

TEST_F(RollbackTest, DecliningChangesNothing) {
    apply("[fake]\na = 1\n");
    const auto state = machine.state;
    MemoryStore store(machine.state, machine.power);
    const Machine all{machine.host, machine.performer, store, false};
    const auto report = storpol::rollback(all, [](const Transaction& transaction) {
        EXPECT_EQ(transaction.number, 1);
        return false;
    });
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->declined);
    EXPECT_EQ(report->exit_code, 1);
    EXPECT_EQ(machine.state, state);
}

TEST_F(RollbackTest, AFailedStepIsSaidAndTheRestIsTakenUpNextTime) {
    const auto before = machine.host.files();
    apply("[fake]\na = 1\nb = 3\n");
    machine.performer.fail_at(2);
    auto report = machine.rollback();
    ASSERT_TRUE(report) << to_text(report.error());
    EXPECT_EQ(report->exit_code, 1);
    EXPECT_TRUE(machine.state.contains("applied.json"));
    report = machine.rollback();
    ASSERT_TRUE(report) << to_text(report.error());
    EXPECT_EQ(report->number, 1);
    EXPECT_EQ(report->exit_code, 0);
    EXPECT_EQ(machine.host.files(), before);
}

TEST_F(RollbackTest, AnInterruptedOneIsTakenUpNextTime) {
    const auto before = machine.host.files();
    for (int cut = 1;; ++cut) {
        MemoryMachine fresh;
        for (const auto& [path, bytes] : before) fresh.host.put_file(path, bytes);
        ASSERT_TRUE(fresh.apply(policy_of("version = 1\n[fake]\na = 1\nb = 3\n", resources), resources));
        fresh.power.cut_at(cut);
        bool was_cut = false;
        try {
            ASSERT_TRUE(fresh.rollback());
        } catch (const PowerCut&) {
            was_cut = true;
        }
        fresh.power.cut_at(0);
        const auto again = fresh.rollback();
        // A cut at the very end leaves nothing to take up.
        if (!again) {
            ASSERT_EQ(again.error().kind, ErrorKind::no_such_file) << "cut " << cut << ": " << to_text(again.error());
        }
        EXPECT_EQ(fresh.host.files(), before) << "cut " << cut;
        EXPECT_FALSE(fresh.state.contains("applied.json")) << "cut " << cut;
        if (!was_cut) break;
    }
}

struct RecoveryTest : RollbackTest {
    MemoryStore store{machine.state, machine.power};
    Journal written{store};

    // A transaction that was interrupted in this step.
    void interrupt_in(const Step& step, const std::string& before) {
        Transaction head;
        head.command = "apply";
        head.started = "2026-11-30T11:59:00Z";
        JournaledStep one;
        one.action_id = "a1";
        one.target = target_of(step);
        one.step = step;
        one.before = before;
        const auto number = written.begin(head);
        ASSERT_TRUE(number);
        ASSERT_TRUE(written.intend(*number, one));
    }

    std::vector<Finding> recover_now() { return recover(written, machine.performer, "2026-11-30T12:00:00Z").value(); }

    JournaledStep last() { return journal().back().steps.back(); }
};

TEST_F(RecoveryTest, AWholeTransactionNeedsNone) {
    EXPECT_TRUE(recover_now().empty());
    apply("[fake]\na = 1\n");
    EXPECT_TRUE(recover_now().empty());
}

TEST_F(RecoveryTest, AStepThatNeverHappenedIsUndone) {
    interrupt_in(WriteAttribute{fake_attribute("a"), "1"}, "2");
    const auto findings = recover_now();
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].code, "recovered");
    EXPECT_EQ(last().outcome, JournaledStep::Outcome::undone);
    EXPECT_FALSE(journal().back().finished.empty());
    EXPECT_EQ(machine.performer.cleaned().size(), 1U);
    EXPECT_TRUE(recover_now().empty());
}

TEST_F(RecoveryTest, AStepThatHappenedIsDone) {
    kernel("a", "1");
    interrupt_in(WriteAttribute{fake_attribute("a"), "1"}, "2");
    recover_now();
    EXPECT_EQ(last().outcome, JournaledStep::Outcome::done);
    EXPECT_EQ(last().after, "1");
    machine.host.put_file("/etc/x", "new");
    interrupt_in(ReplaceFile{"/etc/x", "absent", "new", 0644}, "absent");
    recover_now();
    EXPECT_EQ(last().outcome, JournaledStep::Outcome::done);
    interrupt_in(DeleteFile{"/etc/gone", "digest"}, "digest");
    recover_now();
    EXPECT_EQ(last().outcome, JournaledStep::Outcome::done);
}

TEST_F(RecoveryTest, WhatSomebodyElseDidStaysAndIsSaid) {
    kernel("a", "77");
    interrupt_in(WriteAttribute{fake_attribute("a"), "1"}, "2");
    const auto findings = recover_now();
    EXPECT_NE(findings.at(0).says.find("stays as it is"), std::string::npos) << findings[0].says;
    EXPECT_EQ(last().outcome, JournaledStep::Outcome::failed);
    EXPECT_EQ(machine.host.files().at(fake_attribute("a")), "77\n");
}

TEST_F(RecoveryTest, AThingThatIsGoneDoesNotStopLaterApplies) {
    interrupt_in(WriteAttribute{"/sys/block/gone/queue/scheduler", "bfq"}, "none");
    EXPECT_EQ(recover_now().size(), 1U);
    EXPECT_TRUE(recover_now().empty());
}

TEST_F(RecoveryTest, ApplySaysWhatItRecovered) {
    interrupt_in(WriteAttribute{fake_attribute("a"), "1"}, "2");
    const auto report = machine.apply(policy_of("version = 1\n[fake]\na = 1\n", resources), resources);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->recovered.size(), 1U);
    EXPECT_EQ(report->exit_code, 0);
}

}  // namespace
}  // namespace storpol
