// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Block devices as sysfs shows them. Answers hold for the run: every question goes through the run's Host.
namespace storpol {

class Host;

struct BlockDevice {
    std::string name;   // the kernel's: "sda3", "dm-0", "nvme0n1"
    std::string disk;   // the whole disk of a partition; `name` itself otherwise: where queue/ lies
    std::string sysfs;  // "/sys/block/sda/sda3"

    bool is_partition() const { return name != disk; }

    bool operator==(const BlockDevice&) const = default;
};

// By "8:3" (mountinfo field 3, `dev` files). None for anonymous numbers (btrfs, overlay, network) and what sysfs does
// not show.
std::optional<BlockDevice> find_block_device(Host& host, std::string_view number);

// What a link of sysfs into the tree of devices leads to: "../../devices/.../block/sda/sda3". Pure text.
BlockDevice block_device_of_link(std::string_view link);

// By path as mountinfo and fstab give it: /dev/nvme0n1p2, /dev/mapper/vg-root, /dev/disk/by-uuid/... . Never opens the
// device.
std::optional<BlockDevice> find_block_device_at(Host& host, std::string_view path);

// The whole disks (partitions left out), sorted by name, from /sys/block; empty when that cannot be listed.
std::vector<BlockDevice> list_disks(Host& host);

// "sda": the attribute file /sys/block/sda/queue/NAME of the disk below; none when it is missing or cannot be read.
std::optional<std::string> queue_attribute(Host& host, const BlockDevice& device, std::string_view name);

// What may be written to queue/discard_max_bytes for a limit to be about as before: a multiple of the granularity
// within 32 bits, the next higher one where there is one, as the kernel cuts that back to what the device can do
// (block/blk-sysfs.c). A driver's own limit need be no such multiple. 0 where the granularity is 0: then nothing may be
// written, which newer kernels make of a limit of 0 (seen with Linux 6.18).
std::uint64_t writable_discard_limit(std::uint64_t limit, std::uint64_t granularity);

// The name people know it by, and addresses use: the mapping name of a dm device, the array name of an md one, else
// `name`.
std::string display_name(Host& host, const BlockDevice& device);

// "/dev/disk/by-uuid/1234" for "UUID=1234", and likewise LABEL, PARTUUID, PARTLABEL, ID; the text itself when it is no
// tag. Quotes around a tag's value are taken off, as libmount does. Bytes udev escapes in links (blank, slash, ...)
// become \xNN.
std::string path_of_tag(std::string_view source);

}  // namespace storpol
