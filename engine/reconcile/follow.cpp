// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/follow.h"

#include <algorithm>
#include <map>
#include <optional>

namespace storpol {
namespace {

class Follower {
  public:
    Follower(std::vector<Action>& actions, const std::vector<Gap>& gaps, const std::vector<SettingState*>& states)
        : actions_(actions) {
        for (const auto& gap : gaps) {
            if (gap.waits) waits_.emplace(gap.of, *gap.waits);
        }
        for (auto* state : states) states_.emplace(state->setting.address, state);
    }

    // Whether `gap` is none any more. One that waits stays, with when.
    bool closes(Gap& gap) {
        std::vector<Action*> serving;
        std::optional<When> later;
        for (const auto& of : gap.with) {
            auto acts = actions_for(of);
            const auto person = std::erase_if(acts, [](Action* action) { return action->when == When::by_operator; });
            const auto waits = waits_.find(of);
            if (!acts.empty()) {
                serving.insert(serving.end(), acts.begin(), acts.end());
            } else if (waits != waits_.end()) {
                later = waits->second;
            } else if (person > 0) {
                later = When::by_operator;
            } else {
                return false;
            }
        }
        auto* plane = plane_of(gap.of);
        if (plane == nullptr) return false;
        gap.cannot.clear();
        plane->cannot.clear();
        if (later) {
            gap.waits = later;
            return false;
        }
        for (auto* action : serving) {
            if (std::ranges::find(action->serves, gap.of) == action->serves.end()) action->serves.push_back(gap.of);
        }
        return true;
    }

  private:
    std::vector<Action*> actions_for(const SettingPlane& of) {
        std::vector<Action*> found;
        for (auto& action : actions_) {
            const bool serves = std::ranges::find(action.serves, of) != action.serves.end();
            if (serves && action.refused.empty() && action.when != When::in_image) found.push_back(&action);
        }
        return found;
    }

    PlaneState* plane_of(const SettingPlane& of) {
        const auto at = states_.find(of.address);
        if (at == states_.end()) return nullptr;
        for (auto& plane : at->second->planes) {
            if (plane.plane == of.plane) return &plane;
        }
        return nullptr;
    }

    std::vector<Action>& actions_;
    std::map<SettingPlane, When> waits_;
    std::map<std::string, SettingState*> states_;
};

}  // namespace

void follow_others(std::vector<Action>& actions, std::vector<Gap>& gaps, const std::vector<SettingState*>& states) {
    Follower follower(actions, gaps, states);
    std::erase_if(gaps, [&follower](Gap& gap) { return !gap.with.empty() && follower.closes(gap); });
}

}  // namespace storpol
