// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/lookup.h"

#include "engine/base/result.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/block_device.h"
#include "engine/topology/topology.h"
#include "resources/mount/option_set.h"

namespace storpol {
namespace {

// Behind `mount["TARGET"]`: the first '"]' that is not inside the quoted target.
std::size_t end_of_prefix(std::string_view address) {
    for (std::size_t at = address.find('"') + 1; at < address.size(); ++at) {
        if (address[at] == '\\') {
            ++at;
        } else if (address[at] == '"') {
            return at + 2;
        }
    }
    return address.size();
}

MountWish wish_of(const Setting& setting, std::string_view fstype, std::string property) {
    MountWish wish;
    wish.condition = setting.condition;
    wish.text = setting.wanted;
    wish.policy = setting.policy;
    if (find_property(fstype, property) != nullptr) {
        wish.kind = MountWish::Kind::option;
    } else if (classify_option(fstype, setting.wanted) == OptionClass::userspace) {
        wish.kind = MountWish::Kind::userspace;
    } else if (is_known_filesystem(fstype)) {
        wish.kind = MountWish::Kind::impossible;
        wish.why = quote_json(setting.wanted) + " is not an option of " + std::string(fstype);
    } else {
        wish.kind = MountWish::Kind::unknown;
        wish.why =
            "what " + quote_json(setting.wanted) + " means on " + std::string(fstype) + " is not in the option table";
    }
    wish.property = std::move(property);
    return wish;
}

std::string name_of_link(std::string_view target) {
    return std::string(target.substr(target.rfind('/') + 1));
}

}  // namespace

MountLookup::MountLookup(const MountInventory& inventory) {
    for (const auto& filesystem : inventory.filesystems) {
        for (const auto& mount : filesystem.mounts) {
            by_prefix_.emplace(make_address("mount", mount.target, ""), std::pair{&filesystem, &mount});
        }
    }
}

MountSubject MountLookup::find(const Setting& setting) const {
    const auto end = end_of_prefix(setting.address);
    const auto found = by_prefix_.find(setting.address.substr(0, end));
    if (found == by_prefix_.end() || end >= setting.address.size())
        STORPOL_BUG("no mount for the address " + setting.address);
    MountSubject subject;
    subject.filesystem = found->second.first;
    subject.mount = found->second.second;
    subject.wish = wish_of(setting, subject.filesystem->fstype, setting.address.substr(end + 1));
    const auto* property = find_property(subject.filesystem->fstype, subject.wish.property);
    subject.of_superblock = subject.wish.kind != MountWish::Kind::userspace &&
                            (property == nullptr || property->scope == Scope::superblock);
    return subject;
}

const MountHostFacts& mount_host_facts(const Topology& topology, Host& host) {
    return topology.derived<MountHostFacts>([&] {
        MountHostFacts facts;
        facts.kernel = read_kernel_version(host);
        const std::string folder = "/dev/disk/by-label";
        const auto labels = host.list(folder);
        if (!labels) return facts;
        for (const auto& label : *labels) {
            const auto device = host.read_link(folder + "/" + label);
            if (device) facts.labels.emplace(name_of_link(*device), unescape_bytes(label).value_or(label));
        }
        return facts;
    });
}

}  // namespace storpol
