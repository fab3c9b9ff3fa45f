// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/block_device.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/text.h"
#include "engine/host/host.h"

namespace storpol {
namespace {

std::string_view last_component(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "sda3" on "sda", "nvme0n1p2" on "nvme0n1": a partition's name is its disk's with a number, behind 'p' when the disk's
// own name ends in a digit (kernel block/partitions/core.c).
bool may_be_partition_of(std::string_view name, std::string_view disk) {
    if (disk.empty() || name.size() <= disk.size() || !name.starts_with(disk)) return false;
    auto rest = name.substr(disk.size());
    if (std::isdigit(static_cast<unsigned char>(disk.back())) != 0) {
        if (rest.front() != 'p') return false;
        rest.remove_prefix(1);
    }
    return parse_int(rest).has_value();
}

BlockDevice whole_disk(std::string_view name) {
    return {std::string(name), std::string(name), "/sys/block/" + std::string(name)};
}

// The disk whose partition a device of this name would be: "sda" of "sda3", "nvme0n1" of "nvme0n1p2"; "" of none.
std::string_view disk_of_partition(std::string_view name) {
    auto disk = name;
    while (!disk.empty() && std::isdigit(static_cast<unsigned char>(disk.back())) != 0) disk.remove_suffix(1);
    if (disk.size() >= 2 && disk.back() == 'p' && std::isdigit(static_cast<unsigned char>(disk[disk.size() - 2])) != 0)
        disk.remove_suffix(1);
    return may_be_partition_of(name, disk) ? disk : std::string_view();
}

std::optional<BlockDevice> find_by_name(Host& host, std::string_view name) {
    if (name.empty()) return std::nullopt;
    if (host.read_file("/sys/block/" + std::string(name) + "/dev")) return whole_disk(name);
    const std::string disk(disk_of_partition(name));
    if (disk.empty()) return std::nullopt;
    const auto sysfs = "/sys/block/" + disk + "/" + std::string(name);
    if (!host.read_file(sysfs + "/dev")) return std::nullopt;
    return BlockDevice{std::string(name), disk, sysfs};
}

// /dev/mapper/NAME where /dev is not to be read (captures, images): the dm device that calls itself so.
std::optional<BlockDevice> find_mapping(Host& host, std::string_view mapping) {
    const auto disks = host.list("/sys/block");
    if (!disks) return std::nullopt;
    for (const auto& disk : *disks) {
        if (!disk.starts_with("dm-")) continue;
        const auto name = host.read_file("/sys/block/" + disk + "/dm/name");
        if (name && trim(*name) == mapping) return whole_disk(disk);
    }
    return std::nullopt;
}

}  // namespace

BlockDevice block_device_of_link(std::string_view link) {
    // The folder above the last is the disk when it holds block devices' files.
    const auto parts = split(link, '/');
    const std::string name(parts.back());
    if (parts.size() >= 2 && may_be_partition_of(name, parts[parts.size() - 2])) {
        const std::string disk(parts[parts.size() - 2]);
        return BlockDevice{name, disk, "/sys/block/" + disk + "/" + name};
    }
    return whole_disk(name);
}

std::optional<BlockDevice> find_block_device(Host& host, std::string_view number) {
    const auto link = host.read_link("/sys/dev/block/" + std::string(number));
    if (!link) return std::nullopt;
    return block_device_of_link(*link);
}

std::optional<BlockDevice> find_block_device_at(Host& host, std::string_view path) {
    if (!path.starts_with("/dev/")) return std::nullopt;
    if (const auto target = host.read_link(path)) {
        if (auto device = find_by_name(host, last_component(*target))) return device;
    }
    if (path.starts_with("/dev/mapper/")) return find_mapping(host, last_component(path));
    return find_by_name(host, last_component(path));
}

std::vector<BlockDevice> list_disks(Host& host) {
    std::vector<BlockDevice> disks;
    if (const auto names = host.list("/sys/block")) {
        for (const auto& name : *names) disks.push_back(whole_disk(name));
    }
    return disks;
}

std::optional<std::string> queue_attribute(Host& host, const BlockDevice& device, std::string_view name) {
    const auto text = host.read_file("/sys/block/" + device.disk + "/queue/" + std::string(name));
    if (!text) return std::nullopt;
    return std::string(trim(*text));
}

std::uint64_t writable_discard_limit(std::uint64_t limit, std::uint64_t granularity) {
    constexpr std::uint64_t most = UINT32_MAX;
    if (granularity == 0 || granularity > most) return 0;
    const auto capped = std::min(limit, most);
    const auto above = (capped + granularity - 1) / granularity * granularity;
    return above <= most ? above : capped / granularity * granularity;
}

std::string display_name(Host& host, const BlockDevice& device) {
    if (device.name.starts_with("dm-")) {
        if (const auto name = host.read_file(device.sysfs + "/dm/name")) return std::string(trim(*name));
    }
    return device.name;
}

std::string path_of_tag(std::string_view source) {
    struct Tag {
        std::string_view key;
        std::string_view folder;
    };

    static constexpr std::array tags{Tag{"UUID", "by-uuid"}, Tag{"LABEL", "by-label"}, Tag{"PARTUUID", "by-partuuid"},
                                     Tag{"PARTLABEL", "by-partlabel"}, Tag{"ID", "by-id"}};
    const auto equals = source.find('=');
    if (equals == std::string_view::npos) return std::string(source);
    auto value = source.substr(equals + 1);
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) {
        value = value.substr(1, value.size() - 2);
    }
    for (const auto& tag : tags) {
        if (source.substr(0, equals) != tag.key) continue;
        std::string path = "/dev/disk/" + std::string(tag.folder) + "/";
        // udev keeps letters, digits, UTF-8 and #+-.:=@_ and writes the rest as \xNN (systemd
        // src/shared/device-nodes.c).
        for (const char c : value) {
            const auto byte = static_cast<unsigned char>(c);
            if (std::isalnum(byte) != 0 || byte >= 0x80 ||
                std::string_view("#+-.:=@_").find(c) != std::string_view::npos) {
                path += c;
            } else {
                static constexpr std::string_view hex = "0123456789abcdef";
                path += "\\x";
                path += hex[byte >> 4U];
                path += hex[byte & 15U];
            }
        }
        return path;
    }
    return std::string(source);
}

}  // namespace storpol
