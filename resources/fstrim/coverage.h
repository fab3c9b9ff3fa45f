// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/place.h"
#include "resources/fstrim/readings.h"
#include "resources/mount/inventory.h"

// Which filesystems the service as it is on this host reaches: fstrim passes over most of what it cannot trim without a
// word (util-linux sys-utils/fstrim.c), and what the service's sandbox shows as read-only too.
namespace storpol {

class Host;
class Topology;

struct Coverage {
    enum class Cause {
        none,        // it is covered
        no_service,  // there is none, it is masked or runs something unknown
        sandbox,     // the service sees it read-only or not at all
        notrim,      // X-fstrim.notrim in fstab
        read_only,   // `ro`, or no mount of it that can be written
        not_listed,  // the list that the command reads does not have it
        duplicate,   // another entry of its device was kept, and that one cannot be trimmed
        type,        // --types leaves it out
        folder,      // `storpol trim` takes no filesystem of which a folder alone is mounted
    };

    Cause cause = Cause::none;
    std::string says;     // one phrase: "ProtectSystem=strict shows it read-only to fstrim"
    std::string source;   // file:line
    std::string cure;     // of a sandbox, a line of [Service]: "ProtectSystem=no"
    Place place;          // of notrim: the fstab line
    std::string unknown;  // why it cannot be told

    bool is_covered() const { return cause == Cause::none && unknown.empty(); }
};

// What addresses the filesystem here: the shortest of all mounts of it that a path reaches, also of those that show a
// piece of it, as any of them trims the whole.
std::string trim_name(const ManagedFilesystem& filesystem, const Topology& topology);

class CoverageFinder {
  public:
    CoverageFinder(const FstrimUnits& units, const Topology& topology, Host& host);

    Coverage of(const ManagedFilesystem& filesystem) const;

    // What of the sandbox keeps `storpol trim` from its own files, where it keeps its record and its lock.
    Coverage of_own_files() const;

    // A mount point through which it can be trimmed by name: read-write, reachable, the shortest. Empty: none.
    std::string trim_target(const ManagedFilesystem& filesystem) const;

    // Whether this fstrim knows X-fstrim.notrim (util-linux 2.38).
    bool knows_notrim() const { return version_ >= 238; }

  private:
    struct Entry {
        std::string target;
        std::string device;  // what fstrim compares: the device its source leads to
        std::string fstype;
        bool read_only = false;
        bool no_trim = false;
        Place place;  // of an fstab line
    };

    std::vector<Entry> entries_of(const TrimCommand& command, std::string& unknown) const;
    std::vector<Entry> fstab_entries() const;
    std::vector<Entry> mounted_entries() const;
    std::string device_of(std::string_view source) const;
    bool is_mounted_read_only(const std::string& target) const;
    Coverage by_list(const TrimCommand& command, const ManagedFilesystem& filesystem) const;
    Coverage by_command(const TrimCommand& command, const ManagedFilesystem& filesystem) const;
    Coverage hidden(const std::string& path) const;
    Coverage write_protected(const std::string& path) const;
    Coverage sandboxed(const std::string& target) const;
    Coverage by_storpol(const ManagedFilesystem& filesystem) const;
    Coverage skipped_because(const Entry& entry, const TrimCommand& command) const;

    const FstrimUnits& units_;
    const Topology& topology_;
    Host& host_;
    const MountInventory& inventory_;
    int version_ = 0;  // of util-linux, 238 for 2.38
};

}  // namespace storpol
