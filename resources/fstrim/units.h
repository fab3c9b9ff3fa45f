// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/unit_file.h"

// What the unit files of one unit come to, by systemd's precedence (man 5 systemd.unit): the first unit file in the
// load path, then the drop-ins of all its directories in the order of their names.
namespace storpol {

class Host;

struct UnitPart {
    std::string path;  // after links
    std::vector<UnitAssignment> assignments;
    std::vector<UnitRejected> rejected;
};

// One line of it, and where it stands.
struct UnitLine {
    std::string key;
    std::string value;
    std::string path;
    int line = 0;

    std::string where() const { return path + ":" + std::to_string(line); }

    bool operator==(const UnitLine&) const = default;
};

// A link that has a target want the unit.
struct UnitLink {
    std::string path;        // "/etc/systemd/system/timers.target.wants/fstrim.timer"
    bool is_off = false;     // it leads to /dev/null, which takes back what weaker directories want
    bool is_hidden = false;  // a stronger directory has one of the same target
};

class EffectiveUnit {
  public:
    enum class State { missing, masked, found, unknown };

    std::string name;
    State state = State::missing;
    std::string unknown;          // why
    std::string fragment;         // after links; of a masked one where the mask stands
    bool mask_is_link = false;    // a link to /dev/null, not an empty file
    bool is_maskable = false;     // nothing stands at its name in /etc/systemd/system
    std::vector<UnitPart> parts;  // the unit file, then its drop-ins
    std::vector<UnitLink> links;  // those of strong directories first

    // The assignments of one section in force order.
    std::vector<UnitLine> lines(std::string_view section) const;
    // The last one of a key with one value; none where there is none or the last one resets it.
    std::optional<UnitLine> last(std::string_view section, std::string_view key) const;
    // Those of a list after its last reset.
    std::vector<UnitLine> list(std::string_view section, std::string_view key) const;
    // [Timer] OnCalendar=, OnBootSec=, ...: one list, which an empty one of any of them resets.
    std::vector<UnitLine> triggers() const;
    // [Unit] Condition...=: likewise.
    std::vector<UnitLine> conditions() const;

    // The same with another text of one drop-in (empty: without it), which need not be there yet.
    EffectiveUnit with(const std::string& path, std::string_view text) const;

    bool is_there() const { return state == State::found; }

    // The link by which a target wants it; nullptr where none does.
    const UnitLink* wanted_by() const;

    bool is_wanted() const { return wanted_by() != nullptr; }
};

enum class Masks { count, are_ignored };

EffectiveUnit read_effective_unit(Host& host, std::string_view name, Masks masks = Masks::count);

// The drop-in that storpol owns.
std::string own_drop_in(std::string_view unit);

// Why a condition line is not met on this host, as far as files can tell: conditions on paths are looked at, others are
// taken as met. Empty: it is met. A line of a list of triggering ones ("|") is judged alone.
std::string unmet_condition(const UnitLine& condition, Host& host);

// The conditions that keep the unit from starting: those that are not met, and all triggering ones where none is.
std::vector<UnitLine> unmet_conditions(const EffectiveUnit& unit, Host& host);

}  // namespace storpol
