// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/recovery.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/state_store.h"
#include "engine/host/zram_state.h"
#include "engine/reconcile/apply.h"

namespace storpol {
namespace {

using Outcome = JournaledStep::Outcome;

// "allow-discards,same-cpu-crypt" with a step's words put in and taken out, sorted as Performer::state has them.
template <class ChangesFlags>
std::string flags_after(const ChangesFlags& step, const std::string& before) {
    std::set<std::string> flags;
    for (const auto word : split(before, ','))
        if (!word.empty()) flags.emplace(word);
    for (const auto& word : step.take_out) flags.erase(word);
    flags.insert(step.put_in.begin(), step.put_in.end());
    return join(std::vector<std::string>(flags.begin(), flags.end()), ",");
}

// What Performer::state answers after the step; none where only doing it can tell.
std::optional<std::string> state_after(const Step& step, const std::string& before) {
    if (const auto* replace = std::get_if<ReplaceFile>(&step)) return digest_of(replace->bytes);
    if (std::holds_alternative<DeleteFile>(step)) return std::string(no_file_digest);
    if (const auto* write = std::get_if<WriteAttribute>(&step)) return std::string(trim(write->value));
    if (const auto* header = std::get_if<SetLuksFlags>(&step)) return flags_after(*header, before);
    if (const auto* mapping = std::get_if<RefreshMapping>(&step)) return flags_after(*mapping, before);
    if (const auto* pool = std::get_if<ChangeThinPool>(&step)) return pool->discards;
    if (const auto* zram = std::get_if<SetUpZram>(&step)) return zram_state_after(*zram);
    if (const auto* swap = std::get_if<UseSwap>(&step)) return swap_state_after(*swap);
    return std::nullopt;
}

// Decides what became of the step, and says it.
std::string settle(JournaledStep& step, const Result<std::string>& now) {
    if (!now) {  // a disk that is gone since must not stop every later apply
        step.outcome = Outcome::failed;
        step.error = "interrupted, and its state cannot be read: " + to_text(now.error());
        return "cannot be looked at any more (" + to_text(now.error()) + "): what there is stays as it is";
    }
    const auto& state = *now;
    const auto expected = state_after(step.step, step.before);
    if (state == step.before) {
        step.outcome = Outcome::undone;
        step.after = state;
        step.error = "interrupted before it took effect";
        return "was not done";
    }
    if (!expected || state == *expected) {
        step.outcome = Outcome::done;
        step.after = state;
        return "was done";
    }
    step.outcome = Outcome::failed;
    step.error = "interrupted, and what is there now is neither the state before nor the state it was to leave";
    return "left something else than was there before or was to be there: it stays as it is";
}

std::string subject_of(const Transaction& transaction) {
    return "the " + printable(transaction.command) + " of " + printable(transaction.started) + " (transaction " +
           std::to_string(transaction.number) + ") was interrupted";
}

}  // namespace

Result<std::vector<Finding>> recover(Journal& journal, Performer& performer, const std::string& now) {
    std::vector<Finding> findings;
    auto newest = journal.newest();
    if (!newest) return tl::unexpected<Error>(newest.error());
    if (!*newest || !(*newest)->finished.empty()) return findings;
    auto& transaction = **newest;
    if (auto mended = journal.mend(transaction.number); !mended) return tl::unexpected<Error>(mended.error());

    std::string says = subject_of(transaction);
    if (!transaction.steps.empty() && transaction.steps.back().outcome == Outcome::in_flight) {
        auto& step = transaction.steps.back();
        performer.clean_up(step.step);
        says += "; its step in flight, " + std::string(to_text(step.verb)) + " of " + printable(step.target) + ", " +
                settle(step, performer.state(step.step));
        if (auto written = journal.finish_step(transaction.number, step); !written) {
            return tl::unexpected<Error>(written.error());
        }
    } else {
        says += " between two steps";
    }
    if (auto written = journal.finish(transaction.number, now, false); !written) {
        return tl::unexpected<Error>(written.error());
    }
    findings.push_back({"recovered", Severity::warning, says, {}});
    return findings;
}

std::optional<Finding> interrupted_apply(StateStore& store) {
    const auto newest = Journal(store).newest();
    if (!newest || !*newest || !(*newest)->finished.empty()) return std::nullopt;
    const auto& transaction = **newest;
    std::string says = subject_of(transaction) + ", or is running now";
    if (!transaction.steps.empty() && transaction.steps.back().outcome == Outcome::in_flight) {
        const auto& step = transaction.steps.back();
        says += ", in its step " + std::string(to_text(step.verb)) + " of " + printable(step.target);
    }
    return Finding{"interrupted-apply", Severity::warning, says + "; the next apply recovers it", {}};
}

}  // namespace storpol
