// SPDX-License-Identifier: GPL-3.0-or-later
// fstrim.schedule, fstrim.coverage["TARGET"], fstrim.evidence, ...: the scheduled trim.
//   live       the service manager's view of fstrim.timer and fstrim.service
//   persisted  their unit files and drop-ins by systemd's precedence; of a coverage what fstrim reads: fstab, mountinfo
//              where systemd does not start the host, an hourly job of cron
//   evidence   the journal of fstrim.service, and /var/lib/storpol/trim
// Our own lines: /etc/systemd/system/fstrim.{timer,service}.d/50-storpol.conf, and the links of `systemctl enable`;
// /etc/cron.d/storpol-trim.
#include "resources/fstrim/fstrim.h"

#include <algorithm>
#include <map>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/reconcile/clock.h"
#include "engine/text/calendar.h"
#include "engine/topology/discard_path.h"
#include "engine/topology/topology.h"
#include "resources/fstrim/coverage.h"
#include "resources/fstrim/cron.h"
#include "resources/fstrim/crontab.h"
#include "resources/fstrim/evidence.h"
#include "resources/fstrim/findings.h"
#include "resources/fstrim/init_system.h"
#include "resources/fstrim/readings.h"
#include "resources/fstrim/remedy.h"
#include "resources/fstrim/rule.h"
#include "resources/fstrim/uptime.h"
#include "resources/mount/trimmed.h"

namespace storpol {
namespace {

std::string address_of(std::string_view property) {
    return make_address("fstrim", "", property);
}

Setting setting_of(const std::string& property, const FstrimWish& wish) {
    Setting setting;
    setting.address = address_of(property);
    setting.wanted = wish.text;
    setting.policy = {wish.place};
    setting.condition = Is{wish.number ? Value{*wish.number} : Value{wish.text}};
    if (property == "schedule") {
        if (const auto normal = normal_calendar(wish.text)) setting.condition = Is{Value{*normal}};
    }
    // Both say what ExecStart= is.
    if (property == "min-extent") setting.own_address = address_of("runner");
    return setting;
}

// Only a drive that takes discards can have been trimmed; a layer in between that stops them is another matter.
bool can_be_trimmed(const Superblock& superblock, const Topology& topology, Host& host) {
    const auto path = find_discard_path(superblock, topology, host);
    if (path.verdict == DiscardPath::Verdict::no_device) return false;
    bool has_disk = false;
    for (const auto& hop : path.hops) {
        if (hop.layer->kind != LayerKind::disk) continue;
        has_disk = true;
        const auto hardware = hop.max_hw_bytes ? hop.max_hw_bytes : hop.max_bytes;
        if (!hardware || *hardware > 0) return true;
    }
    return !has_disk;
}

class Making {
  public:
    Making(const Policy& policy, const FstrimPolicy& read) : policy_(policy), read_(read) {}

    std::vector<Setting> make(const Topology& topology, Host& host) {
        FstrimWish enabled{read_.is_enabled() ? "true" : "false", std::nullopt, read_.place};
        if (const auto* said = read_.find("enabled")) enabled = *said;
        enabled.number.reset();
        add(setting_of("enabled", enabled));
        if (!read_.is_enabled()) return std::move(settings_);
        for (const auto& [property, wish] : read_.keys) {
            if (property != "enabled") add(setting_of(property, wish));
        }
        const bool has_limits = read_.max_age || read_.max_zero_byte_runs;
        if (has_limits) add(evidence_setting(address_of("evidence"), {read_.evidence}));
        for (const auto& trimmed : trimmed_filesystems(policy_, topology, host)) {
            if (trimmed.how == "continuous" || trimmed.how.starts_with("discard")) continue;
            const auto name = trim_name(*trimmed.filesystem, topology);
            add(coverage_setting(trimmed, name));
            const auto* superblock = superblock_of(*trimmed.filesystem, topology);
            if (!has_limits || trimmed.is_left_out || superblock == nullptr) continue;
            if (!can_be_trimmed(*superblock, topology, host)) continue;
            auto setting = evidence_setting(evidence_address(name), {read_.evidence});
            setting.also_at = others_of(trimmed, name);
            add(std::move(setting));
        }
        return std::move(settings_);
    }

  private:
    void add(Setting setting) {
        if (!policy_.is_unmanaged(setting.address, setting.policy)) settings_.push_back(std::move(setting));
    }

    Setting evidence_setting(std::string address, std::vector<Place> places) const {
        Setting setting;
        setting.address = std::move(address);
        setting.policy = std::move(places);
        setting.condition = Is{Value{std::string(evidence_fresh)}};
        if (read_.max_age) setting.wanted = "max-age " + read_.max_age->text;
        if (read_.max_zero_byte_runs)
            setting.wanted += (setting.wanted.empty() ? "" : ", ") + std::string("max-zero-byte-runs ") +
                              read_.max_zero_byte_runs->text;
        return setting;
    }

    static std::vector<std::string> others_of(const TrimmedFilesystem& trimmed, const std::string& name) {
        std::vector<std::string> others;
        for (const auto& mount : trimmed.filesystem->mounts) {
            if (!mount.is_bind && mount.target != name) others.push_back(mount.target);
        }
        return others;
    }

    Setting coverage_setting(const TrimmedFilesystem& trimmed, const std::string& name) const {
        Setting setting;
        setting.address = coverage_address(name);
        setting.wanted = trimmed.is_left_out ? left_out : covered;
        setting.condition = Is{Value{setting.wanted}};
        setting.policy = trimmed.trim_policy.empty() ? trimmed.policy : trimmed.trim_policy;
        if (setting.policy.empty()) setting.policy = {read_.place};
        setting.own_address = address_of("coverage");
        setting.also_at = others_of(trimmed, name);
        return setting;
    }

    const Policy& policy_;
    const FstrimPolicy& read_;
    std::vector<Setting> settings_;
};

EvidenceLimits limits_of(const Setting& setting) {
    // "max-age 10d, max-zero-byte-runs 4", as evidence_setting() has it.
    EvidenceLimits limits;
    for (const auto part : split(setting.wanted, ',')) {
        const auto words = split_words(part);
        if (words.size() != 2) continue;
        const auto span =
            words[0] == "max-age" ? parse_duration(words[1]) : Result<std::chrono::microseconds>(tl::unexpect, Error{});
        if (span) limits.max_age_s = span->count() / 1000000;
        if (words[0] == "max-zero-byte-runs") limits.max_zero_byte_runs = parse_int(words[1]);
    }
    return limits;
}

Reading coverage_reading(const Coverage& coverage, const Setting& setting, bool by_storpol) {
    Reading reading;
    reading.source = coverage.source;
    const bool leaves_out = setting.wanted == left_out;
    if (!coverage.unknown.empty()) {
        reading.state = Unknown{coverage.unknown};
    } else if (by_storpol && leaves_out) {
        reading.state = Absent{"the runner reads it from the policy"};
    } else if (coverage.is_covered()) {
        reading.state = Found{Value{std::string(covered)}, {}};
    } else {
        const bool is_out = leaves_out && coverage.cause != Coverage::Cause::no_service;
        reading.state = Found{Value{std::string(is_out ? left_out : "not covered")}, coverage.says};
    }
    return reading;
}

class Observer {
  public:
    Observer(std::span<const Setting> settings, const Topology& topology, Host& host)
        : topology_(topology),
          host_(host),
          units_(read_fstrim_units(host)),
          live_(read_fstrim_live(host)),
          foreign_(foreign_init(host)) {
        for (const auto& setting : settings) {
            if (setting.address == address_of("runner")) units_.wanted_runner = live_.wanted_runner = setting.wanted;
        }
    }

    Observation observe(const Setting& setting) {
        const auto property = fstrim_property(setting.address);
        if (property == "evidence") return {{Plane::evidence, evidence_of(setting)}};
        if (!foreign_.empty()) return observe_by_cron(property, foreign_, host_);
        if (property == "coverage") return {{Plane::persisted, coverage_of(setting)}};
        return {{Plane::live, live_fstrim(property, live_)},
                {Plane::persisted, persisted_fstrim(property, units_, host_)}};
    }

    const FstrimUnits& units() const { return units_; }

    const FstrimLive& live() const { return live_; }

    const std::string& foreign() const { return foreign_; }

  private:
    const ManagedFilesystem* filesystem_of(const Setting& setting) {
        if (by_address_.empty()) {
            for (const auto& filesystem : mount_inventory(topology_, host_).filesystems) {
                by_address_.emplace(coverage_address(trim_name(filesystem, topology_)), &filesystem);
                by_address_.emplace(evidence_address(trim_name(filesystem, topology_)), &filesystem);
            }
        }
        const auto at = by_address_.find(setting.address);
        return at == by_address_.end() ? nullptr : at->second;
    }

    Reading coverage_of(const Setting& setting) {
        const auto* filesystem = filesystem_of(setting);
        if (filesystem == nullptr) return Reading{Unknown{"it is no longer mounted"}, {}, {}};
        if (!coverage_) coverage_.emplace(units_, topology_, host_);
        const auto commands = units_.commands();
        const bool by_storpol = !commands.empty() && commands.front().program == TrimCommand::Program::storpol;
        return coverage_reading(coverage_->of(*filesystem), setting, by_storpol);
    }

    Reading evidence_of(const Setting& setting) {
        if (!evidence_) evidence_.emplace(units_.service.name, topology_, host_);
        const auto limits = limits_of(setting);
        if (const auto* filesystem = filesystem_of(setting)) return evidence_->of(*filesystem, limits);
        const auto fired = live_.timer.find("LastTriggerUSec");
        return evidence_->of_service(limits, fired == live_.timer.end() ? std::string() : fired->second);
    }

    const Topology& topology_;
    Host& host_;
    FstrimUnits units_;
    FstrimLive live_;
    std::string foreign_;
    std::optional<CoverageFinder> coverage_;
    std::optional<TrimEvidence> evidence_;
    std::map<std::string, const ManagedFilesystem*> by_address_;
};

class FstrimResource final : public Resource {
  public:
    std::string_view domain() const override { return "fstrim"; }

    PolicyKeys keys() const override { return fstrim_keys(); }

    std::vector<Setting> settings(const Policy& policy,
                                  const Topology& topology,
                                  Host& host,
                                  Notes& notes) const override {
        const auto read = read_fstrim_policy(policy, notes);
        if (!read) return {};
        if (is_container(host)) {
            notes.add(Finding{"fstrim-in-container", Severity::info,
                              "this is a container: its filesystems are the host's to trim, so [fstrim] is left out",
                              to_text(read->place)});
            return {};
        }
        return Making(policy, *read).make(topology, host);
    }

    std::vector<Observation> observe(std::span<const Setting> settings,
                                     const Topology& topology,
                                     Host& host,
                                     Notes& notes) const override {
        std::vector<Observation> observations;
        if (settings.empty()) return observations;
        Observer observer(settings, topology, host);
        for (const auto& setting : settings) observations.push_back(observer.observe(setting));
        if (observer.foreign().empty()) {
            note_units(settings, observer.units(), observer.live(), host, notes);
        } else {
            note_runners_policy(host, notes);
        }
        note_cron(observer.foreign(), host, notes);
        return observations;
    }

    Remedy actions(std::span<const Difference> differences, const Topology& topology, Host& host) const override {
        if (!foreign_init(host).empty()) return cron_remedy(differences, host);
        return fstrim_remedy(differences, topology, host);
    }

    std::vector<std::string> own_files(Host&) const override {
        return {own_drop_in(fstrim_timer), own_drop_in(fstrim_service), std::string(cron_job)};
    }

    void survey(Host& host) const override {
        const Topology topology(host);
        static_cast<void>(is_container(host));
        static_cast<void>(foreign_init(host));
        const auto units = read_fstrim_units(host);
        static_cast<void>(read_fstrim_units(host, Masks::are_ignored));
        static_cast<void>(read_fstrim_live(host));
        static_cast<void>(persisted_fstrim("schedule", units, host));
        const CoverageFinder coverage(units, topology, host);
        const TrimEvidence evidence(units.service.name, topology, host);
        static_cast<void>(host.read_link("/etc/systemd/system/timers.target.wants/fstrim.timer"));
        for (const auto* unit : {&units.timer, &units.service}) {
            static_cast<void>(host.read_file(own_drop_in(unit->name)));
            static_cast<void>(unmet_conditions(*unit, host));
            static_cast<void>(host.read_link(unit->fragment));
        }
        for (const auto program : fstrim_programs)
            static_cast<void>(host.ask({QueryKind::program_exists, {std::string(program)}}));
        survey_cron(host);
        static_cast<void>(Uptime(host));
        static_cast<void>(wall_offset(host, 0));
        for (const auto& filesystem : mount_inventory(topology, host).filesystems) {
            const auto* superblock = superblock_of(filesystem, topology);
            if (superblock != nullptr && is_block_filesystem(filesystem.fstype))
                static_cast<void>(can_be_trimmed(*superblock, topology, host));
            static_cast<void>(coverage.of(filesystem));
            static_cast<void>(evidence.of(filesystem, {}));
        }
    }
};

}  // namespace

std::unique_ptr<Resource> make_fstrim_resource() {
    return std::make_unique<FstrimResource>();
}

}  // namespace storpol
