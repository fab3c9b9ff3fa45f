// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/model/record.h"
#include "engine/reconcile/apply.h"
#include "engine/reconcile/evaluate.h"

// The last-applied record as apply keeps it: read, moved aside when it cannot be parsed, and made anew from what was
// observed after acting.
namespace storpol {

inline constexpr std::string_view record_name = "applied.json";

struct OpenedRecord {
    std::optional<Record> record;    // none: there never was an apply
    std::optional<Finding> finding;  // a broken one was moved aside
};

// For apply: a record that is not JSON of ours goes to applied.json.broken. An Error where it cannot be read or moved.
Result<OpenedRecord> open_record(StateStore& store);

// What a record is made from.
struct RecordInput {
    const Record* old = nullptr;                 // nullptr: none
    const Evaluation& after;                     // observed after acting
    const std::vector<ActionOutcome>& outcomes;  // of this apply
    std::set<std::string> forgotten;             // addresses that --prune took out of own files
    std::string policy_digest;
    std::string now;
    std::string boot_id;
};

// Every setting and plane in sync with its Condition, what waits, what was tried; entries of other addresses, of other
// devices, of planes that were not observed or are unknown now stay as they were.
Record next_record(const RecordInput& input);

// The old record without the waits of an earlier boot that this apply has worked on: they begin anew with this boot.
Record without_renewed_waits(const Record& old, const std::vector<ActionOutcome>& outcomes, const std::string& boot_id);

// Whether two records say the same, whenever they were written.
bool says_the_same(const Record& one, const Record& other);

}  // namespace storpol
