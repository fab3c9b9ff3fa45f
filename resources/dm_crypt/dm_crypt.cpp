// SPDX-License-Identifier: GPL-3.0-or-later
// dm-crypt["NAME"].discard and its like: what an encrypted mapping lets through, and how it does its work.
//   live       the mapping's device-mapper table, and whether the devices above have taken it up
//   persisted  the crypttab line or command-line word that opens it, by the program that does, OR-ed with the flags of
//              its LUKS2 header: engine/topology/crypt_mapping.h
//   boot       the same in the artefacts: the crypttab inside the initramfs, the command line of the boot entry
#include "resources/dm_crypt/dm_crypt.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/crypt_mapping.h"
#include "engine/topology/topology.h"
#include "resources/dm_crypt/readings.h"
#include "resources/dm_crypt/remedy.h"
#include "resources/dm_crypt/rule.h"
#include "resources/mount/trimmed.h"

namespace storpol {
namespace {

Finding finding(std::string code, Severity severity, std::string says, std::string where) {
    Finding made;
    made.code = std::move(code);
    made.severity = severity;
    made.says = std::move(says);
    made.where = std::move(where);
    return made;
}

// The mappings below filesystems that are to be trimmed; none where no devices can be seen (an image): then which they
// are is not known, and all count.
std::optional<std::set<const Layer*>> layers_below_trimmed(const Policy& policy, const Topology& topology, Host& host) {
    if (!topology.mounts() || !host.list("/sys/block")) return std::nullopt;
    std::set<const Layer*> layers;
    for (const auto& trimmed : trimmed_filesystems(policy, topology, host)) {
        const auto* superblock = superblock_of(*trimmed.filesystem, topology);
        if (superblock == nullptr) continue;
        for (const auto* layer : layers_below(stacks(topology, host).of(*superblock).tops)) layers.insert(layer);
    }
    return layers;
}

class SettingMaker {
  public:
    SettingMaker(const CryptPolicy& wanted, const Policy& policy, const Topology& topology, Host& host, Notes& notes)
        : wanted_(wanted), policy_(policy), notes_(notes), mappings_(crypt_mappings(topology, host)) {
        if (wanted.discard && wanted.discard->is_on) trimmed_ = layers_below_trimmed(policy, topology, host);
        matched_.assign(wanted.rules.size(), false);
        subjects_.prefers_crypttab = wanted.prefers_crypttab;
    }

    std::vector<Setting> make() {
        std::vector<Setting> settings;
        for (const auto& mapping : mappings_.all()) {
            for (const auto& [name, wish] : wishes_for(mapping)) add(mapping, *wish, settings);
        }
        note_unmatched();
        if (!mappings_.unknown().empty()) {
            notes_.add(finding("mappings-not-known", Severity::warning,
                               "which encrypted mappings there are cannot be read, so nothing is said of them",
                               mappings_.unknown()));
        }
        return settings;
    }

    CryptSubjects take_subjects() { return std::move(subjects_); }

  private:
    std::map<std::string_view, const CryptWish*> wishes_for(const CryptMapping& mapping) {
        std::map<std::string_view, const CryptWish*> wishes;
        const bool below_trimmed = !trimmed_ || (mapping.live != nullptr && trimmed_->contains(mapping.live));
        if (wanted_.discard && (!wanted_.discard->is_on || below_trimmed)) wishes["discard"] = &*wanted_.discard;
        for (std::size_t i = 0; i < wanted_.rules.size(); ++i) {
            const auto& rule = wanted_.rules[i];
            if (!rule.name || !glob_match(*rule.name, mapping.name)) continue;
            matched_[i] = true;
            for (const auto& wish : rule.wishes) wishes[wish.property->name] = &wish;
        }
        const bool is_meant = !wishes.empty() || wanted_.discard;
        if (!mapping.random_key.empty() && is_meant) {
            leave_out(mapping, mapping.random_key + ", so nothing of it is changed");
            wishes.clear();
        } else if (wishes.empty() && is_meant) {
            leave_out(mapping, mapping.live == nullptr ? "it is not open"
                                                       : "no mounted filesystem that is to be trimmed lies on it");
        }
        return wishes;
    }

    void leave_out(const CryptMapping& mapping, const std::string& why) {
        notes_.add(finding("dm-crypt-left-out", Severity::info,
                           make_address("dm-crypt", mapping.name, "discard") + " is left out: " + why,
                           make_address("dm-crypt", mapping.name, "discard")));
    }

    void add(const CryptMapping& mapping, const CryptWish& wish, std::vector<Setting>& settings) {
        Setting setting;
        setting.address = make_address("dm-crypt", mapping.name, wish.property->name);
        setting.policy = {wish.place};
        if (policy_.is_unmanaged(setting.address, setting.policy)) return;
        setting.wanted = wish.text;
        setting.condition = Is{Value{std::string(wish.is_on ? wish.property->on : wish.property->off)}};
        setting.device = mapping.uuid;
        if (setting.device.empty() && mapping.live != nullptr) setting.device = mapping.live->dm_uuid;
        subjects_.by_address[setting.address] = {mapping.name, wish.property, wish.is_on};
        settings.push_back(std::move(setting));
    }

    void note_unmatched() {
        for (std::size_t i = 0; i < wanted_.rules.size(); ++i) {
            if (matched_[i]) continue;
            notes_.add(finding("rule-matches-nothing", wanted_.rules[i].is_builtin ? Severity::info : Severity::warning,
                               "no encrypted mapping of this host matches this [[dm-crypt]] rule",
                               to_text(wanted_.rules[i].place)));
        }
    }

    const CryptPolicy& wanted_;
    const Policy& policy_;
    Notes& notes_;
    const CryptMappings& mappings_;
    std::optional<std::set<const Layer*>> trimmed_;
    std::vector<bool> matched_;
    CryptSubjects subjects_;
};

// Words that look as if they did something and do not.
void note_sources(const CryptMapping& mapping, const CryptProperty& property, Notes& notes) {
    for (const auto* opening : {&mapping.persisted, &mapping.boot}) {
        for (const auto& source : opening->sources) {
            for (const auto& word : source.misspelt) {
                if (flag_meant(source.reader, word) != property.flag) continue;
                const auto right = option_of_flag(source.reader, property.flag);
                notes.add(finding("crypt-option-ignored", Severity::warning,
                                  quote_json(word) + " for " + quote_json(mapping.name) + " means nothing to " +
                                      source.read_by + ", which opens it without a word" +
                                      (right ? "; its word is " + quote_json(*right) : std::string()),
                                  source.where));
            }
            if (source.decides || !source.flags.contains(std::string(property.flag))) continue;
            notes.add(finding("crypt-option-without-effect", Severity::warning,
                              "the options for " + quote_json(mapping.name) + " here do not apply: " + source.why_not,
                              source.where));
        }
    }
}

void note_crypttab(const CryptMappings& mappings, Notes& notes) {
    for (const auto& rejected : mappings.crypttab().rejected) {
        notes.add(finding("crypttab-line-rejected", Severity::warning,
                          "this line is skipped by what reads crypttab: " + rejected.why + "; it is kept as it is",
                          mappings.crypttab_path() + ":" + std::to_string(rejected.line)));
    }
    std::set<std::string> names;
    for (const auto& entry : mappings.crypttab().entries) {
        if (names.insert(entry.name).second) continue;
        notes.add(
            finding("crypttab-name-twice", Severity::warning,
                    quote_json(entry.name) + " stands in crypttab before; the first line counts, this one does not",
                    mappings.crypttab_path() + ":" + std::to_string(entry.line)));
    }
}

class DmCryptResource final : public Resource {
  public:
    std::string_view domain() const override { return "dm-crypt"; }

    PolicyKeys keys() const override { return crypt_keys(); }

    std::vector<Setting> settings(const Policy& policy,
                                  const Topology& topology,
                                  Host& host,
                                  Notes& notes) const override {
        const auto wanted = read_crypt_policy(policy, notes);
        if (wanted.is_empty()) return {};
        SettingMaker maker(wanted, policy, topology, host, notes);
        auto settings = maker.make();
        topology.derived<CryptSubjects>([&] { return maker.take_subjects(); });
        return settings;
    }

    std::vector<Observation> observe(std::span<const Setting> settings,
                                     const Topology& topology,
                                     Host& host,
                                     Notes& notes) const override {
        std::vector<Observation> observations;
        if (settings.empty()) return observations;
        const auto& subjects = subjects_of(topology);
        const auto& mappings = crypt_mappings(topology, host);
        const CryptReadings readings(topology, host, subjects.prefers_crypttab);
        for (const auto& setting : settings) {
            const auto& subject = subjects.by_address.at(setting.address);
            const auto* mapping = mappings.find(subject.mapping);
            if (mapping == nullptr) STORPOL_BUG("no mapping of a setting's name");
            observations.push_back(readings.observe(*mapping, *subject.property, subject.wants_on));
            if (subject.wants_on) note_sources(*mapping, *subject.property, notes);
        }
        note_crypttab(mappings, notes);
        return observations;
    }

    Remedy actions(std::span<const Difference> differences, const Topology& topology, Host& host) const override {
        if (differences.empty()) return {};
        return crypt_remedy(differences, subjects_of(topology), topology, host);
    }

    std::vector<std::string> own_files(Host& /*host*/) const override { return {}; }

    void survey(Host& host) const override {
        const Topology topology(host);
        const auto& mappings = crypt_mappings(topology, host);
        const CryptReadings readings(topology, host, false);
        for (const auto& mapping : mappings.all()) {
            for (const auto& property : crypt_properties()) readings.observe(mapping, property, true);
        }
        trimmed_filesystems({}, topology, host);
        survey_crypt_remedy(topology, host);
    }

  private:
    static const CryptSubjects& subjects_of(const Topology& topology) {
        return topology.derived<CryptSubjects>([] { return CryptSubjects{}; });
    }
};

}  // namespace

std::unique_ptr<Resource> make_dm_crypt_resource() {
    return std::make_unique<DmCryptResource>();
}

}  // namespace storpol
