// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/findings.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/reconcile/clock.h"
#include "engine/text/calendar.h"
#include "engine/text/time_span.h"
#include "resources/fstrim/time_zone.h"
#include "resources/fstrim/uptime.h"

namespace storpol {
namespace {

std::string property_of(const std::map<std::string, std::string>& properties, const std::string& key) {
    const auto at = properties.find(key);
    return at == properties.end() ? std::string() : at->second;
}

void warn(Notes& notes, std::string code, std::string says, std::string where, Severity severity = Severity::warning) {
    Finding finding;
    finding.code = std::move(code);
    finding.severity = severity;
    finding.says = std::move(says);
    finding.where = std::move(where);
    notes.add(std::move(finding));
}

void note_ignored_lines(const FstrimUnits& units, Host& host, Notes& notes) {
    for (const auto* unit : {&units.timer, &units.service}) {
        for (const auto& part : unit->parts) {
            for (const auto& line : part.rejected)
                warn(notes, "unit-line-ignored", "systemd ignores this line: " + line.why,
                     part.path + ":" + std::to_string(line.line));
        }
    }
    for (const auto& line : units.timer.triggers()) {
        if (line.key != "OnCalendar") continue;
        const auto calendar = parse_calendar(line.value);
        const auto zone = unknown_zone(line.value, host);
        if (calendar && zone.empty()) continue;
        warn(notes, "unit-line-ignored",
             "systemd ignores OnCalendar=" + printable(line.value) + ": " +
                 (calendar ? "this host has no time zone " + zone : calendar.error().what) +
                 "; the unit loads all the same",
             line.where());
    }
}

// A run that was due is not proved by the configuration being right: the timer's own last run tells.
void note_missed_run(const FstrimUnits& units, const FstrimLive& live, Host& host, Notes& notes) {
    const auto fired = property_of(live.timer, "LastTriggerUSec");
    const auto last = seconds_of(fired);
    const auto clock = host.now();
    const auto now = clock ? seconds_of(*clock) : std::nullopt;
    if (!last || !now) return;
    // The zone of the host, the delay and the accuracy of the timer together.
    std::int64_t slack = 16 * 3600;
    for (const char* key : {"RandomizedDelayUSec", "AccuracyUSec"}) {
        const auto span = parse_int(property_of(live.timer, key));
        if (span && *span > 0 && *span < std::int64_t{30} * 86400 * 1000000) slack += *span / 1000000;
    }
    for (const auto& line : units.timer.triggers()) {
        const auto calendar = parse_calendar(line.value);
        if (line.key != "OnCalendar" || !calendar) continue;
        const auto due = next_due(*calendar, *last + slack);
        if (!due || *due + slack > *now) continue;
        warn(notes, "trim-run-missed",
             "the timer last fired at " + fired + ", and a run that was due by " + rfc3339(*due) +
                 " did not come: the machine was off or asleep, or the timer was not active; where Persistent=true is "
                 "set and this is so after a resume, systemd itself passed over it",
             line.where());
        return;
    }
}

// How the schedule fits the hours in which the machine is up.
void note_history(const FstrimUnits& units, Host& host, Notes& notes) {
    const Uptime uptime(host);
    const auto persistent = units.timer.last("Timer", "Persistent");
    // A run after each boot makes up for it as well.
    const bool catches_up = (persistent && parse_unit_boolean(persistent->value) == std::optional(true)) ||
                            std::ranges::any_of(units.timer.triggers(), [](const UnitLine& line) {
                                return line.key == "OnBootSec" || line.key == "OnStartupSec";
                            });
    for (const auto& line : units.timer.triggers()) {
        const auto calendar = parse_calendar(line.value);
        if (line.key != "OnCalendar" || !calendar) continue;
        const auto history = history_of(*calendar, uptime, host);
        if (history.all() == 0) continue;
        std::string says = "of the last " + std::to_string(history.all()) +
                           " times that it was due, the machine ran at " + std::to_string(history.runs) +
                           ", slept at " + std::to_string(history.sleeps) + " and was off at " +
                           std::to_string(history.off);
        if (history.unknown > 0) says += " (of " + std::to_string(history.unknown) + " the journal does not tell)";
        if (history.sleeps > 0) says += "; a run that it slept through comes as it wakes";
        const bool loses = history.off > 0 && !catches_up;
        if (history.off > 0)
            says += loses ? "; nothing makes up for a run while it was off: catch-up = true does"
                          : "; a run while it was off comes with the next start";
        warn(notes, "trim-schedule-history", std::move(says), line.where(), loses ? Severity::warning : Severity::info);
    }
}

void note_service(const FstrimLive& live, Notes& notes) {
    const auto result = property_of(live.service, "Result");
    if (!result.empty() && result != "success")
        warn(notes, "trim-service-failed",
             live.service_name + " failed (" + printable(result) +
                 "), which its timer does not show: the next run comes "
                 "at the next due time",
             live.service_name);
    const bool ran = !property_of(live.service, "ExecMainStartTimestamp").empty();
    if (property_of(live.service, "ConditionResult") == "no" && ran)
        warn(notes, "trim-service-skipped",
             "a condition skipped the last run of " + live.service_name +
                 ", which systemd counts as a run: nothing makes up for it",
             live.service_name);
    const auto next = property_of(live.timer, "NextElapseUSecRealtime");
    if (!next.empty())
        warn(notes, "trim-next-run", "the next scheduled run is due at " + printable(next), live.timer_name,
             Severity::info);
    if (property_of(live.timer, "NeedDaemonReload") == "yes" || property_of(live.service, "NeedDaemonReload") == "yes")
        warn(notes, "needs-daemon-reload", "unit files of the trim have changed since the service manager read them",
             live.timer_name, Severity::info);
}

bool wants_runner(std::span<const Setting> settings) {
    return std::ranges::any_of(settings, [](const Setting& setting) {
        return setting.address == "fstrim.runner" && setting.wanted == "storpol";
    });
}

}  // namespace

void note_runners_policy(Host& host, Notes& notes) {
    const auto policy = host.stat("/etc/storpol/policy.toml");
    if (policy || policy.error().kind != ErrorKind::no_such_file) return;
    warn(notes, "runner-without-policy",
         "the runner reads min-extent, window and the like from /etc/storpol/policy.toml, which is not there: put this "
         "policy there",
         "fstrim.runner");
}

void note_units(
    std::span<const Setting> settings, const FstrimUnits& units, const FstrimLive& live, Host& host, Notes& notes) {
    note_ignored_lines(units, host, notes);
    note_missed_run(units, live, host, notes);
    note_history(units, host, notes);
    note_service(live, notes);
    if (wants_runner(settings)) note_runners_policy(host, notes);
}

}  // namespace storpol
