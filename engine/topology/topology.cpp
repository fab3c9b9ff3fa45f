// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/topology.h"

#include "engine/host/host.h"

namespace storpol {

const Result<MountTable>& Topology::mounts() const {
    if (!mounts_) {
        mounts_ = host_->read_file("/proc/self/mountinfo").map([](const std::string& text) {
            return MountTable(parse_mountinfo(text).mounts);
        });
    }
    return *mounts_;
}

}  // namespace storpol
