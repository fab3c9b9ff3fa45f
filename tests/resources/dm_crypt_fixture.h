// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/host/host.h"
#include "resources/dm_crypt/dm_crypt.h"
#include "resources/mount/mount.h"
#include "tests/resources/domain_run.h"
#include "tests/support/boot_machine.h"

// A machine whose root lies on LUKS, and short questions about a run.
namespace storpol::dm_crypt_test {

inline constexpr const char* uuid = "6171f721-1157-533d-a749-b0a49955605c";
inline constexpr const char* dm_uuid = "CRYPT-LUKS2-6171f7211157533da749b0a49955605c-root";
inline constexpr const char* allow =
    "[discard]\nfilesystem = \"periodic\"\ndm-crypt = \"allow\"\naccept-dm-crypt-leak = true\n";
inline constexpr const char* block = "[discard]\ndm-crypt = \"block\"\n";
inline constexpr const char* address = R"(dm-crypt["root"].discard)";

inline std::string line(const std::string& options) {
    return std::string("root UUID=") + uuid + " none " + options + "\n";
}

struct Machine {
    std::string options = "luks";   // of crypttab
    std::string in_image = "luks";  // of its copy
    std::string table;              // flags of the open mapping
    std::string header = "version=2\nflags=\n";
    std::string above;  // discard_max_bytes of an LV on it; "": the filesystem lies on the mapping itself
    std::string type = "LUKS2";
};

// Debian with / on LUKS, open now.
inline void fill(MemoryHost& host, const Machine& machine) {
    put_grub(host, "root=/dev/mapper/root ro", "/boot/initrd.img");
    put_image(host, "/boot/initrd.img", {{"conf/initramfs.conf", ""}, {"cryptroot/crypttab", line(machine.in_image)}});
    host.put_file("/etc/crypttab", "# opened at boot\n" + line(machine.options));
    host.put_link(std::string("/dev/disk/by-uuid/") + uuid, "../../sda");
    put_disk(host, "sda", "8:0", "1000");
    const bool passes = machine.table.find("allow_discards") != std::string::npos;
    put_mapping(host, "dm-0", "254:0", "root", std::string(dm_uuid).replace(6, 5, machine.type), "sda",
                passes ? "1000" : "0", "target=crypt\nflags=" + machine.table + "\n");
    put_luks(host, "/dev/sda", machine.header + "uuid=" + uuid + "\n");
    std::string device = "254:0";
    if (!machine.above.empty()) {
        put_mapping(host, "dm-1", "254:1", "vg-root", "LVM-abc", "dm-0", machine.above, "target=linear\n");
        host.put_link("/sys/block/dm-0/holders/dm-1", "../../dm-1");
        device = "254:1";
    }
    host.put_file("/proc/self/mountinfo", "25 1 " + device + " / / rw,relatime - ext4 /dev/mapper/root rw\n");
}

inline DomainRun run(const std::string& policy, Host& host, bool image = false) {
    Resources others;
    others.push_back(make_mount_resource());
    return DomainRun(make_dm_crypt_resource(), policy, host, image, std::move(others));
}

inline std::vector<std::string> verbs(const DomainRun& it) {
    std::vector<std::string> all;
    for (const auto& action : it.evaluation.plan.actions) {
        all.push_back(std::string(to_text(action.verb)) + " " + action.target + " " +
                      std::string(to_text(action.when)));
    }
    return all;
}

using Words = std::vector<std::string>;

}  // namespace storpol::dm_crypt_test
