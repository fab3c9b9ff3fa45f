// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model/reading.h"
#include "engine/topology/disk.h"
#include "resources/block/attribute.h"
#include "resources/tuned_profile.h"

namespace storpol {

class Host;
class Topology;

// What the active TuneD profile makes of disks after udev has set them: its [disk] plugin's elevator and readahead, and
// paths of its [sysfs] plugin.
class TunedDisks {
  public:
    explicit TunedDisks(Host& host);

    bool is_active() const { return !units_.empty(); }

    // The persisted reading once TuneD has written over what udev rules come to (`udev`); the same where it leaves the
    // attribute alone, Unknown where that cannot be told. `live` stands in for the kernel's default.
    Reading after(const Reading& udev, const Reading& live, const Disk& disk, const BlockAttribute& attribute) const;

  private:
    Host& host_;
    std::vector<TunedUnit> units_;  // of the two plugins alone
};

// The run's, read once.
const TunedDisks& tuned_disks(const Topology& topology, Host& host);

// True for a reading that TunedDisks::after() took from a profile.
bool is_from_tuned(const Reading& reading);

}  // namespace storpol
