// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/report/report.h"

// Evaluations made by hand, so that every kind of plane can be shown without a host.
namespace storpol::sample {

inline Reading found(std::int64_t value, std::string source) {
    return {Found{value, ""}, std::move(source), {}};
}

inline PlaneState plane(Plane which, Reading reading, Verdict verdict) {
    PlaneState state;
    state.plane = which;
    state.reading = std::move(reading);
    state.verdict = verdict;
    return state;
}

inline SettingState setting(std::string address, std::string wanted, Condition condition) {
    SettingState state;
    state.setting.address = std::move(address);
    state.setting.wanted = std::move(wanted);
    state.setting.condition = std::move(condition);
    state.setting.policy = {Place{"laptop.toml", 14, 12}};
    return state;
}

inline ReportHead head(std::string command) {
    ReportHead out;
    out.version = "0.1.0";
    out.command = std::move(command);
    out.host_name = "host1";
    out.source = "live";
    return out;
}

// One setting that drifts live and is in sync in a file that overrides another, with the action that closes it.
inline Evaluation drifting() {
    SettingState state = setting("sysctl[\"vm.swappiness\"]", "150", Is{std::int64_t{150}, 0});
    PlaneState live = plane(Plane::live, found(60, "/proc/sys/vm/swappiness"), Verdict::drift);
    live.kind = DifferenceKind::moved;
    Reading file = found(150, "/etc/sysctl.d/zz-storpol.conf:3");
    file.shadows = {"/etc/sysctl.d/99-local.conf:2"};
    state.planes = {live, plane(Plane::persisted, file, Verdict::in_sync)};
    state.verdict = Verdict::drift;

    Action action;
    action.id = "a1";
    action.verb = Verb::write;
    action.target = "/proc/sys/vm/swappiness";
    action.step = WriteAttribute{"/proc/sys/vm/swappiness", "150"};
    action.serves = {SettingPlane{state.setting.address, Plane::live}};
    action.says = "Set vm.swappiness to 150 in the running kernel.";

    Evaluation evaluation;
    evaluation.settings = {state};
    evaluation.plan.actions = {action};
    evaluation.summary.settings = 1;
    evaluation.summary.drift = 1;
    evaluation.summary.actions = 1;
    return evaluation;
}

}  // namespace storpol::sample
