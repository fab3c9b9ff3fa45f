// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/uptime.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/reconcile/clock.h"

namespace storpol {
namespace {

constexpr int entries = 400;
constexpr std::size_t last_moments = 8;

// What is printed at each change (systemd src/journal/journald-server.c, src/sleep/sleep.c; the words of 252 and of 254
// and later). Never translated.
struct Mark {
    std::string_view begins;
    Uptime::State into;
};

constexpr std::array<Mark, 6> marks{{{"Journal started", Uptime::State::runs},
                                     {"Journal stopped", Uptime::State::off},
                                     {"Entering sleep state", Uptime::State::sleeps},
                                     {"Performing sleep operation", Uptime::State::sleeps},
                                     {"System returned from sleep", Uptime::State::runs},
                                     {"System resumed", Uptime::State::runs}}};

constexpr std::array<const char*, 5> units{"systemd-journald.service", "systemd-suspend.service",
                                           "systemd-hibernate.service", "systemd-hybrid-sleep.service",
                                           "systemd-suspend-then-hibernate.service"};

}  // namespace

Uptime::Uptime(Host& host) {
    for (const auto* unit : units) read(host, unit);
    std::ranges::stable_sort(changes_, {}, &Change::at);
}

// 2026-11-29T00:11:02Z "Journal started"
void Uptime::read(Host& host, const std::string& unit) {
    const auto lines = host.journal(unit, entries);
    if (!lines) return;
    for (const auto line : split_lines(*lines)) {
        const auto space = line.find(" \"");
        if (space == std::string_view::npos) continue;
        const auto text = line.substr(space + 2);
        const auto mark = std::ranges::find_if(marks, [&](const Mark& one) { return text.starts_with(one.begins); });
        const auto at = seconds_of(line.substr(0, space));
        if (mark != marks.end() && at) changes_.push_back({*at, mark->into});
    }
}

std::optional<std::int64_t> Uptime::begins() const {
    return changes_.empty() ? std::nullopt : std::optional(changes_.front().at);
}

Uptime::State Uptime::at(std::int64_t seconds) const {
    const auto after = std::ranges::upper_bound(changes_, seconds, {}, &Change::at);
    if (after == changes_.begin()) return State::unknown;
    const auto last = std::prev(after)->into;
    if (after == changes_.end() || last == State::off) return last;
    // A start without an end before it: it was cut off at some time in between.
    const bool ended_unseen = last == State::runs && after->into == State::runs;
    return ended_unseen ? State::unknown : last;
}

ScheduleHistory history_of(const Calendar& calendar, const Uptime& uptime, Host& host) {
    ScheduleHistory history;
    const auto clock = host.now();
    const auto now = clock ? seconds_of(*clock) : std::nullopt;
    const auto begins = uptime.begins();
    if (!now || !begins) return history;
    std::deque<std::int64_t> moments;
    // A schedule of every second is no trim's: a bound all the same.
    constexpr int most = 20000;
    auto from = std::max(*begins, *now - std::int64_t{366} * 86400);
    for (int count = 0;; ++count) {
        if (count == most) return {};
        const auto offset = wall_offset(host, from);
        if (!offset) return {};
        const auto due = next_due(calendar, from, *offset);
        if (!due || *due >= *now) break;
        moments.push_back(*due);
        if (moments.size() > last_moments) moments.pop_front();
        from = *due;
    }
    for (const auto moment : moments) {
        switch (uptime.at(moment)) {
            case Uptime::State::runs:
                ++history.runs;
                break;
            case Uptime::State::sleeps:
                ++history.sleeps;
                break;
            case Uptime::State::off:
                ++history.off;
                break;
            case Uptime::State::unknown:
                ++history.unknown;
                break;
        }
    }
    return history;
}

}  // namespace storpol
