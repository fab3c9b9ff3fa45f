// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cerrno>
#include <map>
#include <string>

#include "engine/host/host.h"

// Pieces of a machine in memory that boots from encrypted disks.
namespace storpol {

// An initramfs that holds these files and none of the others that anyone asks for.
inline void put_image(MemoryHost& host, const std::string& path, const std::map<std::string, std::string>& members) {
    host.put_file(path, "070701");
    for (const auto* member :
         {"conf/initramfs.conf", "cryptroot/crypttab", "buildconfig", "config", "usr/lib/dracut/build-parameter.txt",
          "lib/dracut/build-parameter.txt", "scripts/local-top/cryptroot", "hooks/encrypt",
          "usr/lib/systemd/system/cryptsetup.target", "usr/lib/systemd/systemd-cryptsetup",
          "usr/bin/systemd-cryptsetup", "lib/systemd/systemd-cryptsetup", "usr/sbin/cryptroot-ask",
          "sbin/cryptroot-ask", "etc/crypttab", "etc/cmdline.d/90crypt.conf", "etc/cmdline.d/20-crypt.conf"}) {
        host.refuse({QueryKind::image_member, {path, member}}, ENOENT);
    }
    for (const auto& [member, bytes] : members) host.put({QueryKind::image_member, {path, member}}, {bytes, "", {}});
}

// GRUB with one entry of this command line and initramfs.
inline void put_grub(MemoryHost& host, const std::string& arguments, const std::string& image) {
    host.put_file("/boot/vmlinuz", "kernel");
    host.put_file("/boot/grub/grub.cfg",
                  "menuentry 'Linux' {\n\tlinux /vmlinuz " + arguments + "\n\tinitrd " + image.substr(5) + "\n}\n");
}

inline void put_disk(MemoryHost& host, const std::string& name, const std::string& number, const std::string& max) {
    const auto sysfs = "/sys/block/" + name;
    host.put_file(sysfs + "/dev", number + "\n");
    host.put_file(sysfs + "/size", "1000000\n");
    host.put_file(sysfs + "/removable", "0\n");
    host.put_file(sysfs + "/queue/rotational", "0\n");
    host.put_file(sysfs + "/queue/discard_max_bytes", max + "\n");
    host.put_link("/sys/dev/block/" + number, "../../devices/pci/block/" + name);
}

// A device-mapper device over another one; `table` is the answer of dm-table.
inline void put_mapping(MemoryHost& host,
                        const std::string& kernel_name,
                        const std::string& number,
                        const std::string& name,
                        const std::string& uuid,
                        const std::string& below,
                        const std::string& max,
                        const std::string& table) {
    put_disk(host, kernel_name, number, max);
    const auto sysfs = "/sys/block/" + kernel_name;
    host.put_file(sysfs + "/dm/name", name + "\n");
    host.put_file(sysfs + "/dm/uuid", uuid + "\n");
    host.put_link(sysfs + "/slaves/" + below, "../../../pci/block/" + below);
    host.put({QueryKind::dm_table, {name}}, {table, "", {}});
}

inline void put_luks(MemoryHost& host, const std::string& device, const std::string& facts) {
    host.put({QueryKind::luks, {device}}, {facts, "", {}});
}

}  // namespace storpol
