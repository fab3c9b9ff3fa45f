// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/judge.h"

#include <algorithm>
#include <utility>

#include "engine/base/text.h"
#include "engine/reconcile/clock.h"
#include "engine/reconcile/compare.h"

namespace storpol {
namespace {

bool names_plane(const Accept& accept, Plane plane) {
    return accept.planes.empty() || std::find(accept.planes.begin(), accept.planes.end(), plane) != accept.planes.end();
}

// Why a reading that was had cannot be judged.
Unknown not_comparable(const Condition& wanted, const Reading& reading) {
    if (const auto* found = std::get_if<Found>(&reading.state)) {
        return {"\"" + to_text(found->value) + "\" cannot be compared with \"" + to_text(wanted) + "\""};
    }
    return {"nothing sets it here, and the default that then applies is not known"};
}

}  // namespace

SettingJudge::SettingJudge(const Policy& policy,
                           const EvaluateOptions& options,
                           const RecordView& record,
                           const std::string& now)
    : policy_(policy),
      options_(options),
      record_(record),
      today_(day_of(now)),
      matched_(policy.accepts().size(), false) {}

bool SettingJudge::expired(const Accept& accept) const {
    const auto last = day_of(accept.until);
    return !today_ || !last || *today_ > *last;
}

std::optional<Accepted> SettingJudge::accepted(const Setting& setting, Plane plane) const {
    for (const auto& accept : policy_.accepts()) {
        if (expired(accept) || !names_plane(accept, plane) || !glob_match(accept.address, setting.address)) continue;
        return Accepted{accept.place, accept.until};
    }
    return std::nullopt;
}

void SettingJudge::mark_accepts(const Setting& setting, const Observation& observed) {
    const auto& accepts = policy_.accepts();
    for (std::size_t i = 0; i < accepts.size(); ++i) {
        if (matched_[i] || !glob_match(accepts[i].address, setting.address)) continue;
        matched_[i] = std::any_of(observed.begin(), observed.end(), [&accepts, i](const auto& reading) {
            return names_plane(accepts[i], reading.first);
        });
    }
}

PlaneState SettingJudge::judge_plane(const Setting& setting, Plane plane, const Observation& observed) const {
    PlaneState state;
    state.plane = plane;
    state.reading = observed.at(plane);
    const auto& wanted = setting.condition_on(plane);
    const auto live = observed.find(Plane::live);
    const bool takes_live = plane == Plane::persisted && live != observed.end();
    state.verdict = compare(wanted, state.reading, takes_live ? &live->second : nullptr);

    const auto* recorded = record_.applied(setting, plane);
    if (state.verdict == Verdict::unknown) {
        if (!std::holds_alternative<Unknown>(state.reading.state)) {
            state.reading.state = not_comparable(wanted, state.reading);
        }
        if (recorded != nullptr) state.recorded = recorded->value;
    }
    if (state.verdict != Verdict::drift) return state;
    state.accepted = accepted(setting, plane);
    if (!options_.record_readable) return state;
    if (recorded == nullptr) {
        state.kind = DifferenceKind::fresh;
    } else {
        state.kind = same_condition(recorded->condition, wanted) ? DifferenceKind::moved : DifferenceKind::changed;
    }
    return state;
}

SettingState SettingJudge::judge(const Setting& setting, const Observation& observed) {
    mark_accepts(setting, observed);
    SettingState state;
    state.setting = setting;
    for (const auto plane : all_planes) {
        if (options_.image && (plane == Plane::live || plane == Plane::evidence)) continue;
        if (observed.contains(plane)) state.planes.push_back(judge_plane(setting, plane, observed));
    }
    state.verdict = worst_of(state.planes);
    return state;
}

std::vector<Finding> SettingJudge::accept_findings() const {
    std::vector<Finding> findings;
    const auto& accepts = policy_.accepts();
    for (std::size_t i = 0; i < accepts.size(); ++i) {
        const auto& accept = accepts[i];
        if (policy_.is_builtin(accept.place) && !options_.verbose) continue;
        const auto named = "[[accept]] of " + printable(accept.address);
        if (today_ && expired(accept)) {
            findings.push_back({"accept-expired", Severity::warning,
                                named + " ended with " + accept.until +
                                    ": what it accepted counts as drift again; take it out, or set a later day",
                                to_text(accept.place)});
        } else if (!matched_[i]) {
            findings.push_back(
                {"accept-matches-nothing", Severity::warning,
                 named + " matches no setting of this host: take it out, or correct its address or planes",
                 to_text(accept.place)});
        } else if (!today_) {
            findings.push_back(
                {"accept-not-judged", Severity::warning,
                 named + " is not taken: the clock cannot be read, so whether it is in force is not known",
                 to_text(accept.place)});
        }
    }
    return findings;
}

Verdict worst_of(const std::vector<PlaneState>& planes) {
    auto worst = Verdict::absent;
    for (const auto& state : planes) {
        const auto verdict = state.accepted ? Verdict::in_sync : state.verdict;
        if (verdict == Verdict::absent) continue;
        const bool worse = worst == Verdict::absent || (worst == Verdict::in_sync && verdict != Verdict::in_sync) ||
                           verdict == Verdict::drift;
        if (worse) worst = verdict;
    }
    return worst;
}

Summary summary_of(const Evaluation& evaluation) {
    Summary summary;
    summary.settings = static_cast<int>(evaluation.settings.size());
    for (const auto& state : evaluation.settings) {
        switch (state.verdict) {
            case Verdict::in_sync:
                ++summary.in_sync;
                break;
            case Verdict::absent:
                ++summary.absent;
                break;
            case Verdict::unknown:
                ++summary.unknown;
                break;
            case Verdict::drift:
                ++summary.drift;
                break;
        }
        bool accepted = false;
        bool waiting = false;
        for (const auto& plane : state.planes) {
            accepted = accepted || plane.accepted.has_value();
            waiting = waiting || plane.waits.has_value();
            if (plane.waits == When::next_boot) summary.reboot_pending = true;
        }
        if (accepted) ++summary.accepted;
        if (waiting) ++summary.waiting;
    }
    summary.actions = static_cast<int>(evaluation.plan.actions.size());
    return summary;
}

const PlaneState* SettingState::on(Plane plane) const {
    for (const auto& state : planes) {
        if (state.plane == plane) return &state;
    }
    return nullptr;
}

bool Evaluation::has_drift(bool strict) const {
    for (const auto& state : settings) {
        for (const auto& plane : state.planes) {
            if (plane.verdict == Verdict::drift && !plane.accepted && (strict || !plane.waits)) return true;
        }
    }
    return false;
}

bool Evaluation::has_unknown(bool strict) const {
    for (const auto& state : settings) {
        const auto* persisted = state.on(Plane::persisted);
        const bool held = persisted != nullptr && persisted->verdict == Verdict::in_sync;
        for (const auto& plane : state.planes) {
            if (plane.verdict != Verdict::unknown) continue;
            const auto* unknown = std::get_if<Unknown>(&plane.reading.state);
            const bool nobody_can = unknown != nullptr && unknown->why.starts_with(cannot_be_read_back);
            if (strict || !nobody_can || !held) return true;
        }
    }
    return false;
}

}  // namespace storpol
