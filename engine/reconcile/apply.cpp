// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/apply.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/text.h"
#include "engine/reconcile/clock.h"
#include "engine/reconcile/leftovers.h"
#include "engine/reconcile/perform.h"
#include "engine/reconcile/record_file.h"
#include "engine/reconcile/recovery.h"

namespace storpol {
namespace {

// What the two plans differ in at one action; empty for none. Texts for people may differ, as guards name present
// numbers.
std::string difference_between(const Action& now, const Action& saved) {
    if (now.verb != saved.verb || now.target != saved.target) {
        return "it was " + std::string(to_text(saved.verb)) + " of " + printable(saved.target) + " and is now " +
               std::string(to_text(now.verb)) + " of " + printable(now.target);
    }
    if (now.step != saved.step) return "its step is no longer the same";
    if (now.undo != saved.undo) return "what undoes it is no longer the same";
    if (now.when != saved.when)
        return "it shows " + std::string(to_text(now.when)) + ", no longer " + std::string(to_text(saved.when));
    if (now.risk != saved.risk) return "its risk is now " + std::string(to_text(now.risk));
    if (now.after != saved.after) return "it needs other actions first";
    if (now.serves != saved.serves) return "it serves other settings";
    if (now.refused.empty() != saved.refused.empty()) {
        return now.refused.empty() ? "it is no longer refused" : "it is now refused: " + printable(now.refused);
    }
    return {};
}

// Names the first thing that moved since the plan was saved.
Result<void> check_saved(const Plan& now, const Plan& saved) {
    const auto moved = [](const Action& action, const std::string& what) {
        return fail(ErrorKind::changed,
                    "the saved plan no longer holds: " + std::string(to_text(action.verb)) + " of " +
                        printable(action.target) + ": " + what,
                    {}, "make and review a new plan");
    };
    const auto common = std::min(now.actions.size(), saved.actions.size());
    for (std::size_t i = 0; i < common; ++i) {
        const auto what = difference_between(now.actions[i], saved.actions[i]);
        if (!what.empty()) return moved(saved.actions[i], what);
    }
    if (now.actions.size() > common) return moved(now.actions[common], "it is new");
    if (saved.actions.size() > common) return moved(saved.actions[common], "it is no longer needed");
    return {};
}

// One run of apply, in the order in which its functions stand.
class Applying {
  public:
    Applying(const Policy& policy, const Resources& resources, const Machine& machine, const ApplyOptions& options)
        : policy_(policy), resources_(resources), machine_(machine), options_(options), journal_(machine.store) {}

    Result<ApplyReport> run() {
        if (auto ready = prepare(); !ready) return tl::unexpected<Error>(ready.error());
        if (auto planned = plan(); !planned) return tl::unexpected<Error>(planned.error());
        const bool anything_to_do = std::any_of(
            plan_.actions.begin(), plan_.actions.end(),
            [this](const Action& action) { return decide(action, options_.allow).result == ActionResult::done; });
        if (anything_to_do) {
            if (options_.confirm && !options_.confirm(report_.after)) {
                report_.declined = true;
                report_.exit_code = 1;
                return std::move(report_);
            }
            if (auto acted = act(); !acted) return tl::unexpected<Error>(acted.error());
        } else {
            for (const auto& action : plan_.actions) report_.outcomes.push_back(decide(action, options_.allow));
        }
        if (auto recorded = observe_and_record(); !recorded) return tl::unexpected<Error>(recorded.error());
        report_.after.findings.insert(report_.after.findings.begin(), early_findings_.begin(), early_findings_.end());
        report_.exit_code = exit_code();
        return std::move(report_);
    }

  private:
    Result<void> prepare() {
        if (auto locked = machine_.store.lock(); !locked) return locked;
        if (auto now = machine_.host.now()) now_ = *now;
        if (!machine_.image) boot_id_ = boot_id_of(machine_.host);
        auto recovered = recover(journal_, machine_.performer, now_);
        if (!recovered) return tl::unexpected<Error>(recovered.error());
        report_.recovered = std::move(*recovered);
        auto opened = open_record(machine_.store);
        if (!opened) return tl::unexpected<Error>(opened.error());
        record_ = std::move(opened->record);
        if (opened->finding) early_findings_.push_back(std::move(*opened->finding));
        return {};
    }

    Evaluation look(const Record* record) {
        EvaluateOptions options;
        options.image = machine_.image;
        options.prune = options_.prune;
        options.asks_passphrase = options_.asks_passphrase;
        options.record = record;
        return evaluate(policy_, resources_, *picture_, options);
    }

    Result<void> plan() {
        picture_.emplace(machine_.host);
        report_.after = look(record_ ? &*record_ : nullptr);
        if (!report_.after.errors.empty()) {
            const auto& first = report_.after.errors.front();
            return fail(ErrorKind::invalid, "the policy contradicts itself: " + first.says, to_text(first.where),
                        first.fix);
        }
        plan_ = report_.after.plan;
        if (options_.prune) forgotten_ = left_by_policy();
        if (options_.expected != nullptr) return check_saved(plan_, *options_.expected);
        return {};
    }

    // The addresses whose lines --prune takes out, as long as they are there to be seen.
    std::set<std::string> left_by_policy() {
        std::set<std::string> wanted;
        for (const auto& state : report_.after.settings) {
            wanted.insert(state.setting.address);
            if (!state.setting.own_address.empty()) wanted.insert(state.setting.own_address);
        }
        return addresses_left(resources_, wanted, *picture_);
    }

    Result<void> act() {
        Transaction head;
        head.command = "apply";
        head.started = now_;
        head.boot_id = boot_id_;
        head.policy_digest = policy_.digest();
        head.record_before = record_;
        const auto number = journal_.begin(head);
        if (!number) return tl::unexpected<Error>(number.error());
        JournaledPerformer performer(journal_, *number, machine_.performer);
        report_.outcomes = perform_all(plan_.actions, options_, performer);
        acted_in_ = *number;
        journal_broken_ = performer.journal_broken();
        return {};
    }

    // A new Picture, as the machine is another one now. The record is made from it, and says what waits from here on.
    Result<void> observe_and_record() {
        if (acted_in_ != 0) picture_.emplace(machine_.host);
        std::optional<Record> old = record_;
        if (old) old = without_renewed_waits(*old, report_.outcomes, boot_id_);
        if (acted_in_ != 0) report_.after = look(old ? &*old : nullptr);
        const auto record = next_record(
            {old ? &*old : nullptr, report_.after, report_.outcomes, pruned(), policy_.digest(), now_, boot_id_});
        if (!record_ || !says_the_same(record, *record_)) {
            if (auto written = machine_.store.replace(record_name, render_record(record)); !written) {
                if (acted_in_ == 0) return written;
                not_written(written.error());
            }
            report_.after = look(&record);
        }
        if (acted_in_ == 0) return {};
        const bool complete =
            std::all_of(report_.outcomes.begin(), report_.outcomes.end(),
                        [](const ActionOutcome& outcome) { return outcome.result != ActionResult::failed; });
        if (journal_broken_) return {};  // said by the actions that failed; the next apply ends the transaction
        const auto finished = journal_.finish(acted_in_, machine_.host.now().value_or(now_), complete);
        if (!finished) {
            not_written(finished.error());
        } else {
            journal_.expire(now_);
        }
        return {};
    }

    // Things were done, so this is part of the report and not its end; the next apply makes up for it.
    void not_written(const Error& error) {
        state_not_written_ = true;
        early_findings_.push_back({"state-not-written", Severity::warning,
                                   "what this apply did could not be recorded: " + to_text(error), error.where});
    }

    // What was to be forgotten and whose lines are gone indeed.
    std::set<std::string> pruned() {
        if (forgotten_.empty()) return {};
        std::set<std::string> gone;
        const auto left = left_by_policy();
        std::set_difference(forgotten_.begin(), forgotten_.end(), left.begin(), left.end(),
                            std::inserter(gone, gone.end()));
        return gone;
    }

    int exit_code() const {
        const auto any = [this](ActionResult result) {
            return std::any_of(report_.outcomes.begin(), report_.outcomes.end(),
                               [result](const ActionOutcome& outcome) { return outcome.result == result; });
        };
        if (any(ActionResult::failed) || state_not_written_) return 1;
        if (any(ActionResult::refused) || any(ActionResult::skipped)) return 2;
        return report_.after.has_drift(false) ? 2 : 0;
    }

    const Policy& policy_;
    const Resources& resources_;
    const Machine& machine_;
    const ApplyOptions& options_;
    Journal journal_;
    std::string now_;
    std::string boot_id_;
    std::optional<Record> record_;
    std::optional<Picture> picture_;
    std::vector<Finding> early_findings_;
    Plan plan_;
    std::set<std::string> forgotten_;
    int acted_in_ = 0;  // the transaction; 0: nothing was to be done
    bool journal_broken_ = false;
    bool state_not_written_ = false;
    ApplyReport report_;
};

}  // namespace

Result<ApplyReport> apply(const Policy& policy,
                          const Resources& resources,
                          const Machine& machine,
                          const ApplyOptions& options) {
    return Applying(policy, resources, machine, options).run();
}

}  // namespace storpol
