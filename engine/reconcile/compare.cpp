// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/compare.h"

#include <algorithm>

namespace storpol {
namespace {

// Slack is taken on both sides without overflow: values come from hostile captures too.
bool within(std::int64_t found, std::int64_t wanted, std::int64_t slack) {
    const auto distance = found > wanted ? static_cast<std::uint64_t>(found) - static_cast<std::uint64_t>(wanted)
                                         : static_cast<std::uint64_t>(wanted) - static_cast<std::uint64_t>(found);
    return slack >= 0 && distance <= static_cast<std::uint64_t>(slack);
}

Verdict in_sync_if(bool holds) {
    return holds ? Verdict::in_sync : Verdict::drift;
}

struct Judge {
    const Value& found;

    Verdict operator()(const Is& is) const {
        const auto* number = std::get_if<std::int64_t>(&found);
        const auto* wanted = std::get_if<std::int64_t>(&is.value);
        if (number != nullptr && wanted != nullptr) return in_sync_if(within(*number, *wanted, is.slack));
        return in_sync_if(found == is.value);
    }

    // A word has no place on the scale: whether the bound holds cannot be said.
    Verdict operator()(const AtLeast& at_least) const {
        const auto* number = std::get_if<std::int64_t>(&found);
        return number == nullptr ? Verdict::unknown : in_sync_if(*number >= at_least.bound);
    }

    Verdict operator()(const AtMost& at_most) const {
        const auto* number = std::get_if<std::int64_t>(&found);
        return number == nullptr ? Verdict::unknown : in_sync_if(*number <= at_most.bound);
    }

    Verdict operator()(const Not& forbidden) const {
        if (forbidden.values.empty()) return in_sync_if(found == Value{std::string("off")});
        return in_sync_if(std::find(forbidden.values.begin(), forbidden.values.end(), found) == forbidden.values.end());
    }
};

bool is_bound(const Condition& wanted) {
    return std::holds_alternative<AtLeast>(wanted) || std::holds_alternative<AtMost>(wanted);
}

// What nothing sets holds by its default. A forbidden value that nothing sets is not there, unless the default is a
// word that is one: btrfs turns discard=async on by itself.
Verdict judge_unset(const Condition& wanted, const Unset& unset, const Reading* live) {
    if (const auto* forbidden = std::get_if<Not>(&wanted)) {
        if (!unset.default_value) return Verdict::in_sync;
        if (forbidden->values.empty() && std::holds_alternative<std::int64_t>(*unset.default_value)) {
            return Verdict::in_sync;  // a number always has some default; only a person's own is forbidden
        }
    }
    if (unset.default_value) return std::visit(Judge{*unset.default_value}, wanted);
    if (!is_bound(wanted)) return Verdict::drift;
    if (live == nullptr) return Verdict::unknown;
    if (const auto* found = std::get_if<Found>(&live->state)) return std::visit(Judge{found->value}, wanted);
    const auto* live_unset = std::get_if<Unset>(&live->state);
    if (live_unset != nullptr && live_unset->default_value) {
        return std::visit(Judge{*live_unset->default_value}, wanted);
    }
    return Verdict::unknown;
}

}  // namespace

Verdict compare(const Condition& wanted, const Reading& found, const Reading* live) {
    if (std::holds_alternative<Absent>(found.state)) return Verdict::absent;
    if (std::holds_alternative<Unknown>(found.state)) return Verdict::unknown;
    if (const auto* unset = std::get_if<Unset>(&found.state)) return judge_unset(wanted, *unset, live);
    return std::visit(Judge{std::get<Found>(found.state).value}, wanted);
}

}  // namespace storpol
