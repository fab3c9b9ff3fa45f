// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cerrno>
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
    bool acts = true;  // false: the resource only reports, and others act
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
    host.put_link("/sys/dev/block/8:1", "../../devices/pci/ata1/block/sda/sda1");
    host.put_file("/proc/fs/ext4/sda1/options", "rw\nbarrier\nnodiscard\ncommit=5\ndata=ordered\n");
    host.put_file("/run/systemd/system/user.slice", "");
}

inline void fill_sysctl(MemoryHost& host) {
    host.put_file("/proc/sys/vm/swappiness", "60\n");
    host.put_file("/proc/sys/vm/page-cluster", "3\n");
    host.put_file("/proc/sys/vm/watermark_boost_factor", "15000\n");
    host.put_file("/etc/sysctl.d/10-vendor.conf", "vm.page-cluster = 2\n");
}

inline void fill_deaf_disk(MemoryHost& host) {
    fill_mounts(host);
    host.put_file("/sys/block/sda/queue/discard_max_bytes", "0\n");
    host.put_file("/sys/block/sda/stat", "1 0 8 1 2 0 16 1 0 2 2 0 0 0 0\n");
}

// A machine of its own files: no service manager answers, so what is persisted is all there is.
inline void fill_fstrim(MemoryHost& host) {
    fill_mounts(host);
    host.put_file("/usr/lib/systemd/system/fstrim.timer",
                  "[Unit]\nConditionVirtualization=!container\nConditionPathExists=/etc/no-such-file\n[Timer]\n"
                  "OnCalendar=weekly\nOnBootSec=1h\nRandomizedDelaySec=100min\n[Install]\nWantedBy=timers.target\n");
    host.put_file("/usr/lib/systemd/system/fstrim.service",
                  "[Service]\nType=oneshot\nProtectSystem=strict\nExecStart=/sbin/fstrim --listed-in "
                  "/etc/fstab:/proc/self/mountinfo --verbose --quiet-unsupported\n");
    host.put_link("/etc/systemd/system/timers.target.wants/fstrim.timer", "/usr/lib/systemd/system/fstrim.timer");
    host.refuse({QueryKind::unit, {"fstrim.timer"}}, ENOENT);
    host.refuse({QueryKind::package, {"util-linux"}}, ENOENT);
}

inline void fill_lvm(MemoryHost& host) {
    host.put_file("/etc/lvm/lvm.conf", "devices {\n\tissue_discards = 1\n}\n");
}

inline void fill_md_raid(MemoryHost& host) {
    fill_disk(host);
    host.put_file("/sys/block/md0/dev", "9:0\n");
    host.put_file("/sys/block/md0/md/level", "raid5\n");
    host.put_link("/sys/block/md0/slaves/sda", "../../../../pci0/block/sda");
    host.put_file("/sys/module/raid456/parameters/devices_handle_discard_safely", "N\n");
}

inline void fill_mglru(MemoryHost& host) {
    host.put_file("/sys/kernel/mm/lru_gen/enabled", "0x0000\n");
    host.put_file("/sys/kernel/mm/lru_gen/min_ttl_ms", "0\n");
    host.put_file("/usr/lib/tmpfiles.d/vendor.conf", "w /sys/kernel/mm/lru_gen/min_ttl_ms - - - - 200\n");
}

inline void fill_thin_pool(MemoryHost& host) {
    host.put_file("/sys/block/dm-2/dev", "253:2\n");
    host.put_file("/sys/block/dm-2/dm/name", "vg-pool-tpool\n");
    host.put_file("/sys/block/dm-2/dm/uuid", "LVM-abc-tpool\n");
    host.put({QueryKind::dm_status, {"vg-pool-tpool"}}, {"features=no_discard_passdown\n", "", {}});
    host.put({QueryKind::lvs, {}}, {"vg/pool type=thin-pool discards=nopassdown\n", "", {}});
}

inline void fill_crypt(MemoryHost& host) {
    host.put_file("/proc/self/mountinfo", "25 1 0:5 / / rw - tmpfs none rw\n");
    host.put_file("/etc/crypttab", "# mine\ndata UUID=1b2c none luks,discard\nswap /dev/sda3 /dev/urandom swap\n");
    host.put_link("/dev/disk/by-uuid/1b2c", "../../sda1");
    host.put({QueryKind::luks, {"/dev/sda1"}}, {"version=1\nuuid=1b2c\n", "", {}});
}

// In use as wanted, and another size at the next boot.
inline void fill_zram(MemoryHost& host) {
    host.put_file("/proc/meminfo", "MemTotal:       8388608 kB\nMemAvailable:    6291456 kB\n");
    host.put_file("/proc/cmdline", "root=/dev/sda1 rw\n");
    host.put_file("/proc/swaps", "Filename Type Size Used Priority\n/dev/zram0 partition 2097148 0 100\n");
    host.put_file("/sys/block/zram0/disksize", "2147483648\n");
    host.put_file("/sys/block/zram0/comp_algorithm", "lzo-rle lzo lz4 [zstd]\n");
    host.put_file("/sys/block/zram0/mm_stat", "4096 74 12288 0 12288 0 0 0 0\n");
    host.put_file("/run/systemd/system/user.slice", "");
    host.put_file("/usr/lib/systemd/system-generators/zram-generator",
                  "\x7f"
                  "ELF");
    host.put_file("/usr/lib/systemd/zram-generator.conf", "[zram0]\nzram-size = ram / 2\n");
    host.put({QueryKind::package, {"systemd-zram-generator"}}, {"1.2.1-2", "", {}});
}

inline const std::map<std::string, Sample, std::less<>>& samples() {
    static const std::map<std::string, Sample, std::less<>> all{
        {"block", {"[[block]]\nmatch = { name = \"sda\" }\nscheduler = \"bfq\"\n", fill_disk}},
        {"discard-path", {"[discard]\nrequire-end-to-end = true\n", fill_deaf_disk, false}},
        {"fstrim",
         {"[fstrim]\nschedule = \"daily\"\ncatch-up = true\nboot-delay = \"5min\"\nrandom-delay = \"1h\"\n"
          "io-class = \"idle\"\nnice = 10\nmin-extent = \"1MiB\"\non-battery = \"skip\"\n",
          fill_fstrim}},
        {"lvm", {"[discard]\nlvm-issue-discards = false\n", fill_lvm}},
        {"md-raid", {"[discard]\nmd-raid456-discard = [\"ST1000DM*\"]\n", fill_md_raid}},
        {"dm-crypt", {"[discard]\ndm-crypt = \"block\"\n", fill_crypt}},
        {"mglru", {"[mglru]\nenabled = true\nmin-ttl = \"1s\"\n", fill_mglru}},
        {"mount",
         {"[[mount]]\nmatch = { target = \"/\", rotational = true }\noptions = [\"noatime\", \"commit=60\"]\n",
          fill_mounts}},
        {"sysctl", {"[vm]\nswappiness = 150\npage-cluster = 0\nwatermark_boost_factor = 0\n", fill_sysctl}},
        {"thin-pool", {"[discard]\nlvm-thin = \"passdown\"\n", fill_thin_pool}},
        {"zram", {"[zram]\nsize = \"25%\"\nalgorithm = \"zstd\"\npriority = 100\n", fill_zram}},
    };
    return all;
}

}  // namespace storpol
