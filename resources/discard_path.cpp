// SPDX-License-Identifier: GPL-3.0-or-later
// mount["TARGET"].discard-path: whether discards of a filesystem get to its disks.
//   live      every layer below it, engine/topology/discard_path.h
//   evidence  discards that the disks at the bottom have counted since boot, /sys/block/DISK/stat
// Nothing is changed here: the layer that blocks has a setting of its own (dm-crypt["root"].discard, ...).
#include "resources/discard_path.h"

#include <algorithm>
#include <unordered_map>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/crypt_mapping.h"
#include "engine/topology/discard_path.h"
#include "engine/topology/topology.h"
#include "resources/keys.h"
#include "resources/md_raid.h"
#include "resources/mount/trimmed.h"
#include "resources/thin_pool.h"

namespace storpol {
namespace {

constexpr std::string_view whole = "end-to-end";

// Field 12 of /sys/block/DISK/stat: discards completed since boot (kernel Documentation/block/stat.rst).
std::optional<std::int64_t> discards_of(Host& host, const Layer& disk) {
    const auto text = host.read_file("/sys/block/" + disk.device.disk + "/stat");
    if (!text) return std::nullopt;
    const auto fields = split_words(*text);
    return fields.size() < 12 ? std::nullopt : parse_int(fields[11]);
}

Reading evidence_of(const DiscardPath& path, Host& host) {
    Reading reading;
    std::string silent;
    std::int64_t least = -1;
    for (const auto& hop : path.hops) {
        if (hop.layer->kind != LayerKind::disk) continue;
        const auto counted = discards_of(host, *hop.layer);
        reading.source = "/sys/block/" + hop.layer->device.disk + "/stat";
        if (!counted) {
            reading.state = Absent{hop.layer->name + " counts no discards"};
            return reading;
        }
        if (*counted == 0) silent += (silent.empty() ? "" : ", ") + hop.layer->name;
        least = least < 0 ? *counted : std::min(least, *counted);
    }
    if (least < 0) {
        reading.state = Absent{"no disk below counts discards"};
    } else if (!silent.empty()) {
        reading.state = Absent{"no discard has arrived at " + silent + " since boot, which may be too short a time"};
    } else {
        reading.state = Found{Value{std::string(whole)}, std::to_string(least) + " discards since boot"};
    }
    return reading;
}

Reading live_of(const DiscardPath& path) {
    Reading reading;
    switch (path.verdict) {
        case DiscardPath::Verdict::reaches:
            reading.state = Found{Value{std::string(whole)}, {}};
            break;
        case DiscardPath::Verdict::blocked: {
            const auto& blocker = *path.first_blocker();
            reading.state = Found{Value{summary_of(path)}, blocker.blocks};
            reading.source = blocker.decided_by;
            break;
        }
        case DiscardPath::Verdict::unknown:
            reading.state = Unknown{path.why};
            break;
        case DiscardPath::Verdict::no_device:
            reading.state = Absent{path.why};
            break;
    }
    if (reading.source.empty() && !path.hops.empty()) reading.source = path.hops.front().layer->device.sysfs;
    return reading;
}

Finding finding(std::string code, std::string says, std::string where, Severity severity = Severity::warning) {
    Finding made;
    made.severity = severity;
    made.code = std::move(code);
    made.says = std::move(says);
    made.where = std::move(where);
    return made;
}

bool is_continuous(const TrimmedFilesystem& trimmed) {
    return trimmed.how == "continuous" || trimmed.how.starts_with("discard");
}

// What else a person should know of a path that a policy counts on. Where it only wants trims, a way that ends early
// (a spinning disk) is nothing to worry about.
void note_path(const TrimmedFilesystem& trimmed, const DiscardPath& path, bool must_reach, Notes& notes) {
    const auto& target = trimmed.filesystem->target();
    const auto severity = must_reach ? Severity::warning : Severity::info;
    for (const auto at : path.blockers) {
        const auto& hop = path.hops[at];
        std::string says = "discards of " + target + " are blocked by " + describe(*hop.layer) + ": " + hop.blocks;
        if (!hop.cure.empty()) says += "; what would change it: " + hop.cure;
        notes.add(
            finding("discard-blocked", std::move(says), hop.decided_by.empty() ? target : hop.decided_by, severity));
    }
    if (!path.blockers.empty() && is_continuous(trimmed)) {
        notes.add(finding("continuous-over-blocked",
                          target + " is to discard continuously, and " + summary_of(path) +
                              ": each deletion costs time and gives nothing back",
                          target));
    }
    for (const auto& hop : path.hops) {
        if (hop.blocks.empty() && hop.passes == DiscardHop::Passes::no && !hop.note.empty())
            notes.add(finding("false-success", describe(*hop.layer) + " " + hop.note, target));
        if (is_continuous(trimmed) && hop.layer->kind == LayerKind::disk && hop.note.starts_with("TRIM works"))
            notes.add(finding("unqueued-trim", hop.layer->name + ": " + hop.note, target));
    }
}

// Of every mounted filesystem on block devices, by the address of its setting. Found once per run.
using Paths = std::unordered_map<std::string, DiscardPath>;

std::string address_of(const ManagedFilesystem& filesystem) {
    return make_address("mount", filesystem.target(), "discard-path");
}

const Paths& discard_paths(const Topology& topology, Host& host) {
    return topology.derived<Paths>([&] {
        Paths paths;
        for (const auto& filesystem : mount_inventory(topology, host).filesystems) {
            const auto* superblock = superblock_of(filesystem, topology);
            if (superblock == nullptr || !is_block_filesystem(filesystem.fstype)) continue;
            paths.emplace(address_of(filesystem), find_discard_path(*superblock, topology, host));
        }
        return paths;
    });
}

struct Wanted {
    bool is_on = false;
    Place place;
};

Wanted read_wanted(const Policy& policy) {
    const auto* node = find_discard_key(policy, "require-end-to-end");
    if (node == nullptr) return {};
    return {node->text == "true", node->place};
}

class DiscardPathResource final : public Resource {
  public:
    std::string_view domain() const override { return "discard-path"; }

    PolicyKeys keys() const override {
        return discard_keys(key_of(
            "require-end-to-end", KeyType::boolean,
            "Whether a filesystem that is to be trimmed must reach its disks with it: a layer that drops discards on "
            "the way is drift, naming the layer. `storpol explain MOUNT` draws the way."));
    }

    std::vector<Setting> settings(const Policy& policy,
                                  const Topology& topology,
                                  Host& host,
                                  Notes& notes) const override {
        std::vector<Setting> settings;
        const auto wanted = read_wanted(policy);
        if (!wanted.is_on && policy.find("discard") == nullptr && policy.find("mount") == nullptr) return settings;
        const auto& paths = discard_paths(topology, host);
        for (const auto& trimmed : trimmed_filesystems(policy, topology, host)) {
            Setting setting;
            setting.address = address_of(*trimmed.filesystem);
            const auto path = paths.find(setting.address);
            if (path == paths.end()) continue;  // not mounted: there is no stack to look at
            if (wanted.is_on || !trimmed.how.empty()) note_path(trimmed, path->second, wanted.is_on, notes);
            if (!wanted.is_on) continue;
            setting.policy = {wanted.place};
            if (policy.is_unmanaged(setting.address, setting.policy)) continue;
            setting.wanted = whole;
            setting.condition = Is{Value{std::string(whole)}};
            for (const auto& mount : trimmed.filesystem->mounts) {
                if (!mount.is_bind && mount.target != trimmed.filesystem->target())
                    setting.also_at.push_back(mount.target);
            }
            settings.push_back(std::move(setting));
        }
        return settings;
    }

    std::vector<Observation> observe(std::span<const Setting> settings,
                                     const Topology& topology,
                                     Host& host,
                                     Notes&) const override {
        std::vector<Observation> observations;
        for (const auto& setting : settings) {
            const auto& path = discard_paths(topology, host).at(setting.address);
            Observation observation;
            observation[Plane::live] = live_of(path);
            observation[Plane::evidence] = evidence_of(path, host);
            observations.push_back(std::move(observation));
        }
        return observations;
    }

    Remedy actions(std::span<const Difference> differences, const Topology& topology, Host& host) const override {
        Remedy remedy;
        for (const auto& difference : differences) {
            const auto& path = discard_paths(topology, host).at(difference.setting->address);
            Gap gap;
            gap.of = {difference.setting->address, difference.plane};
            if (comes_with_the_next_boot(path, topology, host)) {
                gap.waits = When::next_boot;
            } else {
                gap.cannot = summary_of(path) + ": " + path.first_blocker()->blocks;
                gap.with = settings_that_open(path);
            }
            remedy.gaps.push_back(std::move(gap));
        }
        return remedy;
    }

    std::vector<std::string> own_files(Host&) const override { return {}; }

    void survey(Host& host) const override {
        const Topology topology(host);
        for (const auto& [address, path] : discard_paths(topology, host)) evidence_of(path, host);
    }

  private:
    // The live planes of the settings that make each layer in the way let discards through; none where one has none.
    static std::vector<SettingPlane> settings_that_open(const DiscardPath& path) {
        std::vector<SettingPlane> opening;
        for (const auto at : path.blockers) {
            const auto& layer = *path.hops[at].layer;
            if (layer.kind == LayerKind::dm_crypt) {
                opening.push_back(mapping_plane(layer));
            } else if (layer.kind == LayerKind::thin_pool) {
                opening.push_back({thin_pool_address(layer), Plane::live});
            } else if (layer.kind == LayerKind::md) {
                opening.push_back({make_address("md-raid", "", "raid456-discard"), Plane::live});
            } else if (passes_limits_on(layer.kind)) {
                add_mappings_below(layer, opening);
            } else {
                return {};
            }
        }
        std::ranges::sort(opening);
        opening.erase(std::unique(opening.begin(), opening.end()), opening.end());
        return opening;
    }

    static SettingPlane mapping_plane(const Layer& layer) {
        return {make_address("dm-crypt", layer.name, "discard"), Plane::live};
    }

    // The setting of an open mapping holds the tables above it that were loaded when it was shut.
    static void add_mappings_below(const Layer& layer, std::vector<SettingPlane>& opening) {
        for (const auto* below : layer.below) {
            if (below->kind == LayerKind::dm_crypt) opening.push_back(mapping_plane(*below));
            if (passes_limits_on(below->kind)) add_mappings_below(*below, opening);
        }
    }

    // Layers that block only because what lies below does, or did: their tables are reloaded with it.
    static bool passes_limits_on(LayerKind kind) {
        return kind == LayerKind::linear || kind == LayerKind::striped || kind == LayerKind::thin;
    }

    // Every layer in the way lets discards through from its next opening or assembly on.
    static bool comes_with_the_next_boot(const DiscardPath& path, const Topology& topology, Host& host) {
        return !path.blockers.empty() && std::ranges::all_of(path.blockers, [&](std::size_t at) {
            const auto& layer = *path.hops[at].layer;
            if (layer.kind == LayerKind::md) return raid456_passes_at_boot(topology, host);
            if (layer.kind != LayerKind::dm_crypt || !layer.integrity.empty()) return false;
            const auto& mappings = crypt_mappings(topology, host);
            const auto* mapping = mappings.find(layer.name);
            if (mapping == nullptr) return false;
            return flag_of(mapping->persisted, mappings.header_of(*mapping), "allow-discards").is_on == true;
        });
    }
};

}  // namespace

std::unique_ptr<Resource> make_discard_path_resource() {
    return std::make_unique<DiscardPathResource>();
}

}  // namespace storpol
