// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/text/calendar.h"

// When the machine ran, slept and was off, by the journal: what a schedule comes to on this machine.
namespace storpol {

class Host;

class Uptime {
  public:
    enum class State { runs, sleeps, off, unknown };

    // Asks the journal for the starts and ends of journald, and for what the services of systemd-sleep printed.
    explicit Uptime(Host& host);

    State at(std::int64_t seconds) const;

    // When the journal's memory begins; none where it holds nothing of this.
    std::optional<std::int64_t> begins() const;

  private:
    struct Change {
        std::int64_t at = 0;
        State into = State::unknown;
    };

    void read(Host& host, const std::string& unit);

    std::vector<Change> changes_;  // by time
};

// Of the last moments that a schedule had, how many found the machine how.
struct ScheduleHistory {
    int runs = 0;
    int sleeps = 0;
    int off = 0;
    int unknown = 0;

    int all() const { return runs + sleeps + off + unknown; }
};

// At most the last eight that the journal remembers; all 0 where none is known.
ScheduleHistory history_of(const Calendar& calendar, const Uptime& uptime, Host& host);

}  // namespace storpol
