// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/host/host.h"
#include "engine/policy/load.h"
#include "engine/reconcile/compare.h"
#include "engine/reconcile/resource.h"
#include "engine/topology/topology.h"
#include "resources/registry.h"

// One run of the sysctl resource over a machine in memory: policy text in, readings, findings and actions out.
namespace storpol {

inline Loaded load_text(const std::string& text) {
    std::vector<PolicyKeys> keys{make_sysctl_resource()->keys()};
    return load_policy_files({Policy::File{"site.toml", "version = 1\n" + text}}, keys);
}

// A Debian-like host under systemd with the kernel's defaults.
inline MemoryHost systemd_host() {
    MemoryHost host;
    host.put_file("/run/systemd/system/.keep", "");
    host.put_file("/proc/sys/kernel/osrelease", "6.12.0\n");
    host.put_file("/proc/meminfo", "MemTotal:       16384000 kB\nMemFree: 1 kB\n");
    host.put_file("/proc/sys/vm/swappiness", "60\n");
    host.put_file("/proc/sys/vm/dirty_ratio", "20\n");
    host.put_file("/proc/sys/vm/dirty_bytes", "0\n");
    host.put_file("/proc/sys/vm/dirty_background_ratio", "10\n");
    host.put_file("/proc/sys/vm/dirty_background_bytes", "0\n");
    host.put_file("/proc/sys/vm/min_free_kbytes", "67584\n");
    host.put_file("/proc/sys/vm/watermark_scale_factor", "10\n");
    host.put_file("/proc/sys/vm/vfs_cache_pressure", "100\n");
    host.put_file("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
    host.put_file("/proc/sys/net/core/somaxconn", "4096\n");
    return host;
}

struct SysctlRun {
    std::unique_ptr<Resource> resource = make_sysctl_resource();
    Loaded loaded;
    Notes notes;
    std::vector<Setting> settings;
    std::vector<Observation> observations;
    std::vector<Difference> differences;
    Remedy remedy;

    SysctlRun(const std::string& policy, Host& host) : loaded(load_text(policy)) {
        for (const auto& error : loaded.errors) ADD_FAILURE() << error.says;
        const Topology topology(host);
        settings = resource->settings(loaded.policy, topology, host, notes);
        observations = resource->observe(settings, topology, host, notes);
        for (std::size_t i = 0; i < settings.size(); ++i) {
            for (const auto& [plane, reading] : observations[i]) {
                if (verdict_at(i, plane) == Verdict::drift)
                    differences.push_back({&settings[i], plane, reading, std::nullopt});
            }
        }
        remedy = resource->actions(differences, topology, host);
    }

    SysctlRun(const SysctlRun&) = delete;
    SysctlRun& operator=(const SysctlRun&) = delete;

    Verdict verdict_at(std::size_t i, Plane plane) const {
        const auto live = observations[i].find(Plane::live);
        return compare(settings[i].condition_on(plane), observations[i].at(plane),
                       live == observations[i].end() ? nullptr : &live->second);
    }

    std::size_t index(const std::string& name) const {
        for (std::size_t i = 0; i < settings.size(); ++i) {
            if (settings[i].address == make_address("sysctl", name, "")) return i;
        }
        ADD_FAILURE() << "no setting " << name;
        return 0;
    }

    const Reading& reading(const std::string& name, Plane plane) const {
        return observations.at(index(name)).at(plane);
    }

    Verdict verdict(const std::string& name, Plane plane) const { return verdict_at(index(name), plane); }

    const Finding* finding(const std::string& code) const {
        for (const auto& each : notes.findings()) {
            if (each.code == code) return &each;
        }
        return nullptr;
    }

    const Action* action(const std::string& target) const {
        for (const auto& each : remedy.actions) {
            if (each.target == target) return &each;
        }
        return nullptr;
    }

    std::string gap(const std::string& name, Plane plane) const {
        for (const auto& each : remedy.gaps) {
            if (each.of == SettingPlane{make_address("sysctl", name, ""), plane}) return each.cannot;
        }
        return "";
    }
};

inline std::string number_of(const Reading& reading) {
    const auto* found = std::get_if<Found>(&reading.state);
    return found == nullptr ? "not found" : to_text(found->value);
}

}  // namespace storpol
