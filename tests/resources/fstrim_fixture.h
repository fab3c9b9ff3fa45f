// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cerrno>
#include <string>

#include "engine/host/host.h"
#include "resources/fstrim/fstrim.h"
#include "resources/mount/mount.h"
#include "tests/resources/domain_run.h"

// A laptop with the pair of units as util-linux ships it, and short questions about a run.
namespace storpol::fstrim_test {

inline constexpr const char* timer_file = "/usr/lib/systemd/system/fstrim.timer";
inline constexpr const char* service_file = "/usr/lib/systemd/system/fstrim.service";
inline constexpr const char* timer_drop_in = "/etc/systemd/system/fstrim.timer.d/50-storpol.conf";
inline constexpr const char* service_drop_in = "/etc/systemd/system/fstrim.service.d/50-storpol.conf";
inline constexpr const char* link = "/etc/systemd/system/timers.target.wants/fstrim.timer";

// util-linux 2.38 on Debian 12.
inline constexpr const char* stock_timer =
    "[Unit]\nDescription=Discard unused blocks once a week\nDocumentation=man:fstrim\n"
    "ConditionVirtualization=!container\nConditionPathExists=!/etc/initrd-release\n\n"
    "[Timer]\nOnCalendar=weekly\nAccuracySec=1h\nPersistent=true\nRandomizedDelaySec=6000\n\n"
    "[Install]\nWantedBy=timers.target\n";
inline constexpr const char* stock_service =
    "[Unit]\nDescription=Discard unused blocks on filesystems from /etc/fstab\n"
    "ConditionVirtualization=!container\n\n"
    "[Service]\nType=oneshot\n"
    "ExecStart=/sbin/fstrim --listed-in /etc/fstab:/proc/self/mountinfo --verbose --quiet-unsupported\n"
    "PrivateDevices=no\nPrivateNetwork=yes\nPrivateUsers=no\nProtectKernelTunables=yes\n"
    "SystemCallFilter=@default @file-system @basic-io @system-service\n";

// A laptop with a root on one disk that discards, and the pair as it is shipped and enabled.
inline void fill(MemoryHost& host) {
    host.put_file(timer_file, stock_timer);
    host.put_file(service_file, stock_service);
    host.put_link(link, timer_file);
    host.put_file("/run/systemd/system/user.slice", "");
    host.put_file("/etc/fstab", "UUID=1b2c / ext4 defaults 0 1\n");
    host.put_file("/proc/self/mountinfo", "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n");
    host.put_link("/dev/disk/by-uuid/1b2c", "../../sda1");
    host.put_link("/sys/dev/block/8:1", "../../devices/pci/ata1/block/sda/sda1");
    host.put_file("/sys/block/sda/dev", "8:0\n");
    host.put_file("/sys/block/sda/sda1/dev", "8:1\n");
    host.put_file("/sys/block/sda/sda1/partition", "1\n");
    host.put_file("/sys/block/sda/queue/discard_max_bytes", "2147450880\n");
    host.put_file("/sys/block/sda/queue/discard_granularity", "4096\n");
    host.put({QueryKind::now, {}}, {"2026-11-30T12:00:00Z", "", {}});
    host.put({QueryKind::package, {"util-linux"}}, {"2.38.1-5+deb12u3", "", {}});
    host.put({QueryKind::journal, {"fstrim.service", "1000"}}, {"", "", {}});
}

inline void put_manager(MemoryHost& host, const std::string& more = "") {
    host.put({QueryKind::unit, {"fstrim.timer"}},
             {"ActiveState=active\nLoadState=loaded\nTimersCalendar=OnCalendar=Mon *-*-* 00:00:00\nTimersMonotonic=\n"
              "Persistent=yes\nRandomizedDelayUSec=6000000000\nAccuracyUSec=3600000000\n" +
                  more,
              "",
              {}});
    host.put({QueryKind::unit, {"fstrim.service"}},
             {"LoadState=loaded\nNice=0\nIOSchedulingClass=0\nConditions=ConditionVirtualization=!container\n"
              "ExecStart=/sbin/fstrim --listed-in /etc/fstab:/proc/self/mountinfo --verbose --quiet-unsupported\n",
              "",
              {}});
}

inline void put_journal(MemoryHost& host, const std::string& lines) {
    host.put({QueryKind::journal, {"fstrim.service", "1000"}}, {lines, "", {}});
}

inline Resources mounts() {
    Resources others;
    others.push_back(make_mount_resource());
    return others;
}

struct FstrimRun : DomainRun {
    FstrimRun(const std::string& policy, Host& host, bool image = false)
        : DomainRun(make_fstrim_resource(), policy, host, image, mounts()) {}

    std::string persisted(const std::string& property) const { return verdict("fstrim." + property, Plane::persisted); }

    std::string live(const std::string& property) const { return verdict("fstrim." + property, Plane::live); }

    std::string found(const std::string& address, Plane plane) const {
        const auto* state = setting(address);
        const auto* on = state == nullptr ? nullptr : state->on(plane);
        const auto* value = on == nullptr ? nullptr : std::get_if<Found>(&on->reading.state);
        return value == nullptr ? "none" : to_text(value->value);
    }

    // What a report prints of it.
    std::string raw(const std::string& address, Plane plane) const {
        const auto* state = setting(address);
        const auto* on = state == nullptr ? nullptr : state->on(plane);
        const auto* value = on == nullptr ? nullptr : std::get_if<Found>(&on->reading.state);
        return value == nullptr ? "none" : value->raw;
    }
};

}  // namespace storpol::fstrim_test
