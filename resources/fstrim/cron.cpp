// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/cron.h"

#include <array>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/own_file.h"
#include "resources/fstrim/init_system.h"

namespace storpol {
namespace {

constexpr std::string_view command = " trim --scheduled --when-due";

// A cron that reads /etc/cron.d with a user in each line (crontab(5) of Debian's cron and of cronie). dcron has that
// folder without the user, BusyBox and fcron do not have it.
std::string cron_with_folder(Host& host) {
    constexpr std::array<std::string_view, 1> debian{"/usr/sbin/cron"};
    constexpr std::array<std::string_view, 2> daemons{"/usr/sbin/crond", "/usr/bin/crond"};
    constexpr std::array<std::string_view, 1> cronies_own{"/usr/bin/cronnext"};
    const auto cron = first_program(host, debian);
    if (!cron.empty()) return cron;
    const auto daemon = first_program(host, daemons);
    if (daemon.empty()) return {};
    const auto at = host.stat(daemon);
    const bool is_cronie = at && at->path.find("cronie") != std::string::npos;
    return is_cronie || !first_program(host, cronies_own).empty() ? daemon : std::string();
}

// A line of a crontab that runs the command, not commented out.
bool runs_it(std::string_view line) {
    const auto text = trim(line);
    return !text.empty() && text.front() != '#' && text.find(command) != std::string_view::npos;
}

Reading job_reading(Host& host) {
    Reading reading;
    reading.source = cron_job;
    const auto text = host.read_file(cron_job);
    if (!text && text.error().kind != ErrorKind::no_such_file) {
        reading.state = Unknown{text.error().what};
        return reading;
    }
    int number = 0;
    for (const auto line : split(text ? std::string_view(*text) : std::string_view(), '\n')) {
        ++number;
        if (!runs_it(line)) continue;
        reading.state = Found{Value{std::string("true")}, std::string(trim(line))};
        reading.source += ":" + std::to_string(number);
        return reading;
    }
    reading.state = Found{Value{std::string("false")}, "no job of cron asks storpol trim"};
    return reading;
}

void add(Notes& notes, std::string code, std::string says, std::string where, Severity severity = Severity::warning) {
    Finding finding;
    finding.code = std::move(code);
    finding.severity = severity;
    finding.says = std::move(says);
    finding.where = std::move(where);
    notes.add(std::move(finding));
}

// Traces of a running one: Debian's cron and cronie keep their number there.
bool is_cron_running(Host& host) {
    bool found = false;
    for (const char* path : {"/run/crond.pid", "/run/cron.pid", "/run/crond.reboot"}) {
        if (host.stat(path)) found = true;
    }
    return found;
}

Gap gap_of(const Difference& difference, std::string why) {
    Gap gap;
    gap.of = {difference.setting->address, difference.plane};
    gap.cannot = std::move(why);
    return gap;
}

}  // namespace

Observation observe_by_cron(std::string_view property, const std::string& init, Host& host) {
    Observation observation;
    if (property != "coverage")
        observation[Plane::live] = Reading{Absent{init + " starts this host, and cron reads its jobs anew"}, {}, {}};
    observation[Plane::persisted] =
        property == "enabled" ? job_reading(host) : Reading{Absent{"the runner reads it from the policy"}, {}, {}};
    return observation;
}

Remedy cron_remedy(std::span<const Difference> differences, Host& host) {
    Remedy remedy;
    for (const auto& difference : differences) {
        if (difference.plane == Plane::evidence) {
            remedy.gaps.push_back(
                gap_of(difference, "only a run makes it so: the hourly job's, or one now by `storpol trim`"));
            continue;
        }
        const bool on = difference.wanted() == Condition{Is{Value{std::string("true")}}};
        const auto program = first_program(host, storpol_programs);
        if (on && cron_with_folder(host).empty()) {
            remedy.gaps.push_back(gap_of(difference,
                                         "no cron is installed that is known to read /etc/cron.d (Debian's cron, "
                                         "cronie): install one, or let root's crontab run `storpol trim --scheduled "
                                         "--when-due` every hour"));
            continue;
        }
        if (on && program.empty()) {
            remedy.gaps.push_back(
                gap_of(difference, "storpol is not installed in /usr/bin, /usr/sbin or their like below /usr/local"));
            continue;
        }
        const auto text = host.read_file(cron_job);
        Action action;
        action.verb = Verb::drop_in;
        action.target = cron_job;
        OwnLines lines{difference.setting->address, "", {}};
        if (on) lines.lines.push_back("17 * * * * root " + program + std::string(command));
        action.step = EditFile{action.target, text ? digest_of(*text) : std::string(no_file_digest), std::move(lines)};
        action.serves = {{difference.setting->address, difference.plane}};
        action.says = on ? "ask every hour whether a trim is due" : "ask for trims no more";
        remedy.actions.push_back(std::move(action));
    }
    return remedy;
}

void note_cron(const std::string& init, Host& host, Notes& notes) {
    for (const char* path : {"/etc/cron.daily/fstrim", "/etc/cron.weekly/fstrim", "/etc/cron.monthly/fstrim",
                             "/etc/cron.d/fstrim", "/etc/cron.weekly/trim", "/etc/cron.daily/trim",
                             "/etc/periodic/weekly/fstrim", "/etc/periodic/daily/fstrim"}) {
        if (host.stat(path))
            add(notes, "trim-scheduled-twice",
                "a job of cron trims too, by its own schedule and without the policy's limits", path);
    }
    const auto job = job_reading(host);
    const auto* found = std::get_if<Found>(&job.state);
    const bool has_job = found != nullptr && found->value == Value{std::string("true")};
    if (init.empty() || !has_job || is_cron_running(host) || !host.stat("/proc/self")) return;
    add(notes, "cron-not-running", "nothing tells that a cron is running, and without one the job never runs",
        std::string(cron_job));
}

void survey_cron(Host& host) {
    static_cast<void>(job_reading(host));
    static_cast<void>(cron_with_folder(host));
    static_cast<void>(first_program(host, storpol_programs));
    static_cast<void>(is_cron_running(host));
    static_cast<void>(host.stat("/proc/self"));
    Notes ignored;
    note_cron(foreign_init(host), host, ignored);
}

}  // namespace storpol
