// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <string>

#include "engine/host/host.h"

// For each domain a policy that wants something of it, and a machine where that does not hold. A new resource adds its
// own.
namespace storpol {

struct Sample {
    std::string policy;
    std::function<void(MemoryHost&)> fill;
};

inline void fill_disk(MemoryHost& host) {
    host.put_file("/sys/block/sda/queue/scheduler", "[mq-deadline] kyber bfq none\n");
    host.put_file("/sys/block/sda/queue/read_ahead_kb", "128\n");
    host.put_file("/sys/block/sda/queue/nr_requests", "64\n");
    host.put_file("/sys/block/sda/queue/rotational", "1\n");
    host.put_file("/sys/block/sda/removable", "0\n");
    host.put_file("/sys/block/sda/dev", "8:0\n");
    host.put_file("/sys/block/sda/size", "1000000\n");
    host.put_file("/sys/block/sda/device/model", "ST1000DM003-1CH1\n");
}

inline void fill_mounts(MemoryHost& host) {
    fill_disk(host);
    host.put_file("/sys/block/sda/sda1/dev", "8:1\n");
    host.put_file("/etc/fstab", "UUID=1b2c / ext4 defaults 0 1\n");
    host.put_file("/proc/self/mountinfo", "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n");
    host.put_link("/dev/disk/by-uuid/1b2c", "../../sda1");
}

inline void fill_sysctl(MemoryHost& host) {
    host.put_file("/proc/sys/vm/swappiness", "60\n");
    host.put_file("/proc/sys/vm/page-cluster", "3\n");
    host.put_file("/proc/sys/vm/watermark_boost_factor", "15000\n");
    host.put_file("/etc/sysctl.d/10-vendor.conf", "vm.page-cluster = 2\n");
}

inline const std::map<std::string, Sample, std::less<>>& samples() {
    static const std::map<std::string, Sample, std::less<>> all{
        {"block", {"[[block]]\nmatch = { name = \"sda\" }\nscheduler = \"bfq\"\n", fill_disk}},
        {"mount", {"[[mount]]\nmatch = { target = \"/\" }\noptions = [\"noatime\"]\n", fill_mounts}},
        {"sysctl", {"[vm]\nswappiness = 150\npage-cluster = 0\nwatermark_boost_factor = 0\n", fill_sysctl}},
    };
    return all;
}

}  // namespace storpol
