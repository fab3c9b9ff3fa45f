// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/plan.h"

// The last-applied record, /var/lib/storpol/applied.json: what held after the last apply, what waits, what was tried.
namespace storpol {

struct AppliedEntry {  // a setting and plane that was in sync with this Condition after an apply
    SettingPlane of;
    std::string device;
    Condition condition;
    std::string value;  // as found then, for people
    bool operator==(const AppliedEntry&) const = default;
};

struct WaitingEntry {  // a difference that only a boot, a mount or a person can close
    SettingPlane of;
    std::string device;
    Condition condition;
    When waits = When::next_boot;
    std::string boot_id;   // of the boot that must end first
    std::string mount_id;  // next_mount only: of the mount that must end first (mountinfo field 1)
    bool operator==(const WaitingEntry&) const = default;
};

struct TriedEntry {  // a live step that answered success and changed nothing; not planned again in that boot
    SettingPlane of;
    Condition condition;
    std::string boot_id;
    std::string at;     // RFC 3339
    std::string found;  // what the kernel held after it
    bool operator==(const TriedEntry&) const = default;
};

struct Record {
    std::string policy_digest;
    std::string applied_at;  // RFC 3339
    std::vector<AppliedEntry> applied;
    std::vector<WaitingEntry> waiting;
    std::vector<TriedEntry> tried;
    bool operator==(const Record&) const = default;
};

std::string render_record(const Record& record);
Result<Record> parse_record(std::string_view text);  // hostile text gives an Error, never a crash

}  // namespace storpol
