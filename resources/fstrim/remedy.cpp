// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/remedy.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/reconcile/compare.h"
#include "engine/topology/discard_path.h"
#include "engine/topology/topology.h"
#include "resources/fstrim/coverage.h"
#include "resources/fstrim/drop_ins.h"
#include "resources/fstrim/evidence.h"
#include "resources/fstrim/links.h"
#include "resources/fstrim/readings.h"
#include "resources/fstrim/rule.h"
#include "resources/fstrim/start_guard.h"
#include "resources/fstrim/time_zone.h"
#include "resources/mount/trimmed.h"

namespace storpol {
namespace {

SettingPlane plane_of(const Difference& difference) {
    return {difference.setting->address, difference.plane};
}

// The wanted value as a unit file takes it.
std::string unit_text(const Difference& difference, std::string_view property) {
    const auto* is = std::get_if<Is>(&difference.wanted());
    if (is == nullptr) return {};
    // The policy's own spelling is systemd's too; a floor goes to a program that takes bytes.
    const bool as_written = property == "schedule" || property == "boot-delay" || property == "random-delay";
    return as_written ? difference.setting->wanted : to_text(is->value);
}

class Making {
  public:
    Making(std::span<const Difference> differences, const Topology& topology, Host& host)
        : differences_(differences),
          topology_(topology),
          host_(host),
          units_(read_fstrim_units(host)),
          unmasked_(read_fstrim_units(host, Masks::are_ignored)),
          live_(read_fstrim_live(host)),
          coverage_(units_, topology, host) {
        for (const auto& filesystem : mount_inventory(topology, host).filesystems)
            by_address_.emplace(coverage_address(trim_name(filesystem, topology)), &filesystem);
    }

    Remedy make() {
        for (const auto& difference : differences_) {
            if (difference.setting->address == "fstrim.runner")
                units_.wanted_runner = unmasked_.wanted_runner = difference.setting->wanted;
        }
        for (const auto& difference : differences_) {
            if (difference.plane == Plane::evidence) close_evidence(difference);
            if (difference.plane == Plane::persisted) sort_persisted(difference);
        }
        write_drop_ins();
        for (const auto& difference : differences_) {
            if (difference.plane == Plane::live) close_live(difference);
        }
        reload();
        return std::move(remedy_);
    }

  private:
    bool has_manager() const { return !live_.timer.empty(); }

    void cannot(const Difference& difference, std::string why) {
        Gap gap;
        gap.of = plane_of(difference);
        gap.cannot = std::move(why);
        remedy_.gaps.push_back(std::move(gap));
    }

    Action action(Verb verb, std::string target, Step step, std::string says) {
        Action made;
        made.verb = verb;
        made.target = std::move(target);
        made.step = std::move(step);
        made.says = std::move(says);
        // A daemon-reload of the same plan has them read.
        made.when = has_manager() ? When::now : When::next_boot;
        return made;
    }

    void close_evidence(const Difference& difference) {
        const auto* found = std::get_if<Found>(&difference.found.state);
        const bool fails = found != nullptr && found->value == Value{std::string(evidence_failing)};
        if (fails) {
            cannot(difference, found->raw +
                                   ": see why before it is run again; where the device cannot do it, take the "
                                   "filesystem out with [[mount]] fstrim = { enabled = false }");
            return;
        }
        const auto blocked = blocked_below(difference.setting->address);
        if (!blocked.empty()) {
            cannot(difference, blocked + ": no run reaches it before that is changed");
            return;
        }
        const auto next = live_.timer.find("NextElapseUSecRealtime");
        const auto when =
            next == live_.timer.end() || next->second.empty() ? "" : " (next due at " + next->second + ")";
        cannot(difference, "only a run makes it so: the timer's" + when + ", or one now by `systemctl start " +
                               units_.service.name + "`");
    }

    // "blocked by dm-crypt root", where a layer below the filesystem stops discards.
    std::string blocked_below(const std::string& address) const {
        for (const auto& filesystem : mount_inventory(topology_, host_).filesystems) {
            if (evidence_address(trim_name(filesystem, topology_)) != address) continue;
            const auto* superblock = superblock_of(filesystem, topology_);
            if (superblock == nullptr) return {};
            const auto path = find_discard_path(*superblock, topology_, host_);
            return path.verdict == DiscardPath::Verdict::blocked ? summary_of(path) : std::string();
        }
        return {};
    }

    void sort_persisted(const Difference& difference) {
        const auto property = fstrim_property(difference.setting->address);
        if (property == "coverage") {
            want_coverage(difference);
        } else if (property == "enabled") {
            want_enabled(difference);
        } else {
            want_property(difference, property);
        }
    }

    void want_property(const Difference& difference, std::string_view property) {
        const auto& unit = is_of_timer(property) ? unmasked_.timer : unmasked_.service;
        if (!unit.is_there()) {
            cannot(difference, missing(unit));
            return;
        }
        const auto zone = property == "schedule" ? unknown_zone(difference.setting->wanted, host_) : std::string();
        if (!zone.empty()) {
            cannot(difference, "this host has no time zone " + zone +
                                   " in /usr/share/zoneinfo, and systemd ignores a schedule with one that it does not "
                                   "know");
            return;
        }
        wishes_.by_property[std::string(property)] = UnitWish{unit_text(difference, property), plane_of(difference)};
        if (property == "runner" && difference.setting->wanted == "storpol") {
            const auto sandbox = coverage_.of_own_files();
            if (!sandbox.is_covered()) wishes_.sandbox.push_back(sandbox.cure);
        }
        waiting_.push_back(&difference);
    }

    static std::string missing(const EffectiveUnit& unit) {
        return "this host has no " + unit.name +
               ": install util-linux with its units (Debian and Ubuntu have both in util-linux)";
    }

    void want_enabled(const Difference& difference) {
        const bool on = difference.wanted() == Condition{Is{Value{std::string("true")}}};
        if (!on) {
            disable(difference);
            return;
        }
        for (const auto* unit : {&unmasked_.timer, &unmasked_.service}) {
            if (!unit->is_there()) {
                cannot(difference, missing(*unit));
                return;
            }
        }
        for (const auto* unit : {&units_.timer, &units_.service}) {
            if (unit->state == EffectiveUnit::State::masked && !unmask(*unit, difference)) return;
        }
        if (!unmasked_.timer.is_wanted()) enable(difference);
        wishes_.by_property["enabled"] = UnitWish{"true", plane_of(difference)};
        waiting_.push_back(&difference);
    }

    bool unmask(const EffectiveUnit& unit, const Difference& difference) {
        if (!unit.mask_is_link || !unit.fragment.starts_with(std::string(mask_folder) + "/")) {
            cannot(difference, unit.name + " is masked by " + unit.fragment + ", which is not storpol's to remove");
            return false;
        }
        const auto before = host_.read_link(unit.fragment);
        set_link(Verb::enable_unit, unit.name, unit.fragment, before ? *before : "/dev/null", {}, difference,
                 "unmask " + unit.name);
        return true;
    }

    void set_link(Verb verb,
                  const std::string& unit,
                  const std::string& path,
                  const std::string& before,
                  const std::string& target,
                  const Difference& difference,
                  std::string says) {
        auto made = action(verb, unit, SetLink{path, before, target}, std::move(says));
        made.serves = {plane_of(difference)};
        changed_.push_back(path);
        served_.push_back(plane_of(difference));
        remedy_.actions.push_back(std::move(made));
    }

    // What `systemctl enable` makes.
    void enable(const Difference& difference) {
        const auto path = std::string(links_folder) + "/" + unmasked_.timer.name;
        const auto before = host_.read_link(path);
        set_link(Verb::enable_unit, unmasked_.timer.name, path, before ? *before : std::string(no_file_digest),
                 unmasked_.timer.fragment, difference, "have timers.target want " + unmasked_.timer.name);
    }

    void disable(const Difference& difference) {
        const auto& timer = units_.timer;
        std::string why;
        for (const auto& link : links_to_disable(timer, host_, why))
            set_link(Verb::disable_unit, timer.name, link.path, link.before, link.target, difference, link.says);
        if (!why.empty()) cannot(difference, why);
    }

    void want_coverage(const Difference& difference) {
        const auto at = by_address_.find(difference.setting->address);
        if (at == by_address_.end()) {
            cannot(difference, "it is no longer mounted");
            return;
        }
        const bool leaves_out = difference.wanted() == Condition{Is{Value{std::string(left_out)}}};
        if (leaves_out) {
            opt_out(difference, *at->second);
            return;
        }
        const auto coverage = coverage_.of(*at->second);
        switch (coverage.cause) {
            case Coverage::Cause::notrim:
                if (coverage.place.line > 0) {
                    edit_fstab(difference, coverage.place.line, {"X-fstrim.notrim"}, {});
                } else {
                    cannot(difference, coverage.says + ": take the word out of " + coverage.source);
                }
                return;
            case Coverage::Cause::sandbox:
                relax(difference, coverage);
                return;
            case Coverage::Cause::not_listed:
            case Coverage::Cause::duplicate:
            case Coverage::Cause::read_only:
                name_mount(difference, *at->second, coverage);
                return;
            case Coverage::Cause::none:
            case Coverage::Cause::no_service:
            case Coverage::Cause::type:
            case Coverage::Cause::folder:
                by_runner_only_.push_back(&difference);
                why_not_[difference.setting->address] = coverage.says;
                return;
        }
    }

    void relax(const Difference& difference, const Coverage& coverage) {
        wishes_.sandbox.push_back(coverage.cure);
        wishes_.coverage.push_back(plane_of(difference));
        waiting_.push_back(&difference);
    }

    void name_mount(const Difference& difference, const ManagedFilesystem& filesystem, const Coverage& coverage) {
        const auto target = coverage_.trim_target(filesystem);
        if (target.empty()) {
            by_runner_only_.push_back(&difference);
            why_not_[difference.setting->address] = coverage.says + ", and no mount of it can be written";
            return;
        }
        wishes_.commands.push_back(target);
        wishes_.coverage.push_back(plane_of(difference));
        waiting_.push_back(&difference);
    }

    void edit_fstab(const Difference& difference,
                    int line,
                    std::vector<std::string> take_out,
                    std::vector<std::string> put_in) {
        const auto& inventory = mount_inventory(topology_, host_);
        const auto says = take_out.empty() ? "leave it out of scheduled trims" : "let scheduled trims take it";
        auto made = action(Verb::edit, inventory.fstab_path,
                           EditFile{inventory.fstab_path, inventory.fstab_digest,
                                    FieldWords{line, fstab_options_field, std::move(take_out), std::move(put_in)}},
                           says);
        made.serves = {plane_of(difference)};
        made.when = When::now;  // fstrim reads it at each run
        remedy_.actions.push_back(std::move(made));
    }

    void opt_out(const Difference& difference, const ManagedFilesystem& filesystem) {
        if (!coverage_.knows_notrim()) {
            cannot(difference, "X-fstrim.notrim needs util-linux 2.38; the paced runner (runner = \"storpol\") has it");
            return;
        }
        const auto* source = filesystem.mounts.front().persisted();
        if (source == nullptr || source->kind != OptionSource::Kind::fstab) {
            cannot(difference, "it has no line in fstab to say so; the paced runner (runner = \"storpol\") needs none");
            return;
        }
        edit_fstab(difference, source->line, {}, {"X-fstrim.notrim"});
    }

    void write_drop_ins() {
        const DropIns drop_ins(unmasked_, wishes_, host_);
        const auto after = drop_ins.after();
        const CoverageFinder reaches(after, topology_, host_);
        std::set<SettingPlane> closed;
        for (const auto* difference : waiting_) {
            const auto why = still_open(*difference, after, reaches);
            const auto property = std::string(fstrim_property(difference->setting->address));
            const auto refused = drop_ins.refused().find(property);
            if (refused != drop_ins.refused().end()) {
                cannot(*difference, refused->second);
            } else if (!why.empty()) {
                cannot(*difference, why);
            } else {
                closed.insert(plane_of(*difference));
            }
        }
        for (const auto* difference : by_runner_only_) {
            if (still_open(*difference, after, reaches).empty()) {
                closed.insert(plane_of(*difference));
                by_runner_.push_back(plane_of(*difference));
            } else {
                cannot(*difference, why_not_[difference->setting->address]);
            }
        }
        drop_actions_of_gaps();
        for (const auto& edit : drop_ins.edits()) add_edit(edit, closed, drop_ins.digest(edit.unit));
        after_ = after;
    }

    // Links of a setting that no drop-in can close would change the host for nothing.
    void drop_actions_of_gaps() {
        std::set<SettingPlane> open;
        for (const auto& gap : remedy_.gaps) open.insert(gap.of);
        std::erase_if(remedy_.actions, [&open](const Action& made) {
            return std::ranges::all_of(made.serves, [&open](const SettingPlane& of) { return open.contains(of); });
        });
        std::erase_if(served_, [&open](const SettingPlane& of) { return open.contains(of); });
    }

    void add_edit(const DropInEdit& edit, const std::set<SettingPlane>& closed, const std::string& digest) {
        const auto path = own_drop_in(edit.unit);
        auto made = action(Verb::drop_in, path, EditFile{path, digest, edit.lines}, edit.says);
        for (const auto& of : edit.serves) {
            if (closed.contains(of)) made.serves.push_back(of);
        }
        const bool is_runner = edit.lines.address == "fstrim.runner";
        if (is_runner) made.serves.insert(made.serves.end(), by_runner_.begin(), by_runner_.end());
        if (made.serves.empty()) return;
        std::ranges::sort(made.serves);
        made.serves.erase(std::unique(made.serves.begin(), made.serves.end()), made.serves.end());
        served_.insert(served_.end(), made.serves.begin(), made.serves.end());
        changed_.push_back(path);
        remedy_.actions.push_back(std::move(made));
    }

    // Empty: the files are right then. Else what wins over them.
    std::string still_open(const Difference& difference,
                           const FstrimUnits& units,
                           const CoverageFinder& reaches) const {
        const auto property = fstrim_property(difference.setting->address);
        if (property == "coverage") {
            const auto coverage = reaches.of(*by_address_.at(difference.setting->address));
            return coverage.is_covered() ? "" : coverage.says.empty() ? coverage.unknown : coverage.says;
        }
        auto reading = persisted_fstrim(property, units, host_);
        // The links are made in the same plan.
        if (property == "enabled" && !unmasked_.timer.is_wanted() && unmet_conditions(units.timer, host_).empty() &&
            unmet_conditions(units.service, host_).empty())
            return {};
        const bool is_right =
            compare(difference.wanted(), reading) == Verdict::in_sync || std::holds_alternative<Absent>(reading.state);
        if (is_right) return {};
        return reading.source.empty() ? "a drop-in cannot say so" : "overridden by " + printable(reading.source);
    }

    void close_live(const Difference& difference) {
        const auto property = fstrim_property(difference.setting->address);
        const bool has_gap = std::ranges::any_of(remedy_.gaps, [&](const Gap& gap) {
            return gap.of == SettingPlane{difference.setting->address, Plane::persisted};
        });
        const auto reading = persisted_fstrim(property, after_, host_);
        const bool files_are_right =
            property == "enabled" ||
            compare(difference.setting->condition_on(Plane::persisted), reading) == Verdict::in_sync ||
            std::holds_alternative<Absent>(reading.state);
        if (has_gap || !files_are_right) {
            cannot(difference, "the unit files must say so first");
            return;
        }
        if (property == "enabled") {
            start(difference);
            return;
        }
        reloads_for_.push_back(plane_of(difference));
        if (property == "schedule") starts_now_ = starts_at_once(difference.wanted(), live_, host_);
    }

    void start(const Difference& difference) {
        const bool stops = difference.wanted() != Condition{Is{Value{std::string("true")}}};
        auto made = action(stops ? Verb::disable_unit : Verb::start_unit, std::string(fstrim_timer),
                           StartUnit{std::string(fstrim_timer), stops},
                           stops ? "stop the timer"
                                 : "start the timer; a run that was missed, or a boot delay that is past, starts a "
                                   "trim at once");
        made.serves = {plane_of(difference)};
        made.when = When::now;
        made.reads = changed_;
        made.reads.emplace_back("systemd");
        if (!stops) made.risk = Risk::guarded;
        remedy_.actions.push_back(std::move(made));
    }

    void reload() {
        if (!has_manager() || (served_.empty() && reloads_for_.empty())) return;
        auto made = action(Verb::daemon_reload, "systemd", DaemonReload{}, "take up changed unit files");
        if (!starts_now_.empty()) {
            made.risk = Risk::guarded;
            made.says += "; " + starts_now_;
        }
        made.when = When::now;
        made.serves = reloads_for_;
        made.serves.insert(made.serves.end(), served_.begin(), served_.end());
        std::ranges::sort(made.serves);
        made.serves.erase(std::unique(made.serves.begin(), made.serves.end()), made.serves.end());
        made.reads = changed_;
        remedy_.actions.push_back(std::move(made));
    }

    std::span<const Difference> differences_;
    const Topology& topology_;
    Host& host_;
    FstrimUnits units_;
    FstrimUnits unmasked_;
    FstrimUnits after_;
    FstrimLive live_;
    CoverageFinder coverage_;
    std::map<std::string, const ManagedFilesystem*> by_address_;
    UnitWishes wishes_;
    std::vector<const Difference*> waiting_;         // what drop-ins are to close
    std::vector<const Difference*> by_runner_only_;  // what another runner alone would
    std::vector<SettingPlane> by_runner_;
    std::map<std::string, std::string> why_not_;
    std::vector<SettingPlane> served_;       // by file steps
    std::vector<SettingPlane> reloads_for_;  // live ones
    std::vector<std::string> changed_;       // targets of file steps
    std::string starts_now_;
    Remedy remedy_;
};

}  // namespace

Remedy fstrim_remedy(std::span<const Difference> differences, const Topology& topology, Host& host) {
    if (differences.empty()) return {};
    return Making(differences, topology, host).make();
}

std::string_view fstrim_property(std::string_view address) {
    constexpr std::string_view domain = "fstrim.";
    if (address.starts_with(domain)) address.remove_prefix(domain.size());
    return address.substr(0, address.find('['));
}

std::string coverage_address(std::string_view target) {
    return make_address("fstrim.coverage", target, "");
}

std::string evidence_address(std::string_view target) {
    return make_address("fstrim.evidence", target, "");
}

}  // namespace storpol
