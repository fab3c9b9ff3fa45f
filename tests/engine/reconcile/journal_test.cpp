// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/journal.h"

#include <gtest/gtest.h>

#include "engine/reconcile/apply.h"
#include "tests/support/memory_machine.h"

namespace storpol {
namespace {

using Outcome = JournaledStep::Outcome;

struct JournalTest : testing::Test {
    StateFiles files;
    Power power;
    MemoryStore store{files, power};
    Journal journal{store};

    static Transaction head(const std::string& started = "2026-11-30T12:00:00Z") {
        Transaction transaction;
        transaction.command = "apply";
        transaction.started = started;
        transaction.boot_id = "boot";
        transaction.policy_digest = "digest";
        return transaction;
    }

    static JournaledStep step() {
        JournaledStep step;
        step.action_id = "a1";
        step.verb = Verb::write;
        step.target = "/proc/sys/vm/swappiness";
        step.step = WriteAttribute{"/proc/sys/vm/swappiness", "150"};
        step.undo = {WriteAttribute{"/proc/sys/vm/swappiness", "60"}};
        step.before = "60";
        return step;
    }
};

TEST_F(JournalTest, WhatIsWrittenIsReadBack) {
    auto transaction = head();
    Record record;
    record.policy_digest = "old";
    record.applied = {{{"sysctl[\"vm.swappiness\"]", Plane::live}, {}, Is{std::int64_t{60}}, "60"}};
    transaction.record_before = record;
    ASSERT_EQ(journal.begin(transaction).value(), 1);
    auto one = step();
    ASSERT_TRUE(journal.intend(1, one));
    one.outcome = Outcome::done;
    one.after = "150";
    ASSERT_TRUE(journal.finish_step(1, one));
    ASSERT_TRUE(journal.finish(1, "2026-11-30T12:00:01Z", true));

    const auto newest = journal.newest();
    ASSERT_TRUE(newest && *newest);
    EXPECT_EQ((*newest)->command, "apply");
    EXPECT_EQ((*newest)->finished, "2026-11-30T12:00:01Z");
    EXPECT_TRUE((*newest)->complete);
    EXPECT_EQ((*newest)->record_before, record);
    ASSERT_EQ((*newest)->steps.size(), 1U);
    EXPECT_EQ((*newest)->steps[0].step, one.step);
    EXPECT_EQ((*newest)->steps[0].undo, one.undo);
    EXPECT_EQ((*newest)->steps[0].outcome, Outcome::done);
    EXPECT_EQ((*newest)->steps[0].after, "150");
}

TEST_F(JournalTest, BytesThatAreNotTextSurvive) {
    ASSERT_TRUE(journal.begin(head()));
    auto one = step();
    one.step = ReplaceFile{"/etc/a\nb", "absent", std::string("\xff\x00\\x41\n", 7), 0600};
    one.before = std::string("\x01\"", 2);
    ASSERT_TRUE(journal.intend(1, one));
    const auto all = journal.read_all();
    ASSERT_TRUE(all) << to_text(all.error());
    EXPECT_EQ(all->at(0).steps.at(0).step, one.step);
    EXPECT_EQ(all->at(0).steps.at(0).before, one.before);
    EXPECT_EQ(all->at(0).steps.at(0).outcome, Outcome::in_flight);
}

TEST_F(JournalTest, NumbersRiseAlsoPastFilesThatWereTakenOut) {
    files["journal/000041.jsonl"] = "";
    files["journal/notes.txt"] = "mine";
    EXPECT_EQ(journal.begin(head()).value(), 42);
    EXPECT_EQ(journal.begin(head()).value(), 43);
}

TEST_F(JournalTest, ATornLastLineIsLeftOutAndMended) {
    ASSERT_TRUE(journal.begin(head()));
    ASSERT_TRUE(journal.intend(1, step()));
    const auto whole = files["journal/000001.jsonl"];
    files["journal/000001.jsonl"] = whole + R"({"event": "step", "outc)";
    const auto newest = journal.newest();
    ASSERT_TRUE(newest && *newest);
    EXPECT_EQ((*newest)->steps.at(0).outcome, Outcome::in_flight);
    ASSERT_TRUE(journal.mend(1));
    EXPECT_EQ(files["journal/000001.jsonl"], whole);
}

TEST_F(JournalTest, AFileWhoseFirstLineIsTornIsNoTransaction) {
    ASSERT_TRUE(journal.begin(head()));
    files["journal/000002.jsonl"] = R"({"event": "beg)";
    files["journal/000003.jsonl"] = "";
    EXPECT_EQ((*journal.newest())->number, 1);
    EXPECT_EQ(journal.read_all()->size(), 1U);
}

TEST_F(JournalTest, ABrokenFileIsAnErrorThatNamesItsLine) {
    for (const std::string broken :
         {"garbage\n", "[]\n", "{}\n", "{\"event\": \"finish\", \"finished\": \"x\"}\n", "{\"event\": \"begin\"}\n",
          "{\"event\": \"begin\", \"command\": \"apply\"}\n{\"event\": \"step\", \"outcome\": \"done\"}\n",
          "{\"event\": \"begin\", \"command\": \"apply\"}\n{\"event\": \"intend\", \"verb\": \"dance\", \"step\": "
          "{}}\n",
          "{\"event\": \"begin\", \"command\": 3}\n", "\xff\xfe\n",
          "{\"event\": \"begin\", \"command\": \"apply\"}\n\n"}) {
        files["journal/000007.jsonl"] = broken;
        const auto all = journal.read_all();
        ASSERT_FALSE(all) << broken;
        EXPECT_EQ(all.error().kind, ErrorKind::invalid) << broken;
        EXPECT_NE(all.error().where.find("000007.jsonl:"), std::string::npos) << to_text(all.error());
    }
}

TEST_F(JournalTest, TheLastFiftyStayHoweverOldTheyAre) {
    for (int i = 0; i < 60; ++i) {
        const auto number = journal.begin(head("2020-01-01T00:00:00Z"));
        ASSERT_TRUE(journal.finish(*number, "2020-01-01T00:00:01Z", true));
    }
    journal.expire("2026-11-30T12:00:00Z");
    EXPECT_EQ(files.size(), 50U);
    EXPECT_TRUE(files.contains("journal/000011.jsonl"));
}

TEST_F(JournalTest, NinetyDaysStayHoweverManyTheyAre) {
    for (int i = 0; i < 60; ++i) {
        const auto number = journal.begin(head("2026-09-01T00:00:00Z"));
        ASSERT_TRUE(journal.finish(*number, "2026-09-01T00:00:01Z", true));
    }
    journal.expire("2026-11-30T12:00:00Z");  // the ninetieth day after
    EXPECT_EQ(files.size(), 60U);
    journal.expire("2026-12-01T00:00:00Z");
    EXPECT_EQ(files.size(), 50U);
}

TEST_F(JournalTest, AnUnfinishedOrUnreadableTransactionStays) {
    for (int i = 0; i < 60; ++i) {
        const auto number = journal.begin(head("2020-01-01T00:00:00Z"));
        if (i == 3) continue;
        ASSERT_TRUE(journal.finish(*number, "2020-01-01T00:00:01Z", true));
    }
    files["journal/000002.jsonl"] = "garbage\n";
    journal.expire("2026-11-30T12:00:00Z");
    EXPECT_EQ(files.size(), 52U);
    EXPECT_TRUE(files.contains("journal/000004.jsonl"));
    EXPECT_TRUE(files.contains("journal/000002.jsonl"));
}

TEST_F(JournalTest, AnInterruptedApplyIsTold) {
    EXPECT_FALSE(interrupted_apply(store));
    ASSERT_TRUE(journal.begin(head()));
    ASSERT_TRUE(journal.intend(1, step()));
    const auto told = interrupted_apply(store);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->code, "interrupted-apply");
    EXPECT_NE(told->says.find("write of /proc/sys/vm/swappiness"), std::string::npos) << told->says;
    ASSERT_TRUE(journal.finish(1, "2026-11-30T12:00:01Z", true));
    EXPECT_FALSE(interrupted_apply(store));
}

}  // namespace
}  // namespace storpol
