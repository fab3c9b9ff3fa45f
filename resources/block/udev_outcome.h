// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/text/udev_rules.h"

// What the udev rules of a host make of one attribute of one device at boot, as far as rules can be judged without
// running them. Three answers for every match: yes, no, and "maybe" (PROGRAM, IMPORT, properties nobody here knows).
namespace storpol {

// Which rules of a file can pass a match of one attribute or property against a literal ("ATTRS{wwid}==..."): files
// with a line for each of thousands of disks are looked up, not gone through. Empty: every rule is looked at.
struct UdevRuleIndex {
    struct ByValue {
        std::string key;        // "ATTR", "ATTRS" or "ENV"
        std::string attribute;  // "wwid"
        std::unordered_map<std::string, std::vector<std::size_t>> rules;
    };

    std::vector<ByValue> groups;
    std::vector<std::size_t> rest;  // rules without such a match
};

struct UdevFile {
    std::string path;  // after links: what sources name
    UdevRules rules;
    UdevRuleIndex index = {};
};

UdevRuleIndex index_udev_rules(const UdevRules& rules);

// The device as rules see it. An attribute is asked by name ("queue/rotational"); none means it cannot be known here.
struct UdevDevice {
    std::string kernel;                             // KERNEL
    std::string subsystem = "block";                // SUBSYSTEM
    std::string devtype = "disk";                   // ENV{DEVTYPE}; empty outside the block subsystem
    std::string devpath;                            // DEVPATH; empty: not known
    std::map<std::string, std::string> properties;  // ENV, from the udev database
    bool properties_complete = false;               // the database was readable: a property that is not in it is empty
    std::function<std::optional<std::string>(std::string_view)> attribute;  // ATTR{...}
    std::function<std::optional<std::string>(std::string_view)>
        parent_attribute;  // ATTRS{...}: of the device or one above it
};

struct UdevOutcome {
    enum class Kind { unset, set, unknown } kind = Kind::unset;
    std::string value;                        // of `set`
    std::string source;                       // FILE:LINE of the rule that wins, or of the one that cannot be judged
    std::vector<std::string> shadows;         // earlier rules that set it too, nearest first
    std::string why;                          // of `unknown`
    std::vector<std::string> without_effect;  // rules whose value the kernel refuses: they set nothing
};

// `files` in the order udev reads them. The attribute is named as rules name it: "queue/scheduler". `is_effective` says
// whether the kernel takes a value; udev logs the refusal of any other and goes on.
UdevOutcome judge_udev_rules(const std::vector<UdevFile>& files,
                             const UdevDevice& device,
                             std::string_view attribute,
                             const std::function<bool(std::string_view)>& is_effective);

}  // namespace storpol
