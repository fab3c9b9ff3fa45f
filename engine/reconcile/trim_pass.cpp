// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/trim_pass.h"

#include <optional>

#include "engine/reconcile/clock.h"
#include "engine/text/calendar.h"

namespace storpol {
namespace {

// What was freed since the first half of a pass was done waits for the next one: not for longer than this.
constexpr std::int64_t longest_pass = std::int64_t{7} * 24 * 3600;

// Of a time that has been.
std::optional<std::int64_t> past(const std::string& time, std::int64_t now) {
    const auto seconds = seconds_of(time);
    return seconds && *seconds <= now ? seconds : std::nullopt;
}

bool is_full_due(const TrimRecord& record, const TrimPassInput& input, std::int64_t now) {
    if (input.full_pass.empty()) return false;
    const auto calendar = parse_calendar(input.full_pass);
    if (!calendar) return false;
    const auto last = record.last_full ? past(record.last_full->ended, now) : std::nullopt;
    if (!last) return true;
    const auto due = next_due(*calendar, *last, input.zone);
    return due && *due <= now;
}

// After a run that came to nothing: the same again would come to nothing on ext4, which has noted it all as trimmed.
void go_deeper(TrimPass& pass, const TrimRecord& record) {
    for (auto run = record.runs.rbegin(); run != record.runs.rend(); ++run) {
        const bool was_blocked = run->outcome == TrimOutcome::skipped && run->why.starts_with(blocked_below);
        if (run->outcome == TrimOutcome::lost || was_blocked) {
            pass.is_full = pass.is_forced = true;
            pass.min_extent = 0;
            pass.note = "all free space is sent again, as the last run reached no disk";
            return;
        }
        // One that was not begun or not finished has not made up for it.
        if (run->outcome != TrimOutcome::skipped && run->outcome != TrimOutcome::interrupted) return;
    }
}

}  // namespace

TrimPass decide_pass(const TrimRecord& record, const TrimPassInput& input) {
    const auto now = seconds_of(input.now).value_or(0);
    TrimPass pass;
    pass.began = input.now;
    pass.is_full = input.min_extent == 0 || is_full_due(record, input, now);
    pass.min_extent = pass.is_full ? 0 : input.min_extent;
    pass.is_forced = pass.is_full && input.min_extent > 0;
    go_deeper(pass, record);
    if (!record.resume) return pass;
    const auto& resume = *record.resume;
    const auto began = past(resume.began, now);
    const bool is_fresh = began && now - *began <= longest_pass;
    // A full pass under way is finished even where none is due any more; one with a floor gives way to a full one.
    const bool fits = resume.is_full || (!pass.is_full && resume.min_extent == pass.min_extent);
    if (!is_fresh || !fits || resume.position == 0) return pass;
    pass.is_resumed = true;
    pass.began = resume.began;
    pass.is_full = resume.is_full;
    pass.is_forced = pass.is_forced || resume.is_forced || (resume.is_full && input.min_extent > 0);
    pass.min_extent = resume.is_full ? 0 : resume.min_extent;
    pass.position = resume.position;
    pass.bytes = resume.bytes;
    return pass;
}

}  // namespace storpol
