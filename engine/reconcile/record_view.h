// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/model/record.h"
#include "engine/model/setting.h"

namespace storpol {

// The last-applied record by address, plane and device, hashed once per run. Lives as long as the record it is of.
class RecordView {
  public:
    explicit RecordView(const Record* record);  // nullptr: never applied, or not readable

    const AppliedEntry* applied(const Setting& setting, Plane plane) const;
    const WaitingEntry* waiting(const Setting& setting, Plane plane) const;
    const TriedEntry* tried(const Setting& setting, Plane plane) const;

    // Of one setting and plane on one device: what entries are told apart by.
    static std::string key_of(const SettingPlane& of, std::string_view device);

  private:
    std::unordered_map<std::string, const AppliedEntry*> applied_;
    std::unordered_map<std::string, const WaitingEntry*> waiting_;
    std::unordered_map<std::string, const TriedEntry*> tried_;
};

// Equal as they are rendered: a record read back may hold the number 4 where a policy has the word "4".
bool same_condition(const Condition& one, const Condition& other);

}  // namespace storpol
