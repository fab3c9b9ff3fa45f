// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <typeindex>
#include <unordered_map>

#include "engine/base/result.h"
#include "engine/topology/mount_table.h"

namespace storpol {

class Host;

// Mount -> superblock -> block device stack -> physical devices, built from a Host's answers. Read on first use and
// then kept: one run, one topology. A resource that asks nothing of it costs nothing. Block devices: block_device.h.
class Topology {
  public:
    explicit Topology(Host& host) : host_(&host) {}

    // The mounts of /proc/self/mountinfo. An Error where that cannot be had (an image, a capture without it).
    const Result<MountTable>& mounts() const;

    // What a resource works out of the host for the whole run, made by `make()` on first use and then kept: one value
    // of each type. A resource has no state of its own, and its functions need not parse the same files again.
    template <class T, class Make>
    const T& derived(Make make) const {
        auto& kept = derived_[std::type_index(typeid(T))];
        if (!kept) kept = std::make_shared<T>(make());
        return *static_cast<const T*>(kept.get());
    }

  private:
    Host* host_;
    mutable std::optional<Result<MountTable>> mounts_;
    mutable std::unordered_map<std::type_index, std::shared_ptr<void>> derived_;
};

}  // namespace storpol
