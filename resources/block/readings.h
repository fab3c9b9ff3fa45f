// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/reading.h"
#include "engine/topology/disk.h"
#include "resources/block/attribute.h"
#include "resources/block/udev_outcome.h"

namespace storpol {

class Host;

inline constexpr std::string_view block_rules_path = "/etc/udev/rules.d/99-storpol.rules";

// /sys/block/sda/queue/scheduler; the '*' of an attribute's path resolved to the one folder there. None when there is
// none.
std::optional<std::string> attribute_path(Host& host, const Disk& disk, const BlockAttribute& attribute);

// What the kernel holds now.
Reading live_block_reading(Host& host, const Disk& disk, const BlockAttribute& attribute);

// The rules files that can set one of these attributes, as udev reads them: by name over all rules directories, a file
// in an earlier one hiding its namesakes. `own` stands in for our own file, to see what a plan would lead to.
struct UdevRulesFiles {
    std::vector<UdevFile> files;
    std::vector<std::string> unreadable;  // paths; with one, nothing about rules is known
};

UdevRulesFiles read_udev_files(Host& host, std::optional<std::string> own = std::nullopt);

// The device whose event sets the attribute, as rules see it.
UdevDevice udev_device_of(Host& host, const Disk& disk, const BlockAttribute& attribute);

UdevOutcome judge_for_disk(Host& host, const UdevRulesFiles& rules, const Disk& disk, const BlockAttribute& attribute);

// An outcome as a reading of the persisted plane.
Reading persisted_block_reading(const UdevRulesFiles& rules,
                                const UdevOutcome& outcome,
                                const BlockAttribute& attribute);

}  // namespace storpol
