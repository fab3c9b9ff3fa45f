// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/evaluate.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "engine/host/host.h"
#include "engine/reconcile/clock.h"
#include "engine/reconcile/follow.h"
#include "engine/reconcile/judge.h"
#include "engine/reconcile/leftovers.h"
#include "engine/reconcile/planner.h"
#include "engine/reconcile/record_view.h"
#include "engine/reconcile/remedy.h"
#include "engine/topology/topology.h"

namespace storpol {
namespace {

// What one resource wants and found, kept together until all settings are sorted.
struct Domain {
    const Resource* resource = nullptr;
    std::vector<Setting> settings;
    std::vector<SettingState> states;
};

template <class T>
void sort_unique(std::vector<T>& items) {
    std::sort(items.begin(), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
}

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Sorted by address, ties in policy order, without what the policy leaves to others. Resources leave that out
// themselves; one that forgot must not act on it.
std::vector<Setting> settings_of(
    const Resource& resource, const Policy& policy, const Topology& topology, Host& host, Notes& notes) {
    auto settings = resource.settings(policy, topology, host, notes);
    settings.erase(std::remove_if(settings.begin(), settings.end(),
                                  [&policy](const Setting& setting) {
                                      return policy.is_unmanaged(setting.address, setting.policy);
                                  }),
                   settings.end());
    std::stable_sort(settings.begin(), settings.end(),
                     [](const Setting& one, const Setting& other) { return one.address < other.address; });
    return settings;
}

// Two settings of one address would undo each other at every run.
std::set<std::string> addresses_of(const std::vector<Domain>& domains) {
    std::set<std::string> addresses;
    for (const auto& domain : domains) {
        for (const auto& setting : domain.settings) {
            if (!addresses.insert(setting.address).second)
                STORPOL_BUG("two settings have the address " + setting.address);
        }
    }
    // A line that serves several settings is headed by what they have in common.
    for (const auto& domain : domains) {
        for (const auto& setting : domain.settings) {
            if (!setting.own_address.empty()) addresses.insert(setting.own_address);
        }
    }
    return addresses;
}

void observe(Domain& domain, const Topology& topology, Host& host, Notes& notes, SettingJudge& judge) {
    if (domain.settings.empty()) return;
    const auto observed = domain.resource->observe(domain.settings, topology, host, notes);
    if (observed.size() != domain.settings.size()) {
        STORPOL_BUG("observations do not match settings in " + std::string(domain.resource->domain()));
    }
    for (std::size_t i = 0; i < observed.size(); ++i)
        domain.states.push_back(judge.judge(domain.settings[i], observed[i]));
}

std::vector<Difference> differences_of(const std::vector<SettingState>& states) {
    std::vector<Difference> differences;
    for (const auto& state : states) {
        for (const auto& plane : state.planes) {
            if (plane.verdict != Verdict::drift || plane.accepted) continue;
            Difference difference;
            difference.setting = &state.setting;
            difference.plane = plane.plane;
            difference.found = plane.reading;
            difference.kind = plane.kind;
            differences.push_back(std::move(difference));
        }
    }
    return differences;
}

// The planner's own gaps (an edit that changes nothing) are the setting's too.
void show_gaps(const Plan& plan, std::vector<SettingState>& settings) {
    for (const auto& gap : plan.gaps) {
        if (gap.cannot.empty()) continue;
        const auto at = std::lower_bound(
            settings.begin(), settings.end(), gap.of.address,
            [](const SettingState& state, const std::string& address) { return state.setting.address < address; });
        if (at == settings.end() || at->setting.address != gap.of.address) continue;
        for (auto& plane : at->planes) {
            if (plane.plane == gap.of.plane) plane.cannot = gap.cannot;
        }
    }
}

// In an image nothing of the running kernel is looked at, and a setting of which only that exists is none there.
void drop_settings_without_planes(std::vector<SettingState>& settings) {
    settings.erase(std::remove_if(settings.begin(), settings.end(),
                                  [](const SettingState& state) { return state.planes.empty(); }),
                   settings.end());
}

class Run {
  public:
    Run(const Policy& policy, const Resources& resources, Host& host, const EvaluateOptions& options)
        : policy_(policy), resources_(resources), host_(host), options_(options), topology_(host) {}

    Evaluation evaluate() {
        for (const auto& resource : resources_) {
            domains_.push_back({resource.get(), settings_of(*resource, policy_, topology_, host_, notes_), {}});
        }
        out_.errors = notes_.errors();
        sort_unique(out_.errors);
        if (!out_.errors.empty()) return std::move(out_);
        observe_and_plan();
        out_.summary = summary_of(out_);
        return std::move(out_);
    }

  private:
    void observe_and_plan() {
        const auto wanted = addresses_of(domains_);
        const RecordView record(options_.record_readable ? options_.record : nullptr);
        // Asked in every run, so that a capture holds what accepts and waiting differences are judged by.
        SettingJudge judge(policy_, options_, record, host_.now().value_or(std::string()));
        const auto boot = boot_facts();

        std::vector<Action> actions;
        std::vector<Gap> gaps;
        for (auto& domain : domains_) {
            observe(domain, topology_, host_, notes_, judge);
            auto remedy = remedy_of(domain, record, boot);
            append(actions, std::move(remedy.actions));
            append(gaps, std::move(remedy.gaps));
        }
        std::vector<SettingState*> states;
        for (auto& domain : domains_) {
            for (auto& state : domain.states) states.push_back(&state);
        }
        follow_others(actions, gaps, states);
        auto leftovers = find_leftovers(resources_, wanted, host_, options_.prune);
        append(actions, std::move(leftovers.actions));
        out_.plan = make_plan(std::move(actions), std::move(gaps), host_);

        for (auto& domain : domains_) append(out_.settings, std::move(domain.states));
        std::sort(out_.settings.begin(), out_.settings.end(), [](const SettingState& one, const SettingState& other) {
            return one.setting.address < other.setting.address;
        });
        show_gaps(out_.plan, out_.settings);
        drop_settings_without_planes(out_.settings);

        out_.findings = notes_.findings();
        append(out_.findings, judge.accept_findings());
        append(out_.findings, std::move(leftovers.findings));
        sort_unique(out_.findings);
    }

    // When the boot began is read only to be said, as /proc/stat is long where there are many processors.
    BootFacts boot_facts() const {
        BootFacts boot;
        if (options_.image) return boot;
        boot.boot_id = boot_id_of(host_);
        if (!options_.record_readable || options_.record == nullptr) return boot;
        const auto& waiting = options_.record->waiting;
        const bool older = std::any_of(waiting.begin(), waiting.end(),
                                       [&boot](const WaitingEntry& entry) { return entry.boot_id != boot.boot_id; });
        if (older) boot.boot_time = boot_time_of(host_);
        return boot;
    }

    Remedy remedy_of(Domain& domain, const RecordView& record, const BootFacts& boot) const {
        const auto differences = differences_of(domain.states);
        if (differences.empty()) return {};
        auto proposed = domain.resource->actions(differences, topology_, host_);
        return fit_remedy(std::move(proposed), domain.states, differences, record, boot, options_);
    }

    const Policy& policy_;
    const Resources& resources_;
    Host& host_;
    const EvaluateOptions& options_;
    Topology topology_;
    Notes notes_;
    std::vector<Domain> domains_;
    Evaluation out_;
};

}  // namespace

Evaluation evaluate(const Policy& policy, const Resources& resources, Host& host, const EvaluateOptions& options) {
    return Run(policy, resources, host, options).evaluate();
}

}  // namespace storpol
