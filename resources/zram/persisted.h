// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/plan.h"
#include "engine/model/reading.h"
#include "engine/model/setting.h"
#include "resources/zram/owner.h"

// The persisted plane of zram: what the owner of zram on this host will set up at the next boot, and the edits that
// make it what is wanted.
namespace storpol {

class Host;
class Topology;

// The properties of an address zram["zram0"].PROPERTY that configuration knows. Values on this plane:
//   size            bytes
//   algorithm       name
//   level           number
//   priority        0..32767; -1: none
//   resident-limit  bytes; 0: none
//   discard         "on" (both kinds), "once", "pages", "off"
//   fs-type         "swap", "ext4", ...
//   mount-point     path
struct ZramWish {
    std::string device;       // "zram0"
    std::string property;     // "size"
    std::string text;         // the policy's own: "50%", "4GiB", "zstd", "1"
    std::int64_t number = 0;  // of size and resident-limit: bytes as they are on this host; of others that are numbers
    std::int64_t slack = 0;   // how far a size may lie from it
    SettingPlane of;
};

class ZramPersisted {
  public:
    // With the boot loader's entry for the next boot, where it can be told.
    ZramPersisted(const Topology& topology, Host& host);
    ZramPersisted(Host& host, const ZramBootLine& boot);
    ~ZramPersisted();
    ZramPersisted(const ZramPersisted&) = delete;
    ZramPersisted& operator=(const ZramPersisted&) = delete;

    const ZramOwnership& ownership() const;

    Reading read(std::string_view device, std::string_view property) const;

    // Two owners, values that stop the generator, configuration that nothing reads, systemd.zram=0, 8G, ...; of these
    // devices.
    std::vector<Finding> findings(std::span<const std::string> devices) const;

    // Actions (file steps, when = next_boot) and gaps for the wishes, which are those of the persisted plane's
    // differences. All wishes at once: they meet in one drop-in and are judged by what it then comes to.
    Remedy remedy(std::span<const ZramWish> wishes) const;

    // The devices that the owner sets up, for import.
    std::vector<std::string> devices() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// The files that storpol owns for zram.
std::vector<std::string> zram_own_files(Host& host);

}  // namespace storpol
