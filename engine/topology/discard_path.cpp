// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/discard_path.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/discard_layer.h"
#include "engine/topology/topology.h"

namespace storpol {
namespace {

using Passes = DiscardHop::Passes;
using Verdict = DiscardPath::Verdict;

// Filesystems without a block device of their own, and where their space is given back instead.
struct DeadEnd {
    std::string_view fstype;
    std::string_view why;
};

constexpr std::array dead_ends{
    DeadEnd{"zfs", "ZFS trims its own pools (zpool trim, autotrim); fstrim and storpol do not reach them"},
    DeadEnd{"overlay", "an overlay has no device: trim the filesystem of its upper directory"},
    DeadEnd{"tmpfs", "it lies in memory"},
    DeadEnd{"ramfs", "it lies in memory"},
    DeadEnd{"nfs", "a network filesystem: its server trims"},
    DeadEnd{"nfs4", "a network filesystem: its server trims"},
    DeadEnd{"cifs", "a network filesystem: its server trims"},
    DeadEnd{"smb3", "a network filesystem: its server trims"},
    DeadEnd{"ceph", "a network filesystem: its cluster trims"},
    DeadEnd{"9p", "a shared directory: its host trims"},
    DeadEnd{"virtiofs", "a shared directory: its host trims"},
};

std::string dead_end_of(const Superblock& superblock) {
    const auto found = std::ranges::find(dead_ends, superblock.fstype, &DeadEnd::fstype);
    if (found != dead_ends.end()) return std::string(found->why);
    if (superblock.fstype.starts_with("fuse.")) return "a FUSE filesystem: whether it has a device only it knows";
    return {};
}

// Looks at each layer from below upwards: what a layer passes depends on those under it.
class PathFinder {
  public:
    PathFinder(const Topology& topology, Host& host) : topology_(topology), host_(host) {}

    DiscardPath find(const Stack& stack) {
        DiscardPath path;
        std::unordered_set<const Layer*> seen;
        for (const auto* top : stack.tops) add(path, seen, top, 0);
        for (std::size_t at = 0; at < path.hops.size(); ++at) {
            if (!path.hops[at].blocks.empty()) path.blockers.push_back(at);
        }
        judge(path, stack.unknown);
        return path;
    }

  private:
    static void judge(DiscardPath& path, const std::string& unknown) {
        if (!path.blockers.empty()) {
            path.verdict = Verdict::blocked;
            return;
        }
        path.why = unknown;
        for (const auto& hop : path.hops) {
            if (!path.why.empty()) break;
            if (hop.passes == Passes::unknown && !hop.note.empty()) path.why = hop.layer->name + ": " + hop.note;
            if (path.why.empty() && !hop.layer->unknown.empty()) path.why = hop.layer->name + ": " + hop.layer->unknown;
        }
        path.verdict = path.why.empty() ? Verdict::reaches : Verdict::unknown;
    }

    void add(DiscardPath& path, std::unordered_set<const Layer*>& seen, const Layer* layer, std::size_t depth) {
        if (!seen.insert(layer).second) return;
        auto hop = look(layer);
        hop.depth = depth;
        path.hops.push_back(std::move(hop));
        for (const auto* below : data_layers(*layer, host_)) add(path, seen, below, depth + 1);
    }

    DiscardHop look(const Layer* layer) {
        if (const auto known = known_.find(layer); known != known_.end()) return known->second;
        std::vector<DiscardHop> below;
        for (const auto* lower : data_layers(*layer, host_)) below.push_back(look(lower));
        auto hop = look_at_layer(*layer, below, topology_, host_);
        return known_.emplace(layer, std::move(hop)).first->second;
    }

    const Topology& topology_;
    Host& host_;
    std::unordered_map<const Layer*, DiscardHop> known_;
};

}  // namespace

std::string describe(const Layer& layer) {
    const std::string level = layer.level.empty() ? "" : layer.level + " ";
    return std::string(to_text(layer.kind)) + " " + level + printable(layer.name);
}

std::string summary_of(const DiscardPath& path) {
    switch (path.verdict) {
        case Verdict::reaches:
            return "reaches the device";
        case Verdict::blocked:
            return "blocked by " + describe(*path.first_blocker()->layer);
        case Verdict::unknown:
            return "not known: " + path.why;
        case Verdict::no_device:
            return "no device: " + path.why;
    }
    STORPOL_BUG("a verdict out of range");
}

DiscardPath find_discard_path(const Superblock& superblock, const Topology& topology, Host& host) {
    DiscardPath path;
    path.why = dead_end_of(superblock);
    if (!path.why.empty()) {
        path.verdict = Verdict::no_device;
        return path;
    }
    return PathFinder(topology, host).find(stacks(topology, host).of(superblock));
}

}  // namespace storpol
