// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/planner.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/reconcile/fold.h"
#include "engine/reconcile/remedy.h"

namespace storpol {
namespace {

// Where nothing else orders two actions. Files come first: a failure to persist is then seen before the running kernel
// is touched. Generators come last, as each is to run once for all that it reads.
int rank_of(const Action& action) {
    if (is_file_step(action.step)) return 0;
    return is_generator(action.verb) ? 2 : 1;
}

std::string target_name(const Action& action) {
    auto target = target_of(action.step);
    return target.empty() ? action.target : target;
}

// All but the first of each.
template <class T>
void drop_repeated(std::vector<T>& list) {
    std::set<T> seen;
    std::erase_if(list, [&seen](const T& one) { return !seen.insert(one).second; });
}

// Two resources may ask for the same effect (a daemon-reload); two that ask for different values of one attribute would
// undo each other at every run.
std::vector<Action> merge_equal(std::vector<Action> actions) {
    std::vector<Action> merged;
    std::map<std::pair<Verb, std::string>, std::vector<std::size_t>> by_target;
    for (auto& action : actions) {
        auto& same_target = by_target[{action.verb, target_name(action)}];
        const auto same = std::find_if(same_target.begin(), same_target.end(), [&](std::size_t at) {
            return merged[at].step == action.step && merged[at].refused == action.refused &&
                   merged[at].undo == action.undo;
        });
        if (same != same_target.end()) {
            merge_into(merged[*same], std::move(action));
            continue;
        }
        for (const auto at : same_target) {
            const auto* one = std::get_if<WriteAttribute>(&merged[at].step);
            const auto* other = std::get_if<WriteAttribute>(&action.step);
            if (one != nullptr && other != nullptr && one->value != other->value) {
                STORPOL_BUG("two values are wanted of " + one->path);
            }
        }
        same_target.push_back(merged.size());
        merged.push_back(std::move(action));
    }
    for (auto& action : merged) end_merging(action);
    return merged;
}

// The order of actions that nothing orders: total, so that the same input gives the same bytes.
using SortKey = std::tuple<int, std::string, std::string, std::size_t>;

SortKey key_of(const Action& action, std::size_t index) {
    auto address = action.serves.empty() ? std::string() : action.serves.front().address;
    return {rank_of(action), std::move(address), action.target, index};
}

// Kahn's algorithm with the sort key as tie-breaker.
class Ordering {
  public:
    explicit Ordering(std::vector<Action> actions) : actions_(std::move(actions)), needs_(actions_.size()) {
        std::unordered_map<std::string, std::vector<std::size_t>> by_target;
        for (std::size_t i = 0; i < actions_.size(); ++i) by_target[target_name(actions_[i])].push_back(i);
        for (std::size_t i = 0; i < actions_.size(); ++i) {
            for (const auto& read : actions_[i].reads) {
                const auto at = by_target.find(read);
                if (at == by_target.end()) continue;
                for (const auto source : at->second) {
                    if (source != i) needs_[i].insert(source);
                }
            }
        }
    }

    std::vector<Action> sort() {
        std::vector<std::size_t> missing;
        std::vector<std::vector<std::size_t>> needed_by(actions_.size());
        std::set<std::pair<SortKey, std::size_t>> ready;
        for (std::size_t i = 0; i < actions_.size(); ++i) {
            missing.push_back(needs_[i].size());
            for (const auto source : needs_[i]) needed_by[source].push_back(i);
            if (needs_[i].empty()) ready.insert({key_of(actions_[i], i), i});
        }
        std::vector<Action> sorted;
        std::vector<std::string> ids(actions_.size());
        while (!ready.empty()) {
            const auto at = ready.begin()->second;
            ready.erase(ready.begin());
            ids[at] = "a" + std::to_string(sorted.size() + 1);
            for (const auto next : needed_by[at]) {
                if (--missing[next] == 0) ready.insert({key_of(actions_[next], next), next});
            }
            take(at, ids, sorted);
        }
        if (sorted.size() != actions_.size()) STORPOL_BUG("actions that wait for each other");
        return sorted;
    }

  private:
    void take(std::size_t at, const std::vector<std::string>& ids, std::vector<Action>& sorted) {
        auto& action = actions_[at];
        action.id = ids[at];
        std::vector<std::size_t> sources(needs_[at].begin(), needs_[at].end());
        action.after.clear();
        for (const auto source : sources) action.after.push_back(ids[source]);
        std::sort(action.after.begin(), action.after.end(), [](const std::string& one, const std::string& other) {
            return std::make_pair(one.size(), one) < std::make_pair(other.size(), other);  // "a2" before "a10"
        });
        sorted.push_back(std::move(action));
    }

    std::vector<Action> actions_;
    std::vector<std::set<std::size_t>> needs_;
};

}  // namespace

void merge_into(Action& action, Action other) {
    std::move(other.serves.begin(), other.serves.end(), std::back_inserter(action.serves));
    std::move(other.reads.begin(), other.reads.end(), std::back_inserter(action.reads));
    if (action.says.empty()) {
        action.says = std::move(other.says);
    } else if (!other.says.empty() && action.says != other.says) {
        action.says += "; " + other.says;
    }
    action.risk = std::max(action.risk, other.risk);
    action.when = std::min(action.when, other.when);
}

void end_merging(Action& action) {
    drop_repeated(action.serves);
    drop_repeated(action.reads);
}

Plan make_plan(std::vector<Action> proposed, std::vector<Gap> gaps, Host& host) {
    Plan plan;
    auto actions = merge_equal(fold_edits(std::move(proposed), gaps, host));
    plan.actions = Ordering(std::move(actions)).sort();
    plan.gaps = std::move(gaps);
    std::stable_sort(plan.gaps.begin(), plan.gaps.end(),
                     [](const Gap& one, const Gap& other) { return one.of < other.of; });
    return plan;
}

}  // namespace storpol
