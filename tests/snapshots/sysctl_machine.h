// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>

#include "engine/host/host.h"
#include "engine/policy/load.h"
#include "engine/reconcile/evaluate.h"
#include "engine/report/report.h"
#include "resources/registry.h"

// A small Debian 12 with systemd, in memory: what the snapshots are made of.
namespace storpol::test {

inline void put_debian(MemoryHost& host) {
    host.put_file("/usr/lib/systemd/systemd", "");
    host.put_link("/sbin/init", "/usr/lib/systemd/systemd");
    host.put_file("/run/systemd/system/.keep", "");  // its directory is there: sd_booted(3)
    host.put({QueryKind::now, {}}, {"2026-11-30T12:00:00Z", "", std::nullopt});
    host.put({QueryKind::uid, {}}, {"0", "", std::nullopt});
    host.put_file("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    host.put_file("/proc/sys/kernel/hostname", "host1\n");
    host.put_file("/proc/sys/kernel/random/boot_id", "5a2c0f6e-1111-4222-8333-444455556666\n");
    host.put_file("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet\n");
    host.put_file("/proc/meminfo", "MemTotal:       16303084 kB\n");
    host.put_file("/proc/self/mountinfo",
                  "22 28 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw\n"
                  "28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n");
    host.put_file("/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
    host.put_file("/proc/sys/vm/swappiness", "60\n");
    host.put_file("/proc/sys/vm/page-cluster", "3\n");
    host.put_file("/proc/sys/vm/dirty_bytes", "0\n");
    host.put_file("/proc/sys/vm/dirty_ratio", "20\n");
    host.put_file("/proc/sys/vm/vfs_cache_pressure", "100\n");
    host.put_file("/etc/sysctl.d/99-local.conf", "# set by hand\nvm.swappiness = 10\n");
}

struct Seen {
    Loaded loaded;
    Evaluation evaluation;
};

inline Seen look(MemoryHost& host, const std::string& policy, EvaluateOptions options = {}) {
    Resources resources;  // this one alone: what another knows must not change these reports
    resources.push_back(make_sysctl_resource());
    Seen result{load_policy_files({{"site.toml", policy}}, keys_of(resources)), {}};
    Picture picture(host);
    if (result.loaded.errors.empty()) result.evaluation = evaluate(result.loaded.policy, resources, picture, options);
    for (PolicyError& error : result.evaluation.errors) error.line = result.loaded.policy.line_at(error.where);
    return result;
}

inline ReportHead head(std::string command) {
    ReportHead out;
    out.version = "0.1.0";
    out.command = std::move(command);
    out.host_name = "host1";
    out.source = "live";
    out.host_time = "2026-11-30T12:00:00Z";
    return out;
}

}  // namespace storpol::test
