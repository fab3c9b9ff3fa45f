// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/condition.h"
#include "engine/model/place.h"
#include "engine/model/plane.h"
#include "engine/model/reading.h"

namespace storpol {

// How a setting is named everywhere, the same in every format: make_address("mount", "/", "atime") is
// mount["/"].atime; make_address("mglru", "", "min-ttl") is mglru.min-ttl; the property may be empty.
// A domain with a dot is meant so: make_address("fstrim.coverage", "/", "").
std::string make_address(std::string_view domain, std::string_view name, std::string_view property);

// One thing a policy wants of this host.
struct Setting {
    std::string address;
    std::string wanted;                   // the policy's own text
    Condition condition;                  // on every plane ...
    std::map<Plane, Condition> on_plane;  // ... except where one of its own stands here
    std::vector<Place> policy;            // the policy lines it comes from, the deciding one first
    std::string device;                   // WWN, serial or dm uuid; empty where the address alone says which
    std::vector<std::string> also_at;     // other mount points of the same superblock
    std::string own_address = {};         // what its line in an own file is headed by, where that is not `address`

    const Condition& condition_on(Plane plane) const;
    bool operator==(const Setting&) const = default;
};

enum class DifferenceKind {
    fresh,    // "new": no record of it
    changed,  // the policy asks for something else than at the last apply
    moved,    // it held after the last apply and no longer does
};
std::string_view to_text(DifferenceKind kind);

// One setting that is not as wanted on one plane. Points into the settings it was made from.
struct Difference {
    const Setting* setting = nullptr;
    Plane plane = Plane::live;
    Reading found;
    std::optional<DifferenceKind> kind;  // none where the record cannot be read

    const Condition& wanted() const { return setting->condition_on(plane); }
};

enum class Severity { info, warning };
std::string_view to_text(Severity severity);

// A warning beside the differences; never changes an exit code. Codes are API: kebab-case, grep before naming a new
// one.
struct Finding {
    std::string code;
    Severity severity = Severity::warning;
    std::string says;   // one sentence: what, why it matters, what to do
    std::string where;  // file:line[:column], device or address; may be empty

    auto operator<=>(const Finding&) const = default;
    bool operator==(const Finding&) const = default;
};

}  // namespace storpol
