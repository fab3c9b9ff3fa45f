// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/reconcile/apply.h"
#include "engine/reconcile/journal.h"

namespace storpol {

// Steps done under the journal's eye: intended durably with what undoes them, performed, and their outcome written
// down. A step that fails is undone at once.
class JournaledPerformer {
  public:
    // `number` is the open transaction's.
    JournaledPerformer(Journal& journal, int number, Performer& performer)
        : journal_(journal), number_(number), performer_(performer) {}

    // What is to be done; `undo` empty: what the performer says puts the present state back.
    struct Request {
        std::string action_id;
        Verb verb = Verb::write;
        std::string target;
        const Step& step;
        const std::vector<Step>& undo;
    };

    // The Error says the cause and what undoing did.
    Result<void> perform(const Request& request);

    // The journal cannot be written any more: nothing further may be done.
    bool journal_broken() const { return journal_broken_; }

  private:
    Result<void> journaled(Result<void> written);
    std::string undo(JournaledStep& step, const Error& cause);

    Journal& journal_;
    int number_;
    Performer& performer_;
    bool journal_broken_ = false;
};

// What apply does with an action before anything is done: refused by its guard or for want of --allow, left to somebody
// else, or (done) to be performed.
ActionOutcome decide(const Action& action, const std::vector<std::string>& allow);

// Performs what decide() leaves to be done, in plan order; what needs an action that was not done is skipped.
std::vector<ActionOutcome> perform_all(const std::vector<Action>& actions,
                                       const ApplyOptions& options,
                                       JournaledPerformer& performer);

}  // namespace storpol
