// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// systemd mount units that are not made from fstab: written by hand, by a package, or by the GPT generator.
namespace storpol {

class Host;

struct MountUnit {
    std::string name;   // "srv-data.mount"
    std::string where;  // the target
    std::string what;
    std::string type;          // empty: auto
    std::string options;       // of the assignment that wins
    std::string fragment;      // after links
    std::string options_path;  // file and line that wins; the fragment and 0 when nothing sets Options=
    int options_line = 0;
    bool beats_fstab = false;   // in a directory that systemd looks in before what it makes of fstab
    bool is_automount = false;  // an .automount unit of the same name exists
    bool is_generated = false;  // by a generator: nothing to edit but a drop-in
};

// All units with a [Mount] section, drop-ins merged, in systemd's order of directories (man 5 systemd.unit). Units that
// the fstab generator made (SourcePath=/etc/fstab) are left out: their lines are read from fstab itself.
struct MountUnits {
    std::vector<MountUnit> units;
    std::vector<std::string> unreadable;  // "PATH: why"
};

MountUnits read_mount_units(Host& host);

// "srv-data.mount" for "/srv/data" and back (man 1 systemd-escape, --path); none for a name that is no escaped path.
std::string mount_unit_name(std::string_view target);
std::optional<std::string> mount_unit_target(std::string_view unit_name);

}  // namespace storpol
