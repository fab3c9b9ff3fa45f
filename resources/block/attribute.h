// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/model/condition.h"
#include "engine/policy/keys.h"

// The attributes of a disk that [[block]] declares: policy key, sysfs file, and how the kernel spells and rounds a
// value.
namespace storpol {

struct BlockAttribute {
    std::string_view key;        // "read-ahead"
    std::string_view file;       // below /sys/block/DISK: "queue/read_ahead_kb"; a '*' stands for the one folder there
    std::string_view subsystem;  // whose udev event sets it: "block" or "scsi_disk"
    std::string_view udev;       // as rules name it: "queue/read_ahead_kb", "provisioning_mode"
    std::int64_t unit = 1;       // bytes or microseconds in one unit of the kernel's number
    std::int64_t step = 1;       // the kernel rounds its value down to a multiple of this (bytes)
    bool is_word = false;

    // The kernel's text as a Value in the policy's unit; none where the text is not one ("none" without brackets for a
    // scheduler: a device that has none).
    std::optional<Value> parse(std::string_view text) const;
    // A Value as the kernel takes it: "128" for 131072 bytes of read-ahead.
    std::string render(const Value& value) const;
    // What the kernel holds after this value was written.
    Value rounded(const Value& value) const;
};

std::span<const BlockAttribute> block_attributes();
const BlockAttribute* find_block_attribute(std::string_view key);

// The keys of a [[block]] rule with their documentation, `match` among them.
Key block_key();

// "none", "mq-deadline", "kyber", "bfq": every scheduler of multi-queue kernels (5.0 and later).
bool is_scheduler(std::string_view name);

}  // namespace storpol
