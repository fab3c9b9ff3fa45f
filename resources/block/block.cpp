// SPDX-License-Identifier: GPL-3.0-or-later
// block["DISK"].scheduler and its like: one attribute of one disk's request queue.
//   live       /sys/block/DISK/queue/..., resources/block/attribute.cpp
//   persisted  the udev rule that wins for ATTR{queue/...} over all rules directories, resources/block/udev_outcome.h;
//              what the active TuneD profile writes over it, resources/block/tuned_disks.h
// Our own rules: /etc/udev/rules.d/99-storpol.rules, a line per policy rule and key, resources/block/remedy.cpp
#include "resources/block/block.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/reconcile/compare.h"
#include "engine/topology/disk.h"
#include "engine/topology/topology.h"
#include "resources/block/readings.h"
#include "resources/block/remedy.h"
#include "resources/block/rule.h"
#include "resources/block/tuned_disks.h"

namespace storpol {
namespace {

Setting setting_of(const BlockRule& rule, const BlockWish& wish, std::string address) {
    Setting setting;
    setting.address = std::move(address);
    setting.wanted = wish.text;
    setting.condition = wish.condition;
    setting.policy = {wish.place};
    setting.own_address = rule.address() + "." + std::string(wish.attribute->key);
    if (auto* is = std::get_if<Is>(&setting.condition)) is->value = wish.attribute->rounded(is->value);
    return setting;
}

void note_unmatched(const BlockRule& rule, Notes& notes) {
    Finding finding;
    finding.code = "rule-matches-nothing";
    finding.severity = rule.is_builtin ? Severity::info : Severity::warning;
    finding.says = "no disk of this host matches this [[block]] rule";
    finding.where = to_text(rule.place);
    notes.add(finding);
}

// Every disk with the wish that wins for it, key by key: later rules beat earlier ones.
std::vector<Setting> settings_on_disks(const std::vector<BlockRule>& rules,
                                       const std::vector<Disk>& disks,
                                       const Policy& policy,
                                       Notes& notes) {
    std::map<std::string, Setting> by_address;
    for (const auto& rule : rules) {
        bool matched = false;
        for (const auto& disk : disks) {
            if (!rule.matches(disk)) continue;
            matched = true;
            for (const auto& wish : rule.wishes) {
                auto setting = setting_of(rule, wish, make_address("block", disk.name, wish.attribute->key));
                if (policy.is_unmanaged(setting.address, setting.policy)) continue;
                setting.device = disk.identity;
                by_address.insert_or_assign(setting.address, std::move(setting));
            }
        }
        if (!matched) note_unmatched(rule, notes);
    }
    std::vector<Setting> settings;
    for (auto& [address, setting] : by_address) settings.push_back(std::move(setting));
    return settings;
}

// Where there is no sysfs (an image), a rule is a setting of its own, known by its match.
std::vector<Setting> settings_by_match(const std::vector<BlockRule>& rules, const Policy& policy) {
    std::map<std::string, Setting> by_address;
    for (const auto& rule : rules) {
        for (const auto& wish : rule.wishes) {
            auto setting = setting_of(rule, wish, rule.address() + "." + std::string(wish.attribute->key));
            if (policy.is_unmanaged(setting.address, setting.policy)) continue;
            by_address.insert_or_assign(setting.address, std::move(setting));
        }
    }
    std::vector<Setting> settings;
    for (auto& [address, setting] : by_address) settings.push_back(std::move(setting));
    return settings;
}

BlockLineOrder line_order(const std::vector<BlockRule>& rules) {
    BlockLineOrder order;
    for (const auto& rule : rules) {
        for (const auto& wish : rule.wishes)
            order.addresses.push_back(rule.address() + "." + std::string(wish.attribute->key));
    }
    return order;
}

// What writes at boot, in the order in which it writes.
struct BootWriters {
    const UdevRulesFiles& rules;
    const TunedDisks& tuned;
};

Observation observe_disk(
    const Setting& setting, const BlockTarget& target, const BootWriters& writers, Host& host, Notes& notes) {
    Observation observation;
    observation[Plane::live] = live_block_reading(host, *target.disk, *target.attribute);
    if (const auto* absent = std::get_if<Absent>(&observation[Plane::live].state)) {
        observation[Plane::persisted] = {Absent{absent->why}, "", {}};
        return observation;
    }
    const auto outcome = judge_for_disk(host, writers.rules, *target.disk, *target.attribute);
    const auto by_udev = persisted_block_reading(writers.rules, outcome, *target.attribute);
    observation[Plane::persisted] =
        writers.tuned.after(by_udev, observation[Plane::live], *target.disk, *target.attribute);
    for (const auto& source : outcome.without_effect) {
        Finding finding;
        finding.code = "udev-rule-without-effect";
        finding.says = "this rule sets " + setting.address + " to a value the kernel does not know, so it sets nothing";
        finding.where = source;
        notes.add(finding);
    }
    return observation;
}

// One finding for each line of a profile that keeps settings from holding, with the settings.
void note_tuned(std::span<const Setting> settings, const std::vector<Observation>& observations, Notes& notes) {
    std::map<std::string, std::vector<std::string>> by_line;
    std::map<std::string, std::string> says;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        const auto persisted = observations[i].find(Plane::persisted);
        if (persisted == observations[i].end() || !is_from_tuned(persisted->second)) continue;
        const auto& reading = persisted->second;
        if (compare(settings[i].condition_on(Plane::persisted), reading) == Verdict::in_sync) continue;
        by_line[reading.source].push_back(settings[i].address);
        const auto* found = std::get_if<Found>(&reading.state);
        says[reading.source] =
            found == nullptr ? "may set it" : "sets it to " + (found->raw.empty() ? to_text(found->value) : found->raw);
    }
    for (const auto& [where, addresses] : by_line) {
        constexpr std::size_t shown = 3;
        const auto names = join(std::span(addresses).first(std::min(shown, addresses.size())), ", ");
        Finding finding;
        finding.code = "tuned-sets-attribute";
        finding.says = where + ": the active TuneD profile " + printable(says[where]) +
                       ", and TuneD writes after udev: " + names +
                       (addresses.size() > shown ? " and " + std::to_string(addresses.size() - shown) + " more" : "") +
                       "; change the profile (a child profile with include=), or leave this to it";
        finding.where = where;
        notes.add(finding);
    }
}

class BlockResource final : public Resource {
  public:
    std::string_view domain() const override { return "block"; }

    PolicyKeys keys() const override { return {{block_key()}}; }

    std::vector<Setting> settings(const Policy& policy,
                                  const Topology& topology,
                                  Host& host,
                                  Notes& notes) const override {
        const auto rules = read_block_rules(policy, notes);
        if (rules.empty()) return {};
        topology.derived<BlockLineOrder>([&] { return line_order(rules); });
        if (!host.list("/sys/block")) return settings_by_match(rules, policy);
        return settings_on_disks(rules, block_targets(topology, host).disks(), policy, notes);
    }

    std::vector<Observation> observe(std::span<const Setting> settings,
                                     const Topology& topology,
                                     Host& host,
                                     Notes& notes) const override {
        if (settings.empty()) return {};
        const auto& targets = block_targets(topology, host);
        const auto rules = read_udev_files(host);
        const BootWriters writers{rules, tuned_disks(topology, host)};
        std::vector<Observation> observations;
        for (const auto& setting : settings) {
            const auto target = targets.of(setting);
            if (target.disk == nullptr) {
                observations.push_back({{Plane::persisted, own_rule_reading(setting, rules)}});
            } else {
                observations.push_back(observe_disk(setting, target, writers, host, notes));
            }
        }
        note_tuned(settings, observations, notes);
        return observations;
    }

    Remedy actions(std::span<const Difference> differences, const Topology& topology, Host& host) const override {
        return block_remedy(differences, topology, host);
    }

    std::vector<std::string> own_files(Host& /*host*/) const override { return {std::string(block_rules_path)}; }

    void survey(Host& host) const override {
        const auto rules = read_udev_files(host);
        for (const auto& disk : read_disks(host)) {
            for (const auto& attribute : block_attributes()) {
                live_block_reading(host, disk, attribute);
                judge_for_disk(host, rules, disk, attribute);
            }
        }
        const TunedDisks tuned(host);
        survey_block_remedy(host);
    }
};

}  // namespace

std::unique_ptr<Resource> make_block_resource() {
    return std::make_unique<BlockResource>();
}

}  // namespace storpol
