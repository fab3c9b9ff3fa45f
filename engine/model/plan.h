// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/plane.h"
#include "engine/model/setting.h"
#include "engine/model/step.h"

namespace storpol {

enum class When { now, next_mount, next_boot, by_operator, in_image };  // when an action's effect shows
std::string_view to_text(When when);  // "now", "next-mount", "next-boot", "operator", "in-image"
std::optional<When> parse_when(std::string_view text);

enum class Risk { safe, guarded, disruptive };
std::string_view to_text(Risk risk);

// One plane of one setting: what an action serves, what a gap leaves open.
struct SettingPlane {
    std::string address;
    Plane plane = Plane::live;
    auto operator<=>(const SettingPlane&) const = default;
    bool operator==(const SettingPlane&) const = default;
};

// A step with its reason. A resource fills all but `id`, `after` and `diff`, which are the planner's.
struct Action {
    std::string id;  // "a1", in plan order
    Verb verb = Verb::write;
    std::string target;
    Step step;
    std::vector<SettingPlane> serves;
    std::vector<std::string> after;  // ids that must have succeeded first
    When when = When::now;
    Risk risk = Risk::safe;
    std::string says;        // one sentence for people
    std::string refused;     // a guard that does not hold now, with its numbers; such an action is not done
    std::vector<Step> undo;  // only where undoing is not putting the target's old state back (dirty pairs, zram)
    std::string diff;        // unified diff of a file step
    std::vector<std::string>
        reads;  // targets of other steps whose effect this one needs (a generator: the files it reads)
    bool operator==(const Action&) const = default;
};

// A difference that no action serves. One of the two, with why.
struct Gap {
    SettingPlane of;
    std::optional<When> waits;  // next_mount, next_boot or by_operator: the rest comes then, once persisted is right
    std::string cannot;         // what no apply and no boot cures: the reason
    std::string mount_id = {};  // next_mount: of the mount that must end first (mountinfo field 1), where known
    // Closed by what closes all of these, of whatever domain: `cannot` holds where they are not closed either.
    std::vector<SettingPlane> with = {};
    bool operator==(const Gap&) const = default;
};

struct Plan {
    std::vector<Action> actions;
    std::vector<Gap> gaps;
    bool operator==(const Plan&) const = default;
};

// What Resource::actions answers.
struct Remedy {
    std::vector<Action> actions;
    std::vector<Gap> gaps;
};

}  // namespace storpol
