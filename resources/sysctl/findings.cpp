// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/sysctl/findings.h"

#include <algorithm>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/reconcile/compare.h"
#include "engine/reconcile/resource.h"
#include "resources/sysctl/drop_in.h"
#include "resources/sysctl/keys.h"
#include "resources/sysctl/owners.h"
#include "resources/sysctl/values.h"

namespace storpol {
namespace {

void warn(Notes& notes, std::string code, std::string says, std::string where) {
    notes.add(Finding{std::move(code), Severity::warning, std::move(says), std::move(where)});
}

Verdict verdict_of(const SysctlView& view, std::size_t i, Plane plane) {
    const Observation& observation = view.observations[i];
    const auto reading = observation.find(plane);
    if (reading == observation.end()) return Verdict::absent;
    const auto live = observation.find(Plane::live);
    return compare(view.settings[i].condition_on(plane), reading->second,
                   live == observation.end() ? nullptr : &live->second);
}

std::string name_of(const Setting& setting) {
    return sysctl_name(path_of_address(setting.address));
}

bool is_below(std::string_view path, std::string_view directory) {
    return path.substr(0, directory.size()) == directory;
}

void note_reader(const SysctlView& view, Notes& notes) {
    if (!view.sources.reader_assumed) return;
    notes.add(Finding{"init-not-seen", Severity::info,
                      "no init is in sight here, so persisted sysctls are read as systemd-sysctl would read them",
                      "/sbin/init"});
}

// systemd-sysctl never reads /etc/sysctl.conf. Up to Debian 12 a link in /etc/sysctl.d stood for it; `sysctl --system`
// reads it still, so that a trial by hand shows a value which the boot will not have.
void note_unread_conf(const SysctlView& view, Host& host, Notes& notes) {
    constexpr std::string_view conf = "/etc/sysctl.conf";
    if (view.sources.reader != SysctlReader::systemd) return;
    const auto& files = view.sources.files;
    if (std::any_of(files.begin(), files.end(), [&](const SysctlFile& file) { return file.path == conf; })) return;
    const auto text = host.read_file_resolved(conf);
    if (!text) return;
    for (const Setting& setting : view.settings) {
        const std::string path = path_of_address(setting.address);
        const SysctlLine* last = nullptr;
        const auto lines = parse_sysctl_d(text->bytes, SysctlDialect::procps);
        for (const SysctlLine& line : lines) {
            if (line.kind == SysctlLine::Kind::assignment && line.key == path) last = &line;
        }
        if (last == nullptr) continue;
        const std::string where = to_text(Place{text->path, last->line, 0});
        warn(notes, "sysctl-conf-not-read",
             where + " sets " + name_of(setting) + " = " + printable(last->value) +
                 ", and systemd-sysctl does not read this file at boot; only sysctl --system and sysctl -p do: move "
                 "the line to "
                 "/etc/sysctl.d or take it out",
             where);
    }
}

void note_volatile(const Setting& setting, const Reading& persisted, Notes& notes) {
    if (!is_below(persisted.source, "/run/")) return;
    warn(notes, "volatile-source",
         name_of(setting) + " is set at boot by " + persisted.source +
             ", and /run is empty at every boot: the value lasts only if something writes that file again",
         persisted.source);
}

void note_refused_lines(const Setting& setting, const SysctlSources& sources, Notes& notes) {
    for (const SysctlWrite& write : outcome_of(path_of_address(setting.address), sources).refused) {
        const std::string where = to_text(write.where);
        warn(notes, "sysctl-value-refused",
             where + " sets " + sysctl_name(write.path) + " = " + printable(write.value) +
                 ", which the kernel refuses (EINVAL): the line has no effect",
             where);
    }
}

void note_overridden(const Setting& setting, const SysctlSources& sources, Notes& notes) {
    if (sources.reader == SysctlReader::busybox || !drop_in_line(setting)) return;
    const Reading then = with_drop_in(setting, sources);
    if (then.source.empty() || compare(setting.condition_on(Plane::persisted), then) != Verdict::drift) return;
    warn(notes, "overridden",
         name_of(setting) + ": overridden by " + then.source + ", which " + std::string(to_text(sources.reader)) +
             " takes after " + std::string(sysctl_own_file) + ": change that line, or accept the difference",
         then.source);
}

// The live value is not the one that the files set.
std::string explanation(const std::string& path,
                        const Value& live,
                        const SysctlSources& sources,
                        const std::vector<SysctlOwnerLine>& owners) {
    std::vector<std::string> who;
    const auto is_live = [&](const std::string& value) { return sysctl_value(path, value, true) == live; };
    for (const SysctlOwnerLine& line : owners) {
        if (line.path == path) who.push_back(to_text(line.where) + " sets it to " + printable(line.value));
    }
    for (const SysctlAssignment& line : sources.assignments_to({path})) {
        if (line.path == path && line.value && is_live(*line.value)) {
            who.push_back(to_text(line.where) +
                          " holds that value and loses at boot, but may have been applied by hand");
        }
    }
    return who.empty() ? "no file, udev rule or profile found here explains the value" : join(who, "; ");
}

void note_moved(const SysctlView& view, const std::vector<std::size_t>& drifting, Host& host, Notes& notes) {
    if (drifting.empty()) return;
    const auto udev = read_udev_sysctls(host);
    std::vector<SysctlOwnerLine> owners = read_tuned_sysctls(host);
    owners.insert(owners.end(), udev.begin(), udev.end());
    for (const std::size_t i : drifting) {
        const Setting& setting = view.settings[i];
        const std::string path = path_of_address(setting.address);
        for (const SysctlOwnerLine& line : udev) {
            if (line.path != path) continue;
            const std::string where = to_text(line.where);
            warn(notes, "udev-sets-key",
                 where + ": a udev rule sets " + name_of(setting) + " = " + printable(line.value) +
                     " when its device appears, after systemd-sysctl: change that rule",
                 where);
        }
        const Reading& live = view.observations[i].at(Plane::live);
        const auto* found = std::get_if<Found>(&live.state);
        if (found == nullptr || verdict_of(view, i, Plane::persisted) != Verdict::in_sync) continue;
        const std::string source = view.observations[i].at(Plane::persisted).source;
        warn(notes, "live-differs",
             name_of(setting) + " is " + printable(to_text(found->value)) + " now, though " +
                 (source.empty() ? "the default at boot" : source) +
                 " is as wanted: " + explanation(path, found->value, view.sources, owners),
             live.source);
    }
}

void note_tuned(const SysctlView& view, Host& host, Notes& notes) {
    for (const SysctlOwnerLine& line : read_tuned_sysctls(host)) {
        for (const Setting& setting : view.settings) {
            const std::string path = path_of_address(setting.address);
            const KeyPair* pair = find_pair(path);
            const bool counterpart = pair != nullptr && counterpart_of(*pair, path) == line.path;
            if (line.path != path && !counterpart) continue;
            const Condition& wanted = setting.condition_on(Plane::persisted);
            const Reading then{Found{sysctl_value(path, line.value, wants_number(wanted)), {}}, {}, {}};
            if (!counterpart && compare(wanted, then) == Verdict::in_sync) continue;
            const std::string where = to_text(line.where);
            warn(notes, "tuned-sets-key",
                 where + ": the active TuneD profile sets " + sysctl_name(line.path) + " = " + printable(line.value) +
                     ", and TuneD starts after " + std::string(to_text(view.sources.reader)) +
                     ": change the profile (a child profile with include=), or leave " + name_of(setting) + " to it",
                 where);
        }
    }
}

// The limit in force once the policy holds: what is wanted, else what is live.
std::optional<std::int64_t> limit_of(const SysctlView& view, const std::string& path, Host& host) {
    for (const Setting& setting : view.settings) {
        const std::string wanted = path_of_address(setting.address);
        const KeyPair* pair = find_pair(wanted);
        if (wanted == path) {
            if (const auto text = text_to_write(setting.condition)) return parse_kernel_number(*text);
        } else if (pair != nullptr && counterpart_of(*pair, wanted) == path) {
            return std::nullopt;
        }
    }
    const auto text = host.read_file(proc_path(path));
    const auto number = text ? parse_kernel_number(*text) : std::nullopt;
    return number && *number != 0 ? number : std::nullopt;
}

void note_dirty_order(const SysctlView& view, Host& host, Notes& notes) {
    const auto is_dirty = [](const Setting& setting) {
        const std::string path = path_of_address(setting.address);
        return find_pair(path) != nullptr && is_below(path, "vm/dirty_");
    };
    const auto first = std::find_if(view.settings.begin(), view.settings.end(), is_dirty);
    if (first == view.settings.end()) return;
    for (const std::string unit : {"ratio", "bytes"}) {
        const auto background = limit_of(view, "vm/dirty_background_" + unit, host);
        const auto foreground = limit_of(view, "vm/dirty_" + unit, host);
        if (!background || !foreground || *background < *foreground) continue;
        warn(notes, "dirty-background-not-below",
             "vm.dirty_background_" + unit + " = " + std::to_string(*background) + " is not below vm.dirty_" + unit +
                 " = " + std::to_string(*foreground) +
                 ": the kernel then takes half of the latter, and writers are throttled almost at once",
             first->address);
    }
}

void note_pressure_denominator(const SysctlView& view, Host& host, Notes& notes) {
    for (const Setting& setting : view.settings) {
        if (name_of(setting) != "vm.vfs_cache_pressure") continue;
        const auto text = host.read_file("/proc/sys/vm/vfs_cache_pressure_denom");
        const auto denominator = text ? parse_kernel_number(*text) : std::nullopt;
        if (!denominator || *denominator == 100) continue;
        warn(notes, "vfs-cache-pressure-denominator",
             "vm.vfs_cache_pressure is relative to vm.vfs_cache_pressure_denom, which is " +
                 std::to_string(*denominator) + " here and not 100: the wanted " + setting.wanted +
                 " does not mean what it means elsewhere",
             setting.address);
    }
}

}  // namespace

void note_sysctl_findings(const SysctlView& view, Host& host, Notes& notes) {
    note_reader(view, notes);
    note_unread_conf(view, host, notes);
    note_tuned(view, host, notes);
    note_dirty_order(view, host, notes);
    note_pressure_denominator(view, host, notes);
    std::vector<std::size_t> drifting;
    for (std::size_t i = 0; i < view.settings.size(); ++i) {
        const auto persisted = view.observations[i].find(Plane::persisted);
        if (verdict_of(view, i, Plane::live) == Verdict::drift) drifting.push_back(i);
        if (persisted == view.observations[i].end() || std::holds_alternative<Absent>(persisted->second.state))
            continue;
        note_volatile(view.settings[i], persisted->second, notes);
        note_refused_lines(view.settings[i], view.sources, notes);
        if (verdict_of(view, i, Plane::persisted) == Verdict::drift)
            note_overridden(view.settings[i], view.sources, notes);
    }
    note_moved(view, drifting, host, notes);
}

}  // namespace storpol
