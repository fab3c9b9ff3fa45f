// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "engine/model/trim_record.h"

namespace storpol {

// How a filesystem is to be trimmed this time.
struct TrimPass {
    std::string began;  // of the pass: of its first run where it was cut short before
    std::int64_t min_extent = 0;
    bool is_full = false;     // without a floor
    bool is_forced = false;   // also where ext4 holds the groups for trimmed
    bool is_resumed = false;  // goes on at `position`, after `bytes`
    std::int64_t position = 0;
    std::int64_t bytes = 0;
    std::string note;  // what to know of it

    bool operator==(const TrimPass&) const = default;
};

struct TrimPassInput {
    std::string now;              // RFC 3339
    std::int64_t min_extent = 0;  // the policy's floor
    std::string full_pass;        // a calendar expression: when the floor is left out; empty: never
    std::int64_t zone = 0;        // seconds that the clock on the wall is ahead of UTC
};

// A full pass is due by its calendar since the last one, and after a run that reached no disk. Both send again what
// ext4 holds for trimmed: a pass with a floor has left it the small extents, a lying one all. A pass that was cut short
// within the last days goes on, unless a full one is due by now. Times from the future count as unknown: then a full
// pass is due, and nothing is resumed.
TrimPass decide_pass(const TrimRecord& record, const TrimPassInput& input);

// How the reason begins for which a filesystem was skipped because some layer below it blocks discards.
inline constexpr std::string_view blocked_below = "blocked";

}  // namespace storpol
