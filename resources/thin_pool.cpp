// SPDX-License-Identifier: GPL-3.0-or-later
// thin-pool["VG/POOL"].discards: what an LVM thin pool does with the discards of its volumes.
//   live       dm-status of the pool: what is in effect. Its table only says what was asked for: the kernel turns
//              passdown off without a word where the data device takes no discards
//   persisted  LVM's metadata, as lvs reports it
#include "resources/thin_pool.h"

#include <algorithm>
#include <map>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/word_list.h"
#include "engine/topology/discard_layer.h"
#include "engine/topology/stack.h"
#include "engine/topology/topology.h"
#include "resources/keys.h"

namespace storpol {
namespace {

struct Pool {
    std::string name;              // "vg0/pool"
    const Layer* layer = nullptr;  // its "-tpool" mapping; none where it is not active
    std::string persisted;         // "passdown", "nopassdown", "ignore"; empty where LVM does not say
};

struct Pools {
    std::vector<Pool> pools;  // by name
    std::string unreadable;   // why LVM could not be asked
};

// "vg--data-pool-tpool" is vg-data/pool: device-mapper names join VG, LV and layer with a dash and double those inside
// (libdm/libdm-string.c, dm_build_dm_name).
std::string lvm_name_of(std::string_view mapping) {
    std::vector<std::string> parts(1);
    for (std::size_t at = 0; at < mapping.size(); ++at) {
        if (mapping[at] != '-') {
            parts.back() += mapping[at];
        } else if (at + 1 < mapping.size() && mapping[at + 1] == '-') {
            parts.back() += '-';
            ++at;
        } else {
            parts.emplace_back();
        }
    }
    return parts.size() < 2 ? std::string() : parts[0] + "/" + parts[1];
}

std::string property(const Result<std::map<std::string, std::string>>& properties, const char* key) {
    if (!properties) return {};
    const auto at = properties->find(key);
    return at == properties->end() ? std::string() : at->second;
}

// "vg0/pool type=thin-pool discards=passdown data-percent=6.11"
void add_reported(std::string_view line, std::map<std::string, Pool>& pools) {
    const auto words = split_words(line);
    if (words.empty() || std::ranges::find(words, "type=thin-pool") == words.end()) return;
    auto& pool = pools[std::string(words.front())];
    for (const auto word : words) {
        if (word.starts_with("discards=")) pool.persisted = word.substr(9);
    }
}

// "vg0/pool"; empty for what is no active pool of LVM.
std::string pool_name(const Layer& layer) {
    const bool is_lvm_pool = layer.dm_uuid.starts_with("LVM-") && layer.dm_uuid.ends_with("-tpool");
    return is_lvm_pool ? lvm_name_of(layer.name) : std::string();
}

// What opens the mappings below for discards.
void add_mappings_below(const Layer& layer, std::vector<SettingPlane>& opening) {
    if (layer.kind == LayerKind::dm_crypt)
        opening.push_back({make_address("dm-crypt", layer.name, "discard"), Plane::live});
    for (const auto* below : layer.below) add_mappings_below(*below, opening);
}

Pools find_pools(const Topology& topology, Host& host) {
    std::map<std::string, Pool> by_name;
    for (const auto* layer : stacks(topology, host).mappings()) {
        const auto name = pool_name(*layer);
        if (!name.empty()) by_name[name].layer = layer;
    }
    Pools found;
    const auto report = host.ask({QueryKind::lvs, {}});
    if (report.refusal) {
        found.unreadable = report.refusal->what;
    } else {
        for (const auto line : split_lines(report.text)) add_reported(line, by_name);
    }
    for (auto& [name, pool] : by_name) {
        pool.name = name;
        found.pools.push_back(std::move(pool));
    }
    return found;
}

const Pools& pools(const Topology& topology, Host& host) {
    return topology.derived<Pools>([&] { return find_pools(topology, host); });
}

std::string address_of(const Pool& pool) {
    return make_address("thin-pool", pool.name, "discards");
}

const Pool& pool_of(const Setting& setting, const Topology& topology, Host& host) {
    const auto& all = pools(topology, host).pools;
    const auto found = std::ranges::find(all, setting.address, address_of);
    if (found == all.end()) STORPOL_BUG("a setting of no thin pool");
    return *found;
}

Reading read_live(const Pool& pool, Host& host) {
    Reading reading;
    if (pool.layer == nullptr) {
        reading.state = Absent{"the pool is not active"};
        return reading;
    }
    reading.source = "dm status of " + pool.layer->name;
    const auto status = host.dm_status(pool.layer->name);
    const auto features = property(status, "features");
    if (!status) {
        reading.state = Unknown{status.error().what};
    } else if (has_word(features, "ignore_discard")) {
        reading.state = Found{Value{std::string("ignore")}, "ignore_discard"};
    } else if (has_word(features, "no_discard_passdown")) {
        reading.state = Found{Value{std::string("nopassdown")}, "no_discard_passdown"};
    } else if (has_word(features, "discard_passdown")) {
        reading.state = Found{Value{std::string("passdown")}, "discard_passdown"};
    } else {
        reading.state = Unknown{"its status says nothing of discards: " + printable(features)};
    }
    return reading;
}

Reading read_persisted(const Pool& pool, const std::string& unreadable) {
    Reading reading;
    reading.source = "LVM metadata of " + pool.name;
    if (!pool.persisted.empty()) {
        reading.state = Found{Value{pool.persisted}, {}};
    } else {
        reading.state = Unknown{unreadable.empty() ? "lvs does not report it" : unreadable};
    }
    return reading;
}

std::string wanted_of(const Difference& difference) {
    return to_text(std::get<Is>(difference.wanted()).value);
}

// All that is wrong with one pool.
class PoolRemedy {
  public:
    PoolRemedy(const Pool& pool, Host& host) : pool_(pool), host_(host) {}

    void close(const Difference& difference, Remedy& remedy) {
        const auto wanted = wanted_of(difference);
        if (pool_.persisted == wanted && difference.plane == Plane::live) return close_live(difference, wanted, remedy);
        const bool to_or_from_ignore = wanted == "ignore" || pool_.persisted == "ignore";
        if (to_or_from_ignore && pool_.layer != nullptr) {
            return add_gap(difference, remedy,
                           "LVM changes to and from ignore only while the pool is not active: unmount its volumes, "
                           "lvchange -an them and the pool, then lvchange --discards " +
                               wanted + " " + pool_.name);
        }
        if (pool_.persisted.empty()) return add_gap(difference, remedy, "what LVM has for it could not be read");
        Action action = action_for(difference);
        action.verb = Verb::change_thin_pool;
        action.target = pool_.name;
        action.step = ChangeThinPool{pool_.name, wanted};
        action.says = wanted == "passdown" ? "pass the discards of its volumes down to the device"
                                           : "keep the discards of its volumes from the device";
        remedy.actions.push_back(std::move(action));
    }

  private:
    // LVM has it right, the kernel does not: passdown is judged anew when the table is loaded.
    void close_live(const Difference& difference, const std::string& wanted, Remedy& remedy) {
        const auto data = pool_.layer == nullptr ? std::vector<const Layer*>{} : data_layers(*pool_.layer, host_);
        const bool takes_discards = std::ranges::all_of(data, [&](const Layer* layer) {
            const auto max = queue_attribute(host_, layer->device, "discard_max_bytes");
            return max && *max != "0";
        });
        if (wanted != "passdown" || data.empty()) {
            return add_gap(difference, remedy,
                           "the pool was loaded otherwise; lvchange --refresh, or the next activation");
        }
        if (!takes_discards) {
            add_gap(difference, remedy,
                    data.front()->name +
                        ", which holds its data, takes no discards, so the kernel turned "
                        "passdown off; a layer below it has to change first");
            for (const auto* layer : data) add_mappings_below(*layer, remedy.gaps.back().with);
            return;
        }
        Action action = action_for(difference);
        action.verb = Verb::reload_table;
        action.target = pool_.layer->name;
        action.step = ReloadTable{pool_.layer->name, pool_.layer->dm_uuid};
        action.says = "load the pool's table once more, as its data device takes discards by now";
        remedy.actions.push_back(std::move(action));
    }

    static Action action_for(const Difference& difference) {
        Action action;
        action.serves = {{difference.setting->address, difference.plane}};
        return action;
    }

    static void add_gap(const Difference& difference, Remedy& remedy, std::string why) {
        remedy.gaps.push_back({{difference.setting->address, difference.plane}, std::nullopt, std::move(why)});
    }

    const Pool& pool_;
    Host& host_;
};

class ThinPoolResource final : public Resource {
  public:
    std::string_view domain() const override { return "thin-pool"; }

    PolicyKeys keys() const override {
        Key key = key_of(
            "lvm-thin", KeyType::word,
            "What LVM thin pools do with discards: `passdown` frees their space and tells the device below; "
            "`nopassdown` "
            "frees their space alone; `ignore` frees nothing. An active pool changes between the first two only.");
        key.choices = {"passdown", "nopassdown", "ignore"};
        return discard_keys(key);
    }

    std::vector<Setting> settings(const Policy& policy, const Topology& topology, Host& host, Notes&) const override {
        const auto* node = find_discard_key(policy, "lvm-thin");
        std::vector<Setting> settings;
        if (node == nullptr) return settings;
        for (const auto& pool : pools(topology, host).pools) {
            Setting setting;
            setting.address = address_of(pool);
            setting.policy = {node->place};
            if (policy.is_unmanaged(setting.address, setting.policy)) continue;
            setting.wanted = node->text;
            setting.condition = Is{Value{node->text}};
            if (pool.layer != nullptr) setting.device = pool.layer->dm_uuid;
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
            const auto& pool = pool_of(setting, topology, host);
            observations.push_back({{Plane::live, read_live(pool, host)},
                                    {Plane::persisted, read_persisted(pool, pools(topology, host).unreadable)}});
        }
        return observations;
    }

    Remedy actions(std::span<const Difference> differences, const Topology& topology, Host& host) const override {
        Remedy remedy;
        for (const auto& difference : differences) {
            const auto& pool = pool_of(*difference.setting, topology, host);
            PoolRemedy(pool, host).close(difference, remedy);
        }
        merge_changes(remedy);
        return remedy;
    }

    std::vector<std::string> own_files(Host&) const override { return {}; }

    void survey(Host& host) const override {
        const Topology topology(host);
        for (const auto* mapping : stacks(topology, host).mappings()) {
            if (mapping->kind != LayerKind::thin_pool) continue;
            host.dm_status(mapping->name);
            pools(topology, host);
        }
    }

  private:
    // One lvchange brings both planes.
    static void merge_changes(Remedy& remedy) {
        std::vector<Action> merged;
        for (auto& action : remedy.actions) {
            const auto same = std::ranges::find(merged, action.step, &Action::step);
            if (same == merged.end()) {
                merged.push_back(std::move(action));
            } else {
                same->serves.insert(same->serves.end(), action.serves.begin(), action.serves.end());
            }
        }
        remedy.actions = std::move(merged);
    }
};

}  // namespace

std::string thin_pool_address(const Layer& layer) {
    const auto name = pool_name(layer);
    return name.empty() ? std::string() : make_address("thin-pool", name, "discards");
}

std::unique_ptr<Resource> make_thin_pool_resource() {
    return std::make_unique<ThinPoolResource>();
}

}  // namespace storpol
