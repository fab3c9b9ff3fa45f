// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/host/host.h"
#include "engine/host/performer.h"
#include "engine/host/state_store.h"
#include "engine/reconcile/evaluate.h"
#include "engine/reconcile/journal.h"

// The changing half: what apply and rollback do once the plan is known. Everything goes through the Journal.
namespace storpol {

// The machine to work on, put together by engine/cli (or a test).
struct Machine {
    Host& host;
    Performer& performer;
    StateStore& store;
    bool image = false;  // --root
};

enum class ActionResult { done, failed, skipped, refused, left };
std::string_view to_text(ActionResult result);

struct ActionOutcome {
    Action action;
    ActionResult result = ActionResult::done;
    std::string why;  // of all but done: what happened and what undoing did
};

struct ApplyOptions {
    std::vector<std::string> allow;  // "VERB:TARGET" of disruptive actions
    bool prune = false;
    bool asks_passphrase = false;                    // EvaluateOptions
    std::function<bool(const Evaluation&)> confirm;  // asked once, only when there is an action to do
    std::function<void(const Action&)> progress;     // before each action; may be empty
    const Plan* expected = nullptr;                  // of a saved plan: apply goes on only if the actions are the same
};

struct ApplyReport {
    Evaluation after;                     // observed again
    std::vector<ActionOutcome> outcomes;  // in plan order
    std::vector<Finding> recovered;       // what recovery of an interrupted apply did
    bool declined = false;
    int exit_code = 0;  // DESIGN "Commands": 0 holds or waits; 2 refused or still different; 1 failed step, declined
};

// Lock, recover, plan, ask, act, observe again, record. An Error (lock held, state not writable, saved plan out of
// date, policy contradictions) means that nothing was changed beyond recovery.
Result<ApplyReport> apply(const Policy& policy,
                          const Resources& resources,
                          const Machine& machine,
                          const ApplyOptions& options);

// Undoes the newest transaction that is not rolled back. Checks every target first; one that is no longer as apply left
// it is an Error (ErrorKind::changed) naming it with both states, and nothing is changed.
struct RollbackReport {
    int number = 0;                 // of the transaction undone
    std::vector<std::string> says;  // a sentence per step undone
    bool declined = false;
    int exit_code = 0;
};

Result<RollbackReport> rollback(const Machine& machine, const std::function<bool(const Transaction&)>& confirm);

// The last-applied record; an empty one when there never was an apply. ErrorKind::denied or invalid when it cannot be
// read.
Result<Record> read_record(StateStore& store);

// An interrupted apply, for plan and drift to mention; none when the newest transaction is whole or cannot be read.
std::optional<Finding> interrupted_apply(StateStore& store);

}  // namespace storpol
