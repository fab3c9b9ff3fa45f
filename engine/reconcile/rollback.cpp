// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/text.h"
#include "engine/reconcile/apply.h"
#include "engine/reconcile/clock.h"
#include "engine/reconcile/perform.h"
#include "engine/reconcile/record_file.h"
#include "engine/reconcile/recovery.h"
#include "engine/reconcile/remedy.h"

namespace storpol {
namespace {

using Outcome = JournaledStep::Outcome;

// A digest is shown shortened, as its first digits tell two apart.
std::string shown(const std::string& state) {
    constexpr std::size_t long_text = 60;
    return "\"" + printable(state.size() > long_text ? state.substr(0, 12) + "..." : state) + "\"";
}

std::string name_of(const JournaledStep& step) {
    return std::string(to_text(step.verb)) + " of " + printable(step.target);
}

// Whether the step left something to undo: what was undone at once, or is somebody else's, did not.
bool left_a_change(const JournaledStep& step) {
    if (step.outcome == Outcome::done) return true;
    return step.outcome == Outcome::failed && !step.after.empty() && step.after != step.before;
}

struct Candidate {
    Transaction transaction;
    std::set<std::string> undone_before;  // action ids that an interrupted or failed rollback of it has undone already
};

// The newest transaction that changed something and is not wholly rolled back. A rollback is none: rolling back twice
// goes one further back.
std::optional<Candidate> newest_to_undo(std::vector<Transaction> all) {
    std::set<int> rolled_back;
    for (const auto& transaction : all) {
        if (transaction.rolls_back != 0 && transaction.complete) rolled_back.insert(transaction.rolls_back);
    }
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
        if (at->rolls_back != 0 || rolled_back.contains(at->number)) continue;
        Candidate candidate;
        for (const auto& other : all) {
            if (other.rolls_back != at->number) continue;
            for (const auto& step : other.steps) {
                if (step.outcome == Outcome::done) candidate.undone_before.insert(step.action_id);
            }
        }
        candidate.transaction = std::move(*at);
        return candidate;
    }
    return std::nullopt;
}

class RollingBack {
  public:
    RollingBack(const Machine& machine, const std::function<bool(const Transaction&)>& confirm)
        : machine_(machine), confirm_(confirm), journal_(machine.store) {}

    Result<RollbackReport> run() {
        if (auto ready = prepare(); !ready) return tl::unexpected<Error>(ready.error());
        if (auto checked = check(); !checked) return tl::unexpected<Error>(checked.error());
        if (confirm_ && !confirm_(candidate_.transaction)) {
            report_.declined = true;
            report_.exit_code = 1;
            return std::move(report_);
        }
        if (auto undone = undo(); !undone) return tl::unexpected<Error>(undone.error());
        return std::move(report_);
    }

  private:
    Result<void> prepare() {
        if (auto locked = machine_.store.lock(); !locked) return locked;
        if (auto now = machine_.host.now()) now_ = *now;
        const auto recovered = recover(journal_, machine_.performer, now_);
        if (!recovered) return tl::unexpected<Error>(recovered.error());
        for (const auto& finding : *recovered) report_.says.push_back(finding.says);
        auto all = journal_.read_all();
        if (!all) return tl::unexpected<Error>(all.error());
        auto candidate = newest_to_undo(std::move(*all));
        if (!candidate) return fail(ErrorKind::no_such_file, "there is no transaction to roll back");
        candidate_ = std::move(*candidate);
        report_.number = candidate_.transaction.number;
        return {};
    }

    // Every target before the first change. Of two steps on one target the later one left what is there now.
    Result<void> check() {
        std::set<std::string> seen;
        auto& steps = candidate_.transaction.steps;
        for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
            if (!left_a_change(*step)) continue;
            if (!seen.insert(target_of(step->step)).second) {
                to_undo_.push_back(&*step);
                continue;
            }
            const auto now = machine_.performer.state(step->step);
            if (!now) return tl::unexpected<Error>(now.error());
            if (*now == step->before && candidate_.undone_before.contains(step->action_id)) continue;
            if (*now != step->after) {
                return fail(ErrorKind::changed,
                            name_of(*step) + " cannot be undone: apply left " + shown(step->after) + " and now it is " +
                                shown(*now),
                            step->target, "put back by hand what is wanted; nothing was changed");
            }
            to_undo_.push_back(&*step);
        }
        std::stable_partition(to_undo_.begin(), to_undo_.end(),
                              [](const auto* step) { return !is_generator(step->verb); });
        return {};
    }

    Result<void> undo() {
        auto record = read_record(machine_.store);
        Transaction head;
        head.command = "rollback";
        head.started = now_;
        if (!machine_.image) head.boot_id = boot_id_of(machine_.host);
        head.policy_digest = candidate_.transaction.policy_digest;
        head.rolls_back = candidate_.transaction.number;
        if (record) head.record_before = std::move(*record);
        const auto number = journal_.begin(head);
        if (!number) return tl::unexpected<Error>(number.error());

        JournaledPerformer performer(journal_, *number, machine_.performer);
        bool complete = true;
        for (const auto* step : to_undo_) {
            if (!undo_step(performer, *step)) complete = false;
        }
        // With a step still as apply left it, the present record is nearer to the truth than the one before.
        if (complete) {
            if (auto put_back = restore_record(); !put_back) return put_back;
        }
        report_.exit_code = complete ? 0 : 1;
        if (performer.journal_broken()) return {};
        return journal_.finish(*number, machine_.host.now().value_or(now_), complete);
    }

    bool undo_step(JournaledPerformer& performer, const JournaledStep& step) {
        if (performer.journal_broken()) {
            report_.says.push_back("did not undo " + name_of(step) + ": the journal cannot be written");
            return false;
        }
        for (const auto& back : step.undo) {
            const auto done = performer.perform({step.action_id, step.verb, step.target, back, {}});
            if (done) continue;
            report_.says.push_back("could not undo " + name_of(step) + ": " + to_text(done.error()));
            return false;
        }
        report_.says.push_back("undid " + name_of(step));
        return true;
    }

    Result<void> restore_record() {
        const auto& before = candidate_.transaction.record_before;
        if (!before) return machine_.store.remove(record_name);
        return machine_.store.replace(record_name, render_record(*before));
    }

    const Machine& machine_;
    const std::function<bool(const Transaction&)>& confirm_;
    Journal journal_;
    std::string now_;
    Candidate candidate_;
    std::vector<const JournaledStep*> to_undo_;  // newest first
    RollbackReport report_;
};

}  // namespace

Result<RollbackReport> rollback(const Machine& machine, const std::function<bool(const Transaction&)>& confirm) {
    return RollingBack(machine, confirm).run();
}

}  // namespace storpol
