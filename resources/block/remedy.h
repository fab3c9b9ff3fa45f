// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/model/plan.h"
#include "engine/model/setting.h"
#include "engine/topology/disk.h"
#include "resources/block/attribute.h"
#include "resources/block/readings.h"

namespace storpol {

class Host;
class Topology;

// Which disk and attribute a setting's address means.
struct BlockTarget {
    const Disk* disk = nullptr;  // none where the address is a match (an image)
    const BlockAttribute* attribute = nullptr;
};

class BlockTargets {
  public:
    explicit BlockTargets(Host& host);
    BlockTargets(const BlockTargets&) = delete;  // the table points into the disks
    BlockTargets(BlockTargets&&) = default;
    BlockTarget of(const Setting& setting) const;

    bool is_of_disk(const std::string& address) const { return by_address_.contains(address); }

    const std::vector<Disk>& disks() const { return disks_; }

  private:
    std::vector<Disk> disks_;
    std::unordered_map<std::string, BlockTarget> by_address_;
};

// The run's disks, read once.
const BlockTargets& block_targets(const Topology& topology, Host& host);

// What heads the lines of the policy's rules, in the policy's order. udev takes the last rule, and so does the policy.
struct BlockLineOrder {
    std::vector<std::string> addresses;
};

// Which schedulers the kernel has built in or can load (modules.builtin and modules.dep of its release; under an image
// the newest release there). Where neither file can be read every scheduler counts as available: the kernel decides.
class SchedulerSupport {
  public:
    explicit SchedulerSupport(Host& host);
    bool is_available(std::string_view scheduler) const;

    const std::string& kernel() const { return kernel_; }

  private:
    std::string kernel_;
    std::optional<std::string> modules_;
    std::vector<std::string> loaded_;  // what the disks offer: loaded already
};

// The persisted reading of a setting that is known by its match: our own line, as long as no later file can set the
// same.
Reading own_rule_reading(const Setting& setting, const UdevRulesFiles& rules);

// Asks what block_remedy() may ask, for captures.
void survey_block_remedy(Host& host);

Remedy block_remedy(std::span<const Difference> differences, const Topology& topology, Host& host);

}  // namespace storpol
