// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/policy/policy.h"
#include "engine/reconcile/resource.h"
#include "engine/topology/disk.h"
#include "resources/block/attribute.h"

// A [[block]] rule: which disks it means, what it wants of them, and its match in udev's terms.
namespace storpol {

struct BlockWish {  // one key of a rule
    const BlockAttribute* attribute = nullptr;
    Condition condition;
    std::string text;  // as the policy has it
    Place place;
};

struct BlockRule {
    std::optional<std::string> name, model, serial, transport;
    std::optional<bool> rotational, removable, is_virtual;
    std::vector<BlockWish> wishes;  // in the policy's order
    Place place;
    bool is_builtin = false;

    bool matches(const Disk& disk) const;
    // Where there are no disks (an image): block["model=Lexar*,transport=nvme"]; the match with its keys sorted.
    std::string address() const;
    // `KERNEL=="nvme*", ATTR{queue/rotational}=="0"`; none where udev has no words for it.
    std::optional<std::string> udev_match() const;
};

// The rule that BlockRule::address() names, without wishes: what a line of our own is headed by says what it matches.
std::optional<BlockRule> parse_rule_address(std::string_view address);

// All rules of the policy in order. What is wrong with them goes to `notes`.
std::vector<BlockRule> read_block_rules(const Policy& policy, Notes& notes);

// The udev match for this one disk, by WWN or serial; none for a disk that has neither.
std::optional<std::string> udev_match_of(const Disk& disk);

}  // namespace storpol
