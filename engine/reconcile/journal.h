// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/plan.h"
#include "engine/model/record.h"

namespace storpol {

class StateStore;

// One apply or rollback as it was written down: journal/NNNNNN.jsonl, a line per event, each durable before what it
// announces.
struct JournaledStep {
    std::string action_id;
    Verb verb = Verb::write;
    std::string target;
    Step step;
    std::vector<Step> undo;  // puts the state before the step back
    std::string before;      // Performer::state before
    std::string after;       // Performer::state after; empty while in flight
    // failed: it stopped somewhere between, and what is there now is `after` (empty: not known, or somebody else's).
    // undone: the state is `before` again, or was never left.
    enum class Outcome { in_flight, done, failed, undone } outcome = Outcome::in_flight;
    std::string error;  // of a failed or undone one: the cause, and what undoing did
};

struct Transaction {
    int number = 0;
    std::string command;   // "apply", "rollback", "recovery"
    std::string started;   // RFC 3339
    std::string finished;  // empty: interrupted
    std::string boot_id;
    std::string policy_digest;
    bool complete = false;  // it came to its end with every step done; a rollback that is not can be taken up again
    int rolls_back = 0;     // of a rollback: the transaction it undid
    std::optional<Record> record_before;
    std::vector<JournaledStep> steps;
};

class Journal {
  public:
    explicit Journal(StateStore& store) : store_(store) {}

    // All transactions, oldest first; a file that cannot be parsed is an Error naming it, a torn last line is not. A
    // file whose first line is torn announces nothing, so nothing was done: it is no transaction.
    Result<std::vector<Transaction>> read_all() const;
    Result<std::optional<Transaction>> newest() const;  // reads that one file alone

    // Writing. Each call is durable when it answers. begin() answers a number above all that are there; a step is
    // finished before the next one is intended.
    Result<int> begin(const Transaction& head);
    Result<void> intend(int number, const JournaledStep& step);
    Result<void> finish_step(int number, const JournaledStep& step);  // its outcome, `after`, error
    Result<void> finish(int number, const std::string& time, bool complete);
    // Takes a torn last line away, so that what is appended then begins a line. For recovery, before it writes.
    Result<void> mend(int number);
    // Drops what is older than 90 days beyond the last 50. An unfinished transaction always stays.
    void expire(const std::string& now);

  private:
    StateStore& store_;
};

}  // namespace storpol
