// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/mount_table.h"

#include <algorithm>
#include <unordered_set>

#include "engine/base/text.h"

namespace storpol {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

// The path one level up; "" above "/".
std::string_view folder_above(std::string_view path) {
    if (path == "/") return {};
    const auto slash = path.rfind('/');
    return slash == 0 ? std::string_view("/") : path.substr(0, slash);
}

}  // namespace

MountTable::MountTable(std::vector<MountInfo> mounts) : mounts_(std::move(mounts)) {
    find_reachable();
    group_superblocks();
}

// A path walk steps onto whatever is mounted at each folder it passes. So a mount is out of reach when something is
// mounted over its own root, when another child of its parent lies at or above its target, or when its parent is out of
// reach by the second rule. Each mount looks only at the folders above it: linear in the depth of paths, not in the
// number of mounts.
void MountTable::find_reachable() {
    std::unordered_map<int, std::size_t> by_id;
    std::unordered_map<int, std::unordered_map<std::string_view, std::size_t>>
        children;  // parent -> target -> last child
    for (std::size_t i = 0; i < mounts_.size(); ++i) {
        by_id.emplace(mounts_[i].id, i);
        children[mounts_[i].parent][mounts_[i].target] = i;
    }
    std::vector<char> hidden(mounts_.size(), 0);  // a walk to its target ends on another mount below its parent
    for (std::size_t i = 0; i < mounts_.size(); ++i) {
        const auto& mount = mounts_[i];
        const auto& siblings = children[mount.parent];
        for (auto folder = std::string_view(mount.target); !folder.empty(); folder = folder_above(folder)) {
            const auto other = siblings.find(folder);
            if (other != siblings.end() && other->second != i) hidden[i] = 1;
        }
    }
    reachable_.assign(mounts_.size(), true);
    std::vector<char> judged(mounts_.size(), 0);
    for (std::size_t i = 0; i < mounts_.size(); ++i) {
        // Up to the first mount that is judged already, then down again.
        std::vector<std::size_t> chain;
        for (auto at = i; judged[at] == 0;) {
            judged[at] = 1;
            chain.push_back(at);
            const auto parent = by_id.find(mounts_[at].parent);
            if (parent == by_id.end() || parent->second == at) break;
            at = parent->second;
        }
        for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
            const auto parent = by_id.find(mounts_[*at].parent);
            if (parent != by_id.end() && parent->second != *at && hidden[parent->second] != 0) hidden[*at] = 1;
        }
    }
    for (std::size_t i = 0; i < mounts_.size(); ++i) {
        const auto own = children.find(mounts_[i].id);
        const bool covered =
            own != children.end() && own->second.contains(mounts_[i].target) && own->second.at(mounts_[i].target) != i;
        reachable_[i] = hidden[i] == 0 && !covered;
        if (reachable_[i]) by_target_[mounts_[i].target] = i;
    }
}

void MountTable::group_superblocks() {
    std::unordered_map<std::string, std::size_t> by_device;
    superblock_of_.assign(mounts_.size(), none);
    for (std::size_t i = 0; i < mounts_.size(); ++i) {
        if (!reachable_[i]) continue;
        const auto& mount = mounts_[i];
        const auto [entry, is_new] = by_device.emplace(mount.device_number() + " " + mount.fstype, superblocks_.size());
        if (is_new)
            superblocks_.push_back({mount.device_number(), mount.fstype, mount.source, mount.super_options, {}});
        superblocks_[entry->second].mounts.push_back(i);
        superblock_of_[i] = entry->second;
    }
    for (auto& superblock : superblocks_) {
        std::ranges::stable_sort(superblock.mounts, {}, [this](std::size_t i) { return mounts_[i].target.size(); });
    }
}

std::optional<std::size_t> MountTable::at(std::string_view target) const {
    const auto found = by_target_.find(std::string(target));
    if (found == by_target_.end()) return std::nullopt;
    return found->second;
}

const Superblock* MountTable::superblock_of(std::size_t index) const {
    return superblock_of_[index] == none ? nullptr : &superblocks_[superblock_of_[index]];
}

std::string normal_target(std::string_view path) {
    std::string out;
    for (const auto part : split(path, '/')) {
        if (part.empty() || part == ".") continue;
        out += '/';
        out += part;
    }
    return out.empty() ? "/" : out;
}

}  // namespace storpol
