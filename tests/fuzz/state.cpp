// SPDX-License-Identifier: GPL-3.0-or-later
#include <nlohmann/json.hpp>

#include "engine/model/json.h"
#include "engine/model/record.h"
#include "engine/reconcile/journal_events.h"
#include "engine/report/report.h"
#include "tests/fuzz/target.h"

// What storpol wrote down and reads again: the record, a journal file, a saved plan, and the steps and conditions in
// them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace storpol;
    const std::string_view text = fuzz::text_of(data, size);
    if (const auto record = parse_record(text)) {
        fuzz::require(parse_record(render_record(*record)) == *record, "a record is the same after render and parse");
    }
    static_cast<void>(parse_transaction(text, 1, "fuzz"));
    static_cast<void>(looks_like_saved_plan(text));
    static_cast<void>(parse_saved_plan(text, "fuzz"));
    const auto json = parse_json(text, "fuzz");
    if (!json) return 0;
    if (const auto condition = condition_from_json(*json)) {
        fuzz::require(condition_from_json(to_json(*condition)) == *condition, "a condition is the same after JSON");
    }
    if (const auto step = step_from_json(*json)) {
        fuzz::require(step_from_json(to_json(*step)) == *step, "a step is the same after JSON");
    }
    return 0;
}
