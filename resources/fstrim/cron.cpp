// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/cron.h"

#include <algorithm>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/own_file.h"
#include "resources/fstrim/crontab.h"
#include "resources/fstrim/init_system.h"

namespace storpol {
namespace {

Reading job_reading(const CronTables& tables) {
    Reading reading;
    reading.source = cron_job;
    if (const auto* line = tables.running()) {
        reading.state = Found{Value{std::string("true")}, line->text};
        reading.source = line->where();
    } else if (tables.unknown) {
        reading.state = Unknown{tables.unknown->what};
    } else if (!tables.lines.empty()) {
        const auto& first = tables.lines.front();
        reading.state =
            Found{Value{std::string("false")}, "\"" + printable(first.text) + "\" does not count: " + first.why_not};
        reading.source = first.where();
    } else {
        reading.state = Found{Value{std::string("false")}, "no job of cron asks storpol trim"};
    }
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

// The job, as one or no line of storpol's own file.
class Making {
  public:
    explicit Making(Host& host) : host_(host), tables_(read_cron_tables(host)) {
        const auto text = host.read_file(cron_job);
        digest_ = text ? digest_of(*text) : std::string(no_file_digest);
        file_ = OwnFile::parse(text ? std::string_view(*text) : std::string_view());
    }

    Remedy make(std::span<const Difference> differences) {
        for (const auto& difference : differences) {
            if (difference.plane == Plane::evidence) {
                cannot(difference, "only a run makes it so: the hourly job's, or one now by `storpol trim`");
            } else if (difference.wanted() == Condition{Is{Value{std::string("true")}}}) {
                turn_on(difference);
            } else {
                turn_off(difference);
            }
        }
        return std::move(remedy_);
    }

  private:
    void cannot(const Difference& difference, std::string why) {
        Gap gap;
        gap.of = {difference.setting->address, difference.plane};
        gap.cannot = std::move(why);
        remedy_.gaps.push_back(std::move(gap));
    }

    void edit(const Difference& difference, std::vector<std::string> lines, std::string says) {
        Action action;
        action.verb = Verb::drop_in;
        action.target = cron_job;
        action.step = EditFile{action.target, digest_, OwnLines{difference.setting->address, "", std::move(lines)}};
        action.serves = {{difference.setting->address, difference.plane}};
        action.says = std::move(says);
        remedy_.actions.push_back(std::move(action));
    }

    void turn_on(const Difference& difference) {
        if (cron_with_folder(host_).empty()) {
            cannot(difference,
                   "no cron is installed that is known to read /etc/cron.d (Debian's cron, cronie): install one, or "
                   "let root's crontab run `storpol trim --scheduled --when-due` every hour");
            return;
        }
        const auto program = first_program(host_, storpol_programs);
        if (program.empty()) {
            cannot(difference, "storpol is not installed in /usr/bin, /usr/sbin or their like below /usr/local");
            return;
        }
        const std::vector<std::string> lines{"17 * * * * root " + program + std::string(cron_command)};
        auto after = file_;
        static_cast<void>(after.set("", difference.setting->address, lines));
        CronTables changed;
        changed.lines = cron_lines(after.render(), cron_job, true, host_);
        if (changed.running() == nullptr) {
            const auto why = changed.lines.empty() ? "a line in it cannot say so" : changed.lines.front().why_not;
            cannot(difference, std::string(cron_job) + ": " + why);
            return;
        }
        edit(difference, lines, "ask every hour whether a trim is due");
    }

    void turn_off(const Difference& difference) {
        for (const auto& line : tables_.lines) {
            if (!line.why_not.empty() || is_own(line, difference.setting->address)) continue;
            cannot(difference, "the line at " + line.where() + " is not storpol's own: take it out there");
            return;
        }
        edit(difference, {}, "ask for trims no more");
    }

    bool is_own(const CronLine& line, const std::string& address) const {
        const auto entries = file_.entries();
        return line.path == cron_job && std::ranges::any_of(entries, [&](const OwnFile::Entry& entry) {
                   // Each line of an entry has its comment above it.
                   return entry.address == address && line.number >= entry.line &&
                          line.number < entry.line + 2 * static_cast<int>(entry.lines.size());
               });
    }

    Host& host_;
    CronTables tables_;
    std::string digest_;
    OwnFile file_;
    Remedy remedy_;
};

}  // namespace

Observation observe_by_cron(std::string_view property, const std::string& init, Host& host) {
    Observation observation;
    if (property != "coverage")
        observation[Plane::live] = Reading{Absent{init + " starts this host, and cron reads its jobs anew"}, {}, {}};
    observation[Plane::persisted] = property == "enabled"
                                        ? job_reading(read_cron_tables(host))
                                        : Reading{Absent{"the runner reads it from the policy"}, {}, {}};
    return observation;
}

Remedy cron_remedy(std::span<const Difference> differences, Host& host) {
    return Making(host).make(differences);
}

void note_cron(const std::string& init, Host& host, Notes& notes) {
    for (const char* path : {"/etc/cron.daily/fstrim", "/etc/cron.weekly/fstrim", "/etc/cron.monthly/fstrim",
                             "/etc/cron.d/fstrim", "/etc/cron.weekly/trim", "/etc/cron.daily/trim",
                             "/etc/periodic/weekly/fstrim", "/etc/periodic/daily/fstrim"}) {
        if (host.stat(path))
            add(notes, "trim-scheduled-twice",
                "a job of cron trims too, by its own schedule and without the policy's limits", path);
    }
    if (init.empty()) return;
    const auto tables = read_cron_tables(host);
    const auto* job = tables.running();
    if (job == nullptr || is_cron_running(host) || !host.stat("/proc/self")) return;
    add(notes, "cron-not-running", "nothing tells that a cron is running, and without one the job never runs",
        job->where());
}

void survey_cron(Host& host) {
    static_cast<void>(read_cron_tables(host));
    static_cast<void>(host.stat(cron_job));
    static_cast<void>(cron_with_folder(host));
    static_cast<void>(first_program(host, storpol_programs));
    static_cast<void>(is_cron_running(host));
    static_cast<void>(host.stat("/proc/self"));
    Notes ignored;
    note_cron(foreign_init(host), host, ignored);
}

}  // namespace storpol
