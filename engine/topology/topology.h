// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace storpol {

class Host;

// Mount -> superblock -> block device stack -> physical devices, built from a Host's answers. Read on first use and then
// kept: one run, one topology. A resource that asks nothing of it costs nothing.
class Topology {
  public:
    explicit Topology(Host& host) : host_(&host) {}
    Host& host() const { return *host_; }

  private:
    Host* host_;
};

}  // namespace storpol
