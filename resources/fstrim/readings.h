// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/reading.h"
#include "resources/fstrim/command.h"
#include "resources/fstrim/units.h"

// One property of the timer or its service: what the unit files make it, and what the service manager holds.
namespace storpol {

class Host;

// The pair as its files have it.
struct FstrimUnits {
    EffectiveUnit timer;
    EffectiveUnit service;      // the one the timer starts
    std::string wanted_runner;  // "fstrim", "storpol"; empty: what the service runs

    const EffectiveUnit* unknown() const;  // one of the two that cannot be read
    std::vector<TrimCommand> commands() const;

    // Whether `storpol trim` does it, or is to do it.
    bool is_by_storpol() const;
};

FstrimUnits read_fstrim_units(Host& host, Masks masks = Masks::count);

// `property` is a key of [fstrim]: "enabled", "schedule", ...
Reading persisted_fstrim(std::string_view property, const FstrimUnits& units, Host& host);

// The manager's view: the properties of both units, or why they cannot be had.
struct FstrimLive {
    std::map<std::string, std::string> timer;
    std::map<std::string, std::string> service;
    std::string absent;   // there is no manager
    std::string unknown;  // it cannot be asked
    std::string timer_name;
    std::string service_name;
    std::string wanted_runner;  // as above
};

FstrimLive read_fstrim_live(Host& host);
Reading live_fstrim(std::string_view property, const FstrimLive& live);

// Whether the timer belongs to the property, else the service does.
bool is_of_timer(std::string_view property);

}  // namespace storpol
