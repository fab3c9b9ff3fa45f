// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/topology/block_device.h"

// One whole disk, mapping or array as rules match it and reports name it.
namespace storpol {

class Host;

struct Disk {
    BlockDevice device;
    std::string name;   // display_name(): what addresses use
    std::string model;  // trimmed; empty where there is none
    std::string serial;
    std::string wwn;
    std::string transport;  // "nvme", "sata", "sas", "scsi", "usb", "virtio", "mmc", "xen", "loop", "zram", "dm", "md";
                            // "" unknown
    bool rotational = false;
    bool removable = false;
    bool is_virtual =
        false;  // no hardware of its own: loop, zram, ram, dm and md; a multipath device is its disk, so not virtual
    bool is_multipath = false;  // a dm device of target multipath
    bool is_path = false;       // a disk below a multipath device: set through that device, never by itself
    std::string identity;       // WWN, else serial, else dm uuid: what records keep beside an address; may be empty
};

// Every word that Disk::transport can be.
std::span<const std::string_view> disk_transports();

// Every whole disk of /sys/block with media (devices of size 0 such as unused loops, and optical or floppy drives
// without one, are left out), sorted by kernel name. Reads a handful of attributes of each.
std::vector<Disk> read_disks(Host& host);
Disk read_disk(Host& host, const BlockDevice& device);

}  // namespace storpol
