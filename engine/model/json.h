// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/base/result.h"
#include "engine/model/plan.h"

// JSON of the model, for journals, records, saved plans and reports. Keys and spellings are DESIGN's "JSON, format 1".
// Bytes that are not printable UTF-8 travel as escape_bytes(). Include in .cpp files only.
namespace storpol {

using Json = nlohmann::ordered_json;

Json to_json(const Condition& condition);  // "300" | {"at-least": "1"} | {"at-most": "1"} | {"not": ["x"]}; slack as
                                           // {"is": "300", "slack": "4"}
Json to_json(const Step& step);
Json to_json(const Action& action,
             bool with_step);  // with_step: the step, its bytes and undo too (saved plans, journal)
Json to_json(const Finding& finding);

Result<Condition> condition_from_json(const Json& json);
Result<Step> step_from_json(const Json& json);

// Parses hostile text: depth- and size-bounded; an Error names the byte.
Result<Json> parse_json(std::string_view text, std::string_view where);

}  // namespace storpol
