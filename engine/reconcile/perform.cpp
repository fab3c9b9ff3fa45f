// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/perform.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace storpol {
namespace {

using Outcome = JournaledStep::Outcome;

// The first action that `action` needs and that was not done, said for people; empty when there is none.
std::string missing_need(const Action& action, const std::unordered_map<std::string, const ActionOutcome*>& by_id) {
    for (const auto& id : action.after) {
        const auto at = by_id.find(id);
        if (at == by_id.end()) return "needs " + id + ", which is not in the plan";
        switch (at->second->result) {
            case ActionResult::done:
                continue;
            case ActionResult::failed:
                return "needs " + id + ", which failed";
            case ActionResult::skipped:
                return "needs " + id + ", which was skipped";
            case ActionResult::refused:
                return "needs " + id + ", which was refused";
            case ActionResult::left:
                return "needs " + id + ", which is left to be done elsewhere";
        }
    }
    return {};
}

}  // namespace

std::string_view to_text(ActionResult result) {
    switch (result) {
        case ActionResult::done:
            return "done";
        case ActionResult::failed:
            return "failed";
        case ActionResult::skipped:
            return "skipped";
        case ActionResult::refused:
            return "refused";
        case ActionResult::left:
            return "left";
    }
    return "";
}

Result<void> JournaledPerformer::journaled(Result<void> written) {
    if (!written) journal_broken_ = true;
    return written;
}

Result<void> JournaledPerformer::perform(const Request& request) {
    JournaledStep step;
    step.action_id = request.action_id;
    step.verb = request.verb;
    step.target = request.target;
    step.step = request.step;
    step.undo = request.undo;
    if (step.undo.empty()) {
        auto undo = performer_.undo_of(request.step);
        if (!undo) return tl::unexpected<Error>(undo.error());
        step.undo = std::move(*undo);
    }
    auto before = performer_.state(request.step);
    if (!before) return tl::unexpected<Error>(before.error());
    step.before = std::move(*before);
    if (auto intended = journaled(journal_.intend(number_, step)); !intended) return intended;

    auto after = performer_.perform(request.step);
    if (after) {
        step.outcome = Outcome::done;
        step.after = std::move(*after);
        return journaled(journal_.finish_step(number_, step));
    }
    Error failure = after.error();
    const auto undone = undo(step, failure);
    step.error = to_text(failure) + "; " + undone;
    failure.what += "; " + undone;
    if (auto finished = journaled(journal_.finish_step(number_, step)); !finished) {
        failure.what += "; and the journal could not be written: " + finished.error().what;
    }
    return tl::unexpected<Error>(std::move(failure));
}

// Puts the state before the step back, where the step has left it. Somebody else's change is not undone.
std::string JournaledPerformer::undo(JournaledStep& step, const Error& cause) {
    performer_.clean_up(step.step);
    auto now = performer_.state(step.step);
    if (now && *now == step.before) {
        step.outcome = Outcome::undone;
        step.after = step.before;
        return "nothing was changed";
    }
    step.outcome = Outcome::failed;
    if (cause.kind == ErrorKind::changed) return "what is there now was left as it is";
    for (const auto& back : step.undo) {
        const auto done = performer_.perform(back);
        if (done) continue;
        now = performer_.state(step.step);
        if (now) step.after = *now;
        return "undoing it failed too: " + to_text(done.error());
    }
    now = performer_.state(step.step);
    if (!now) return "the state before was put back, and reading it back failed: " + to_text(now.error());
    step.after = *now;
    if (*now != step.before) return "undoing it did not bring the state before back";
    step.outcome = Outcome::undone;
    return "the state before was put back";
}

ActionOutcome decide(const Action& action, const std::vector<std::string>& allow) {
    ActionOutcome outcome{action, ActionResult::done, {}};
    if (action.when == When::by_operator || action.when == When::in_image) {
        outcome.result = ActionResult::left;
        outcome.why = action.when == When::in_image ? "left to the builder of the image" : "a person must do it";
    } else if (!action.refused.empty()) {
        outcome.result = ActionResult::refused;
        outcome.why = action.refused;
    } else if (action.risk == Risk::disruptive) {
        const auto name = std::string(to_text(action.verb)) + ":" + action.target;
        if (std::find(allow.begin(), allow.end(), name) == allow.end()) {
            outcome.result = ActionResult::refused;
            outcome.why = "it disrupts what runs: give --allow " + name + " to have it done";
        }
    }
    return outcome;
}

std::vector<ActionOutcome> perform_all(const std::vector<Action>& actions,
                                       const ApplyOptions& options,
                                       JournaledPerformer& performer) {
    std::vector<ActionOutcome> outcomes;
    outcomes.reserve(actions.size());  // by_id points into it
    std::unordered_map<std::string, const ActionOutcome*> by_id;
    for (const auto& action : actions) {
        auto outcome = decide(action, options.allow);
        if (outcome.result == ActionResult::done) {
            if (auto missing = missing_need(action, by_id); !missing.empty()) {
                outcome.result = ActionResult::skipped;
                outcome.why = std::move(missing);
            } else if (performer.journal_broken()) {
                outcome.result = ActionResult::skipped;
                outcome.why = "the journal cannot be written, and nothing is done that is not written down first";
            } else {
                if (options.progress) options.progress(action);
                const auto done = performer.perform({action.id, action.verb, action.target, action.step, action.undo});
                if (!done) {
                    outcome.result = ActionResult::failed;
                    outcome.why = to_text(done.error());
                }
            }
        }
        outcomes.push_back(std::move(outcome));
        by_id.emplace(action.id, &outcomes.back());
    }
    return outcomes;
}

}  // namespace storpol
