// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/plan.h"
#include "engine/text/own_file.h"
#include "resources/fstrim/readings.h"

// The lines of storpol's drop-ins for both units that bring about what is wanted. A list is reset first, which takes
// all of it away: what else was in it is written again, and entries that add to it are moved behind.
namespace storpol {

class Host;

// What is wanted of the units, by property; only of what differs.
struct UnitWish {
    std::string text;  // as a unit file takes it: "5min", "idle", "true"
    SettingPlane of;
};

struct UnitWishes {
    std::map<std::string, UnitWish> by_property;  // keys of [fstrim]
    // What the service must show or run besides, for filesystems that it does not reach.
    std::vector<std::string> sandbox;   // "ProtectSystem=no"
    std::vector<std::string> commands;  // mount points to be named
    std::vector<SettingPlane> coverage;

    const UnitWish* find(std::string_view property) const;
};

struct DropInEdit {
    std::string unit;
    OwnLines lines;
    std::vector<SettingPlane> serves;
    std::string says;
};

class DropIns {
  public:
    // `units` as they are, masks left out.
    DropIns(const FstrimUnits& units, const UnitWishes& wishes, Host& host);

    const std::vector<DropInEdit>& edits() const { return edits_; }

    // Both units once the edits are done.
    FstrimUnits after() const;

    // Digest of the drop-in's bytes as they are.
    const std::string& digest(const std::string& unit) const { return files_.at(unit).digest; }

    // Why a wish cannot be written; by property.
    const std::map<std::string, std::string>& refused() const { return refused_; }

  private:
    struct File {
        std::string path;
        std::string digest;
        OwnFile text;
        std::map<std::string, OwnFile::Entry> entries;  // by section and address
    };

    void read_file(const EffectiveUnit& unit, Host& host);
    void add(const EffectiveUnit& unit,
             std::string_view section,
             const std::string& property,
             std::vector<std::string> lines,
             std::vector<SettingPlane> serves,
             std::string says);
    // Takes the entry out, and where `lines` are given or it has some, puts it behind all others.
    void move_behind(const EffectiveUnit& unit,
                     std::string_view section,
                     const std::string& property,
                     const std::vector<SettingPlane>& serves);
    const OwnFile::Entry* entry(const EffectiveUnit& unit, std::string_view section, const std::string& property) const;
    bool is_own(const UnitLine& line,
                const EffectiveUnit& unit,
                std::string_view section,
                const std::string& property) const;

    void write_triggers();
    void write_conditions(const EffectiveUnit& unit);
    void drop_power_conditions(const EffectiveUnit& unit, const UnitWish& wish);
    void write_commands();
    void write_coverage(bool runner_is_set);
    void write_scalars();
    std::string runner_command(const std::string& runner) const;
    std::optional<Bytes> wanted_floor() const;

    const FstrimUnits& units_;
    const UnitWishes& wishes_;
    Host& host_;
    std::map<std::string, File> files_;  // by unit
    std::vector<DropInEdit> edits_;
    std::map<std::string, std::string> refused_;
};

}  // namespace storpol
