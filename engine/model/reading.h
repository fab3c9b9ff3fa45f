// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/model/condition.h"
#include "engine/model/plane.h"

// What one plane of one setting was read to be.
namespace storpol {

struct Found {
    Value value;      // in the Condition's terms
    std::string raw;  // as the host spells it, when that differs; for people
    bool operator==(const Found&) const = default;
};

struct Unset {                           // nothing sets it here
    std::optional<Value> default_value;  // what then applies, where that is known
    std::string default_from;            // "kernel default", "superblock", ...
    bool operator==(const Unset&) const = default;
};

struct Absent {  // this plane does not exist for this setting on this host; never counts
    std::string why;
    bool operator==(const Absent&) const = default;
};

struct Unknown {  // it exists and cannot be known here; never in sync, never acts
    std::string why;
    bool operator==(const Unknown&) const = default;
};

struct Reading {
    std::variant<Found, Unset, Absent, Unknown> state;
    std::string source;                // the path read, after links, with :line where there is one; may be empty
    std::vector<std::string> shadows;  // other places that set it and lose to `source`, nearest first
    bool operator==(const Reading&) const = default;
};

// One reading per plane; a plane that never exists for this kind of setting is not in it.
using Observation = std::map<Plane, Reading>;

enum class Verdict { in_sync, absent, unknown, drift };  // DESIGN: drift > unknown > in-sync; all absent is absent
std::string_view to_text(Verdict verdict);

}  // namespace storpol
