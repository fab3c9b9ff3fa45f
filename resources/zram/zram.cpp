// SPDX-License-Identifier: GPL-3.0-or-later
// zram["zram0"].size, .algorithm, .level, .priority, .resident-limit, .discard: compressed swap in memory.
//   live       /sys/block/zramN/{disksize,comp_algorithm,mm_stat}, /proc/swaps; level and discard show nowhere
//   persisted  the configuration of what sets zram up on this host: zram-generator's files and their drop-ins,
//              /etc/default/zramswap, /etc/conf.d/zram-init, or our own unit
// Our own file: /etc/systemd/zram-generator.conf.d/50-storpol.conf, or the unit (resources/zram/persisted.h).
#include "resources/zram/zram.h"

#include "engine/host/host.h"
#include "engine/host/swap_guard.h"
#include "engine/host/zram_state.h"
#include "engine/topology/topology.h"
#include "resources/zram/findings.h"
#include "resources/zram/live.h"
#include "resources/zram/persisted.h"
#include "resources/zram/remedy.h"
#include "resources/zram/rule.h"
#include "resources/zram/wishes.h"

namespace storpol {
namespace {

class ZramResource final : public Resource {
  public:
    std::string_view domain() const override { return "zram"; }

    PolicyKeys keys() const override { return zram_keys(); }

    std::vector<Setting> settings(const Policy& policy,
                                  const Topology& topology,
                                  Host& host,
                                  Notes& notes) const override {
        std::vector<Setting> settings;
        for (const auto& asked : read_zram_policy(policy, notes)) {
            auto setting = zram_setting(asked, host);
            if (!policy.is_unmanaged(setting.address, setting.policy)) settings.push_back(std::move(setting));
        }
        zram_unseen(topology, settings);
        return settings;
    }

    std::vector<Observation> observe(std::span<const Setting> settings,
                                     const Topology& topology,
                                     Host& host,
                                     Notes& notes) const override {
        std::vector<Observation> observations;
        for (const auto& setting : settings) observations.push_back(observe_one(setting, topology, host));
        note_zram_findings(settings, observations, topology, host, notes);
        return observations;
    }

    Remedy actions(std::span<const Difference> differences, const Topology& topology, Host& host) const override {
        return zram_remedy(differences, topology, host);
    }

    std::vector<std::string> own_files(Host& host) const override { return zram_own_files(host); }

    void survey(Host& host) const override {
        const Topology topology(host);
        const auto& persisted = zram_persisted(topology, host);
        auto names = persisted.devices();
        names.emplace_back("zram0");
        const auto blocks = host.list("/sys/block");
        if (blocks) {
            for (const auto& name : *blocks) {
                if (zram_number(name)) names.push_back(name);
            }
        }
        for (const auto& name : names) {
            const auto state = read_zram_state(host, name);
            zram_takes_levels(name, host);
            why_not_swap_off(host, state.device);
        }
        why_no_zram(host);
        host.read_file("/sys/module/zswap/parameters/enabled");
        memory_bytes(host);
        topology.mounts();
    }

  private:
    static Observation observe_one(const Setting& setting, const Topology& topology, Host& host) {
        const auto address = parse_zram_address(setting.address);
        const auto state = read_zram_state(host, address.device);
        Observation observation;
        observation[Plane::live] = read_zram_live(state, address.device, address.property, host);
        observation[Plane::persisted] = zram_persisted(topology, host).read(address.device, address.property);
        if (address.property == "size" && !wanted_number(setting.condition)) {
            const Unknown why{"the memory, of which " + setting.wanted + " are wanted, cannot be read (/proc/meminfo)"};
            for (auto& [plane, reading] : observation) reading.state = why;
        }
        const auto why_none = state.exists() ? std::string() : why_no_zram(host);
        if (!why_none.empty()) {
            for (auto& [plane, reading] : observation) reading.state = Absent{why_none};
        }
        return observation;
    }
};

}  // namespace

std::unique_ptr<Resource> make_zram_resource() {
    return std::make_unique<ZramResource>();
}

}  // namespace storpol
