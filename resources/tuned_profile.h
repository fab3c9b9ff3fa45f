// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/model/place.h"

// What TuneD does on this host: it starts late in the boot and writes kernel values itself, over what sysctl.d and udev
// rules set before. storpol names it and never configures it.
namespace storpol {

class Host;

// One key = value of a section; pure.
struct TunedLine {
    std::string section;
    std::string key;
    std::string value;
    int line = 0;
    bool operator==(const TunedLine&) const = default;
};

std::vector<TunedLine> parse_tuned(std::string_view text);

struct TunedOption {
    std::string key;
    std::string value;  // as written: ">4096", "${readahead}"
    Place where;

    // Put together from variables or functions when TuneD starts: not known here.
    bool is_computed() const { return value.find("${") != std::string::npos; }
};

// A section of the profile: its name is the plugin it is for, unless type= says another.
struct TunedUnit {
    std::string name;
    std::string plugin;
    std::vector<TunedOption> options;

    const TunedOption* find(std::string_view key) const;
};

// The units of the active profile with all it includes, merged key by key as TuneD merges them (tuned/profiles/
// merger.py): what is included comes first and loses. Without those that are switched off, in the order in which they
// take devices. Empty where no profile is active or the service is known not to start.
std::vector<TunedUnit> read_tuned_profile(Host& host);

// ">4096" raises only what is lower, "<10" lowers only what is higher (tuned/plugins/base.py): the number behind, and
// the sign; '\0' where there is none.
struct TunedAmount {
    char sign = '\0';
    std::string_view rest;
};

TunedAmount split_tuned_amount(std::string_view value);

}  // namespace storpol
