// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/reading.h"
#include "engine/topology/crypt_mapping.h"
#include "resources/dm_crypt/rule.h"

namespace storpol {

class Host;
class Topology;

// The flags of an open mapping's table in the header's words ("allow-discards"); an Error where they cannot be had.
Result<std::set<std::string>> live_crypt_flags(Host& host, const CryptMapping& mapping);

// Why no table of this mapping can ever pass discards: authenticated encryption. Empty where it can.
std::string reason_never_to_discard(const CryptMapping& mapping, const LuksHeader& header);

// Devices above the mapping, lower ones first, that only take over the discard limits of what lies below them, and only
// when their table is loaded: linear and striped ones.
std::vector<const Layer*> followers_of(const Topology& topology, Host& host, const Layer& mapping);

// Of those the ones that do not say what the mapping does: `allows` is whether its table has, or is about to have, the
// flag.
std::vector<const Layer*> stale_followers(const Topology& topology, Host& host, const Layer& mapping, bool allows);

class CryptReadings {
  public:
    CryptReadings(const Topology& topology, Host& host, bool prefers_crypttab)
        : topology_(topology),
          host_(host),
          mappings_(crypt_mappings(topology, host)),
          prefers_crypttab_(prefers_crypttab) {}

    Observation observe(const CryptMapping& mapping, const CryptProperty& property, bool wants_on) const;

  private:
    Reading live(const CryptMapping& mapping, const CryptProperty& property) const;
    Reading persisted(const CryptMapping& mapping, const CryptProperty& property, bool wants_on) const;
    Reading boot(const CryptMapping& mapping, const CryptProperty& property) const;

    const Topology& topology_;
    Host& host_;
    const CryptMappings& mappings_;
    bool prefers_crypttab_;
};

}  // namespace storpol
