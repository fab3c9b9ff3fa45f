// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/discard_disk.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/disk.h"

namespace storpol {
namespace {

using Passes = DiscardHop::Passes;

struct Model {
    std::string_view glob;
    std::string_view says;
};

// drivers/ata/libata-core.c, __ata_dev_quirks (Linux 6.12). NOTRIM: the kernel sends such a drive no TRIM at all.
constexpr std::array no_trim{
    Model{"SuperSSpeed S238*", "the kernel never sends TRIM to this model (libata's NOTRIM list)"},
    Model{"M88V29*", "the kernel never sends TRIM to this model (libata's NOTRIM list)"},
};

// NO_NCQ_TRIM: TRIM works, in the unqueued form, which drains the queue first.
constexpr std::array unqueued_trim{
    Model{"Samsung SSD 840 EVO*", ""}, Model{"Samsung SSD 840*", ""}, Model{"Samsung SSD 850*", ""},
    Model{"Samsung SSD 860*", ""},     Model{"Samsung SSD 870*", ""}, Model{"Micron_M500_*", ""},
    Model{"Crucial_CT*M500*", ""},     Model{"Micron_M5[15]0_*", ""}, Model{"Crucial_CT*M550*", ""},
    Model{"Crucial_CT*MX100*", ""},
};

template <class Models>
const Model* listed(const Models& models, const std::string& model) {
    const auto found = std::ranges::find_if(models, [&](const Model& known) { return glob_match(known.glob, model); });
    return found == models.end() ? nullptr : &*found;
}

// /sys/block/sda/device/scsi_disk/0:0:0:0/provisioning_mode (drivers/scsi/sd.c); "" where there is none.
std::string provisioning_mode(Host& host, const BlockDevice& device, std::string& file) {
    const auto folder = "/sys/block/" + device.disk + "/device/scsi_disk";
    const auto names = host.list(folder);
    if (!names || names->empty()) return {};
    file = folder + "/" + names->front() + "/provisioning_mode";
    const auto text = host.read_file(file);
    return text ? std::string(trim(*text)) : std::string();
}

std::string why_none(const Disk& disk, const std::string& mode) {
    if (const auto* known = listed(no_trim, disk.model)) return std::string(known->says);
    if (disk.model.starts_with("Msft Virtual Disk")) return "the hypervisor gives this virtual disk no discards";
    if (disk.transport == "usb") {
        return mode.empty() ? "the USB bridge offers no discards"
                            : "the USB bridge offers no discards: its provisioning_mode is " + mode;
    }
    if (disk.transport == "virtio")
        return "the host gives this virtual disk without discards (discard=on is the host's to set)";
    if (disk.transport == "nvme") return "the controller has no Dataset Management command";
    if (disk.transport == "mmc") return "the card has no erase or trim that the kernel uses";
    if (disk.rotational) return "a spinning disk has no TRIM";
    return mode.empty() ? "the device takes no discards"
                        : "the device takes no discards: its provisioning_mode is " + mode;
}

std::string cure_for(const Disk& disk, const std::string& mode_file) {
    if (disk.transport == "usb" && !mode_file.empty()) {
        return "another bridge; provisioning_mode can be forced ([[block]] provisioning-mode) where this very model is "
               "known to pass TRIM";
    }
    if (disk.transport == "virtio") return "the host's configuration of this disk (discard=unmap)";
    return "none on this device";
}

std::string note_for(const Disk& disk) {
    static constexpr std::array<std::string_view, 3> guests{"QEMU", "VBOX", "Virtual disk"};
    const bool is_guest =
        disk.transport == "virtio" || disk.transport == "xen" ||
        std::ranges::any_of(guests, [&](auto name) { return disk.model.find(name) != std::string::npos; });
    if (is_guest) return "a virtual disk: whether its host gives the space back is not visible from here";
    if (disk.transport == "sata" && listed(unqueued_trim, disk.model) != nullptr) {
        return "TRIM works; the kernel sends it unqueued to this model, so online discard stalls other requests";
    }
    return {};
}

}  // namespace

void look_at_disk(DiscardHop& hop, Host& host) {
    const auto disk = read_disk(host, hop.layer->device);
    std::string mode_file;
    const auto mode = provisioning_mode(host, hop.layer->device, mode_file);
    const bool refuses = hop.max_bytes == 0U || mode == "full" || mode == "disabled";
    if (refuses) {
        hop.passes = Passes::no;
        hop.blocks = why_none(disk, mode);
        hop.cure = cure_for(disk, mode_file);
        if (!mode.empty()) hop.decided_by = mode_file;
    } else if (!hop.max_bytes) {
        hop.passes = Passes::unknown;
        hop.note = "its discard_max_bytes cannot be read";
    } else {
        hop.note = note_for(disk);
    }
}

}  // namespace storpol
