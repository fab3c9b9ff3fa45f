// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/recovery.h"

#include <gtest/gtest.h>

#include "engine/host/state_store.h"

// Steps whose state is more than the value they write: flags of a header or mapping, tables, programs.
namespace storpol {
namespace {

using Outcome = JournaledStep::Outcome;

// A machine on which every step's state is what the test says.
class FixedPerformer final : public Performer {
  public:
    explicit FixedPerformer(Result<std::string> state) : state_(std::move(state)) {}

    Result<std::string> state(const Step&) override {
        EXPECT_EQ(cleaned, 1) << "a suspended device can answer only once it is resumed";
        return state_;
    }

    Result<std::vector<Step>> undo_of(const Step&) override { return std::vector<Step>{}; }

    Result<std::string> perform(const Step&) override {
        ADD_FAILURE() << "recovery performs nothing";
        return std::string();
    }

    void clean_up(const Step&) override { ++cleaned; }

    int cleaned = 0;

  private:
    Result<std::string> state_;
};

// What recovery makes of `step`, interrupted, with `before` before it and `now` found.
Outcome outcome_of(const Step& step, const std::string& before, const Result<std::string>& now) {
    const auto store = make_memory_state_store();
    Journal journal(*store);
    Transaction head;
    head.command = "apply";
    head.started = "2026-11-30T11:59:00Z";
    const auto number = journal.begin(head);
    JournaledStep one;
    one.action_id = "a1";
    one.target = target_of(step);
    one.step = step;
    one.before = before;
    EXPECT_TRUE(number && journal.intend(*number, one));
    FixedPerformer performer(now);
    const auto findings = recover(journal, performer, "2026-11-30T12:00:00Z");
    EXPECT_TRUE(findings && findings->size() == 1U);
    EXPECT_EQ(performer.cleaned, 1);
    return journal.newest().value()->steps.back().outcome;
}

TEST(RecoveryOfDevices, FlagsAreJudgedWithThoseThatStay) {
    const SetLuksFlags header{"data", "/dev/sda2", "uuid", {"allow-discards"}, {"same-cpu-crypt"}};
    const RefreshMapping mapping{
        "data", "CRYPT-LUKS2-x-data", {"allow-discards"}, {"same-cpu-crypt"}, KeyFile{"/key", 0, 0}};
    for (const Step& step : {Step(header), Step(mapping)}) {
        const std::string before = "no-read-workqueue,same-cpu-crypt";
        EXPECT_EQ(outcome_of(step, before, before), Outcome::undone);
        EXPECT_EQ(outcome_of(step, before, "allow-discards,no-read-workqueue"), Outcome::done);
        EXPECT_EQ(outcome_of(step, before, "allow-discards"), Outcome::failed);
        EXPECT_EQ(outcome_of(step, "", "allow-discards"), Outcome::done);
    }
}

TEST(RecoveryOfDevices, AReloadIsDoneWhereTheLimitMoved) {
    const ReloadTable step{"vg-root", "LVM-x"};
    EXPECT_EQ(outcome_of(step, "0", "0"), Outcome::undone);
    EXPECT_EQ(outcome_of(step, "0", "2147483136"), Outcome::done);
    EXPECT_EQ(outcome_of(step, "0", fail(ErrorKind::no_such_file, "gone")), Outcome::failed);
}

TEST(RecoveryOfDevices, AThinPoolIsInOneOfItsStates) {
    const ChangeThinPool step{"vg0/pool", "passdown"};
    EXPECT_EQ(outcome_of(step, "nopassdown", "passdown"), Outcome::done);
    EXPECT_EQ(outcome_of(step, "nopassdown", "nopassdown"), Outcome::undone);
    EXPECT_EQ(outcome_of(step, "nopassdown", "ignore"), Outcome::failed);
}

TEST(RecoveryOfDevices, AZramDeviceIsAsItWasOrAsItWasToBe) {
    SetUpZram step;
    step.device = "/dev/zram0";
    step.size = 65536;
    step.algorithm = "zstd";
    step.priority = 100;
    const std::string before = "size=131072 algorithm=lz4 limit=0 swap on priority=5";
    EXPECT_EQ(outcome_of(step, before, before), Outcome::undone);
    EXPECT_EQ(outcome_of(step, before, "size=65536 algorithm=zstd limit=0 swap on priority=100"), Outcome::done);
    EXPECT_EQ(outcome_of(step, before, "not set up"), Outcome::failed);
    EXPECT_EQ(outcome_of(step, before, "size=131072 algorithm=lz4 limit=0 swap off"), Outcome::failed);
    step.unit = "systemd-zram-setup@zram0.service";  // which rounds as it likes
    EXPECT_EQ(outcome_of(step, before, "size=65536 algorithm=zstd limit=0 swap on priority=100"), Outcome::done);
}

TEST(RecoveryOfDevices, ASwapAreaIsInUseOrNot) {
    const UseSwap step{"/dev/zram0", false, 7, ""};
    EXPECT_EQ(outcome_of(step, "on priority=5", "on priority=7"), Outcome::done);
    EXPECT_EQ(outcome_of(step, "on priority=5", "on priority=5"), Outcome::undone);
    EXPECT_EQ(outcome_of(step, "on priority=5", "off"), Outcome::failed);
    EXPECT_EQ(outcome_of(UseSwap{"/dev/zram0", true, -1, ""}, "on", "off"), Outcome::done);
}

TEST(RecoveryOfDevices, AGeneratorIsRunAgainByTheNextPlan) {
    EXPECT_EQ(outcome_of(RunGenerator{"/usr/sbin/update-grub", {}, "grub"}, "generated", "generated"), Outcome::undone);
}

}  // namespace
}  // namespace storpol
