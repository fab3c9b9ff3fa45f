// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/disk.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"

namespace storpol {
namespace {

std::string attribute(Host& host, const std::string& path) {
    const auto text = host.read_file(path);
    return text ? std::string(trim(*text)) : std::string();
}

std::string first_of(Host& host, const std::string& sysfs, std::initializer_list<const char*> names) {
    for (const auto* name : names) {
        if (auto text = attribute(host, sysfs + name); !text.empty()) return text;
    }
    return {};
}

// Kernel names tell the driver (Documentation/admin-guide/devices.txt); only "sd" stands for several transports.
std::string transport_of(Host& host, const BlockDevice& device, const std::string& vendor) {
    struct Driver {
        std::string_view prefix;
        std::string_view transport;
    };

    static constexpr std::array drivers{Driver{"nvme", "nvme"}, Driver{"vd", "virtio"}, Driver{"mmcblk", "mmc"},
                                        Driver{"xvd", "xen"},   Driver{"loop", "loop"}, Driver{"zram", "zram"},
                                        Driver{"dm-", "dm"},    Driver{"md", "md"}};
    for (const auto& driver : drivers) {
        if (device.name.starts_with(driver.prefix)) return std::string(driver.transport);
    }
    if (!device.name.starts_with("sd") && !device.name.starts_with("sr")) return {};
    // The device's place in the tree: .../usb1/1-2/..., .../ata3/host2/..., .../end_device-0:1/ (SAS),
    // .../virtio0/host0/.
    const auto link = host.read_link("/sys/dev/block/" + attribute(host, device.sysfs + "/dev"));
    if (link) {
        if (link->find("/usb") != std::string::npos) return "usb";
        if (link->find("/ata") != std::string::npos) return "sata";
        if (link->find("/end_device-") != std::string::npos) return "sas";
        if (link->find("/virtio") != std::string::npos) return "virtio";
    }
    // A capture may hold the flat tree only: libata calls every SATA disk's vendor "ATA" (drivers/ata/libata-scsi.c).
    if (!attribute(host, device.sysfs + "/usb/idVendor").empty()) return "usb";
    return vendor == "ATA" ? "sata" : "scsi";
}

bool is_stacked(const std::string& name) {
    return name.starts_with("dm-") || name.starts_with("md");
}

}  // namespace

std::span<const std::string_view> disk_transports() {
    static constexpr std::array<std::string_view, 12> words{"nvme", "sata", "sas",  "scsi", "usb", "virtio",
                                                            "mmc",  "xen",  "loop", "zram", "dm",  "md"};
    return words;
}

Disk read_disk(Host& host, const BlockDevice& device) {
    Disk disk;
    disk.device = device;
    disk.name = display_name(host, device);
    const auto& sysfs = device.sysfs;
    if (is_stacked(device.name)) {
        const auto uuid = attribute(host, sysfs + "/dm/uuid");
        disk.is_multipath = uuid.starts_with("mpath-");  // multipath-tools libmultipath/defaults.h, UUID_PREFIX
        disk.identity = uuid.empty() ? attribute(host, sysfs + "/md/uuid") : uuid;
        disk.transport = transport_of(host, device, {});
    } else {
        disk.model = first_of(host, sysfs, {"/device/model", "/device/name"});
        disk.serial = first_of(host, sysfs, {"/device/serial", "/serial"});
        disk.wwn = first_of(host, sysfs, {"/wwid", "/device/wwid"});
        disk.identity = disk.wwn.empty() ? disk.serial : disk.wwn;
        disk.transport = transport_of(host, device, attribute(host, sysfs + "/device/vendor"));
    }
    disk.rotational = attribute(host, sysfs + "/queue/rotational") == "1";
    disk.removable = attribute(host, sysfs + "/removable") == "1";
    disk.is_virtual = !disk.is_multipath && (is_stacked(device.name) || device.name.starts_with("loop") ||
                                             device.name.starts_with("zram") || device.name.starts_with("ram"));
    return disk;
}

std::vector<Disk> read_disks(Host& host) {
    std::vector<Disk> disks;
    std::set<std::string> paths;
    for (const auto& device : list_disks(host)) {
        if (attribute(host, device.sysfs + "/size") == "0") continue;
        disks.push_back(read_disk(host, device));
        if (!disks.back().is_multipath) continue;
        if (const auto slaves = host.list(device.sysfs + "/slaves")) paths.insert(slaves->begin(), slaves->end());
    }
    for (auto& disk : disks) disk.is_path = paths.contains(disk.device.name);
    std::ranges::sort(disks, {}, [](const Disk& disk) { return disk.device.name; });
    return disks;
}

}  // namespace storpol
