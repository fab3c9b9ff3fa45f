// SPDX-License-Identifier: GPL-3.0-or-later
// sysctl["vm.swappiness"]: one kernel parameter of [vm] or [sysctl].
//   live       /proc/sys/vm/swappiness
//   persisted  the assignment that wins among the files this host's reader takes (sources.h), simulated (effective.h)
#include <algorithm>
#include <map>

#include "engine/host/host.h"
#include "engine/reconcile/compare.h"
#include "engine/text/mountinfo.h"
#include "resources/registry.h"
#include "resources/sysctl/actions.h"
#include "resources/sysctl/findings.h"
#include "resources/sysctl/keys.h"
#include "resources/sysctl/owners.h"
#include "resources/sysctl/sources.h"
#include "resources/sysctl/values.h"

namespace storpol {
namespace {

struct Entry {
    const PolicyEntry* entry = nullptr;
    std::string path;
};

std::vector<Entry> entries_of(const Policy& policy) {
    std::vector<Entry> all;
    const PolicyNode* vm = policy.find("vm");
    if (vm != nullptr && vm->table() != nullptr) {
        for (const PolicyEntry& entry : vm->table()->entries) all.push_back({&entry, "vm/" + entry.key});
    }
    const PolicyNode* sysctl = policy.find("sysctl");
    if (sysctl != nullptr && sysctl->table() != nullptr) {
        for (const PolicyEntry& entry : sysctl->table()->entries) all.push_back({&entry, sysctl_path(entry.key)});
    }
    return all;
}

Setting setting_of(const Entry& from) {
    Setting setting;
    setting.address = sysctl_address(from.path);
    setting.condition = normalised(from.path, from.entry->value.condition());
    setting.wanted = from.entry->value.table() != nullptr ? to_text(setting.condition) : from.entry->value.text;
    setting.policy = {from.entry->value.place};
    // The kernel raises it by itself (huge pages, memory hotplug), so more than wanted is as wanted.
    const auto* is = std::get_if<Is>(&setting.condition);
    if (from.path == "vm/min_free_kbytes" && is != nullptr) {
        if (const auto* number = std::get_if<std::int64_t>(&is->value))
            setting.on_plane[Plane::live] = AtLeast{*number};
    }
    return setting;
}

void refuse_second(const Entry& first, const Entry& second, std::string why, Notes& notes) {
    PolicyError error;
    error.where = second.entry->place;
    error.width = static_cast<int>(second.entry->key.size());
    error.says = second.entry->key + " and " + first.entry->key + " (" + to_text(first.entry->place) + ") " + why;
    error.fix = "keep one of the two";
    notes.add(std::move(error));
}

// Contradictions that no single key shows.
void check_contradictions(const std::vector<Entry>& entries, Notes& notes) {
    std::map<std::string, const Entry*> by_path;
    for (const Entry& entry : entries) {
        const auto [known, is_new] = by_path.emplace(entry.path, &entry);
        if (!is_new) refuse_second(*known->second, entry, "are two spellings of one key", notes);
    }
    for (const KeyPair& pair : key_pairs()) {
        const auto ratio = by_path.find(pair.ratio);
        const auto bytes = by_path.find(pair.bytes);
        if (ratio == by_path.end() || bytes == by_path.end()) continue;
        const bool ratio_first = ratio->second < bytes->second;
        const Entry& first = ratio_first ? *ratio->second : *bytes->second;
        const Entry& second = ratio_first ? *bytes->second : *ratio->second;
        refuse_second(first, second,
                      "are two spellings of one limit: the kernel sets one to 0 when the other is written", notes);
    }
}

// True when /proc/sys, or a part of it that holds `path`, is mounted read-only, as containers have it.
bool is_read_only(std::string_view path, const MountInfoTable& mounts) {
    const MountInfo* deepest = nullptr;
    for (const MountInfo& mount : mounts.mounts) {
        const std::string& target = mount.target;
        const bool holds =
            path.substr(0, target.size()) == target && (path.size() == target.size() || path[target.size()] == '/');
        if (holds && (deepest == nullptr || target.size() >= deepest->target.size())) deepest = &mount;
    }
    if (deepest == nullptr) return false;
    return deepest->mount_options.substr(0, 3) == "ro," || deepest->mount_options == "ro";
}

class Observer {
  public:
    Observer(Host& host, Notes& notes) : host_(host), notes_(notes), sources_(read_sysctl_sources(host)) {}

    const SysctlSources& sources() const { return sources_; }

    Observation observe(const Setting& setting) {
        const std::string path = path_of_address(setting.address);
        Reading live = read_live_sysctl(setting, host_);
        if (std::holds_alternative<Absent>(live.state) && !host_.stat("/proc/sys")) {
            live.state = Unknown{"/proc/sys is not there"};
        }
        if (std::holds_alternative<Absent>(live.state)) return without_key(setting, path, std::move(live));
        const bool drifts = compare(setting.condition_on(Plane::live), live) == Verdict::drift;
        if (drifts && is_read_only(proc_path(path), mounts())) return read_only(setting, path, std::move(live));
        return {{Plane::live, std::move(live)}, {Plane::persisted, persisted_sysctl(setting, sources_)}};
    }

  private:
    // No such attribute: DESIGN wants the planes absent and a finding.
    Observation without_key(const Setting& setting, const std::string& path, Reading live) {
        notes_.add(Finding{
            "no-such-sysctl", Severity::warning,
            sysctl_name(path) +
                " does not exist on this kernel (older or newer, built without it, or its module is not loaded): "
                "nothing is done about it",
            setting.address});
        Reading persisted{Absent{"this kernel has no " + sysctl_name(path)}, {}, {}};
        return {{Plane::live, std::move(live)}, {Plane::persisted, std::move(persisted)}};
    }

    Observation read_only(const Setting& setting, const std::string& path, Reading live) {
        const std::string why = "/proc/sys is read-only here: only the host of this container can set it";
        const auto* found = std::get_if<Found>(&live.state);
        notes_.add(Finding{"proc-sys-read-only", Severity::warning,
                           sysctl_name(path) +
                               (found != nullptr ? " is " + to_text(found->value) : " is not as wanted") + ", and " +
                               why,
                           setting.address});
        live.state = Absent{why};
        return {{Plane::live, std::move(live)}, {Plane::persisted, Reading{Absent{why}, {}, {}}}};
    }

    const MountInfoTable& mounts() {
        if (!mounts_) {
            const auto text = host_.read_file("/proc/self/mountinfo");
            mounts_ = text ? parse_mountinfo(*text) : MountInfoTable{};
        }
        return *mounts_;
    }

    Host& host_;
    Notes& notes_;
    SysctlSources sources_;
    std::optional<MountInfoTable> mounts_;
};

class SysctlResource final : public Resource {
  public:
    std::string_view domain() const override { return "sysctl"; }

    PolicyKeys keys() const override { return sysctl_policy_keys(); }

    std::vector<Setting> settings(const Policy& policy, const Topology&, Host&, Notes& notes) const override {
        std::vector<Entry> entries = entries_of(policy);
        const auto is_left_out = [&](const Entry& entry) {
            return policy.is_unmanaged(sysctl_address(entry.path), {entry.entry->value.place});
        };
        entries.erase(std::remove_if(entries.begin(), entries.end(), is_left_out), entries.end());
        check_contradictions(entries, notes);
        std::vector<Setting> settings;
        settings.reserve(entries.size());
        for (const Entry& entry : entries) settings.push_back(setting_of(entry));
        return settings;
    }

    std::vector<Observation> observe(std::span<const Setting> settings,
                                     const Topology&,
                                     Host& host,
                                     Notes& notes) const override {
        std::vector<Observation> observations;
        if (settings.empty()) return observations;
        Observer observer(host, notes);
        for (const Setting& setting : settings) observations.push_back(observer.observe(setting));
        note_sysctl_findings({settings, observations, observer.sources()}, host, notes);
        return observations;
    }

    Remedy actions(std::span<const Difference> differences, const Topology&, Host& host) const override {
        return sysctl_remedy(differences, host);
    }

    std::vector<std::string> own_files(Host& /*host*/) const override { return {std::string(sysctl_own_file)}; }

    void survey(Host& host) const override {
        read_sysctl_sources(host);
        (void)host.read_file_resolved("/etc/sysctl.conf");
        for (const std::string_view directory : sysctl_directories()) (void)host.list(directory);
        (void)host.stat("/proc/sys");
        const auto names = host.list("/proc/sys/vm");
        for (const std::string& name : names ? *names : std::vector<std::string>{}) {
            const VmKey* key = find_vm_key(name);
            // Triggers: some act when they are read (stat_refresh), none holds a value.
            if (key != nullptr && key->refusal.empty()) (void)host.read_file("/proc/sys/vm/" + name);
        }
        for (const char* file :
             {"/proc/sys/kernel/osrelease", "/proc/meminfo", "/proc/self/mountinfo", "/etc/os-release"}) {
            (void)host.read_file(file);
        }
        (void)host.list("/usr/lib/modules");
        (void)host.stat("/etc/NIXOS");
        (void)host.stat("/run/current-system/channels.scm");
        (void)host.read_link(sysctl_own_file);
        (void)host.read_file(sysctl_own_file);
        read_tuned_sysctls(host);
        read_udev_sysctls(host);
    }
};

}  // namespace

std::unique_ptr<Resource> make_sysctl_resource() {
    return std::make_unique<SysctlResource>();
}

}  // namespace storpol
