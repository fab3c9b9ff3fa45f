// SPDX-License-Identifier: GPL-3.0-or-later
#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "engine/model/json.h"
#include "engine/report/discard_report.h"
#include "engine/report/report.h"

// DESIGN "JSON, format 1". Keys may be added; none change their meaning within a format.
namespace storpol {
namespace {

constexpr int report_format = 1;

Json places_json(const std::vector<Place>& places) {
    Json out = Json::array();
    for (const Place& place : places) out.push_back(printable(to_text(place)));
    return out;
}

Json texts_json(const std::vector<std::string>& texts) {
    Json out = Json::array();
    for (const std::string& text : texts) out.push_back(printable(text));
    return out;
}

Json host_json(const ReportHead& head) {
    Json out = {{"name", printable(head.host_name)}, {"source", printable(head.source)}};
    if (!head.host_time.empty()) out["time"] = printable(head.host_time);
    return out;
}

Json summary_json(const Summary& summary) {
    return {{"settings", summary.settings}, {"in-sync", summary.in_sync}, {"drift", summary.drift},
            {"unknown", summary.unknown},   {"absent", summary.absent},   {"accepted", summary.accepted},
            {"waiting", summary.waiting},   {"actions", summary.actions}, {"reboot-pending", summary.reboot_pending}};
}

// `found` is null for Unset and left out where nothing was found; style of DESIGN's sample.
void add_reading(Json& out, const Reading& reading) {
    if (const auto* found = std::get_if<Found>(&reading.state)) {
        out["found"] = escape_bytes(to_text(found->value));
        if (!found->raw.empty()) out["raw"] = printable(found->raw);
    } else if (const auto* unset = std::get_if<Unset>(&reading.state)) {
        out["found"] = nullptr;
        if (unset->default_value) out["default"] = escape_bytes(to_text(*unset->default_value));
        if (unset->default_value && !unset->default_from.empty()) out["default-from"] = printable(unset->default_from);
    } else if (const auto* absent = std::get_if<Absent>(&reading.state)) {
        out["reason"] = printable(absent->why);
    } else {
        out["reason"] = printable(std::get<Unknown>(reading.state).why);
    }
    if (!reading.source.empty()) out["source"] = printable(reading.source);
    if (!reading.shadows.empty()) out["shadows"] = texts_json(reading.shadows);
}

Json plane_json(const Setting& setting, const PlaneState& plane) {
    Json out = {{"verdict", to_text(plane.verdict)}};
    if (plane.kind) out["kind"] = to_text(*plane.kind);
    if (setting.on_plane.count(plane.plane) != 0) out["wanted"] = to_json(setting.condition_on(plane.plane));
    add_reading(out, plane.reading);
    if (!plane.cannot.empty()) out["cannot"] = printable(plane.cannot);
    if (plane.waits) out["waits"] = to_text(*plane.waits);
    if (plane.accepted)
        out["accepted"] = {{"policy", printable(to_text(plane.accepted->policy))}, {"until", plane.accepted->until}};
    if (!plane.recorded.empty()) out["recorded"] = printable(plane.recorded);
    return out;
}

Json setting_json(const SettingState& state) {
    const Setting& setting = state.setting;
    Json out = {{"address", printable(setting.address)},
                {"wanted", to_json(setting.condition)},
                {"policy", places_json(setting.policy)},
                {"verdict", to_text(state.verdict)}};
    if (!setting.also_at.empty()) out["also-at"] = texts_json(setting.also_at);
    Json planes = Json::object();
    for (const PlaneState& plane : state.planes) planes[std::string{to_text(plane.plane)}] = plane_json(setting, plane);
    out["planes"] = std::move(planes);
    return out;
}

Json settings_json(const Evaluation& evaluation) {
    Json out = Json::array();
    for (const SettingState& state : evaluation.settings) out.push_back(setting_json(state));
    return out;
}

Json findings_json(const std::vector<Finding>& findings) {
    Json out = Json::array();
    for (const Finding& finding : findings) out.push_back(to_json(finding));
    return out;
}

Json error_json(const std::string& where, const std::string& says, const std::string& fix) {
    Json out = {{"where", printable(where)}, {"says", printable(says)}};
    if (!fix.empty()) out["fix"] = printable(fix);
    return out;
}

Json errors_json(const std::vector<PolicyError>& errors) {
    Json out = Json::array();
    for (const PolicyError& error : errors) out.push_back(error_json(to_text(error.where), error.says, error.fix));
    return out;
}

// The document with nothing in it; callers fill what they have, so that the order of keys is always the same.
Json document(const ReportHead& head) {
    return {{"format", report_format},  {"storpol", head.version},     {"command", head.command},
            {"host", host_json(head)},  {"summary", summary_json({})}, {"settings", Json::array()},
            {"actions", Json::array()}, {"findings", Json::array()},   {"errors", Json::array()}};
}

std::string finish(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void fill(Json& out, const Evaluation& evaluation) {
    out["summary"] = summary_json(evaluation.summary);
    out["settings"] = settings_json(evaluation);
    out["findings"] = findings_json(evaluation.findings);
    out["errors"] = errors_json(evaluation.errors);
}

std::string_view result_of(JournaledStep::Outcome outcome) {
    switch (outcome) {
        case JournaledStep::Outcome::in_flight:
            return "left";
        case JournaledStep::Outcome::done:
            return "done";
        case JournaledStep::Outcome::failed:
        case JournaledStep::Outcome::undone:
            return "failed";
    }
    return "";
}

std::string_view word_of(DiscardHop::Passes passes) {
    switch (passes) {
        case DiscardHop::Passes::yes:
            return "yes";
        case DiscardHop::Passes::no:
            return "no";
        case DiscardHop::Passes::unknown:
            return "unknown";
    }
    return "";
}

std::string_view word_of(DiscardPath::Verdict verdict) {
    switch (verdict) {
        case DiscardPath::Verdict::reaches:
            return "reaches";
        case DiscardPath::Verdict::blocked:
            return "blocked";
        case DiscardPath::Verdict::unknown:
            return "unknown";
        case DiscardPath::Verdict::no_device:
            return "no-device";
    }
    return "";
}

Json layer_json(const DiscardHop& hop) {
    Json out = {{"name", printable(hop.layer->name)},
                {"kind", to_text(hop.layer->kind)},
                {"device", printable(hop.layer->device.name)},
                {"depth", hop.depth},
                {"passes", word_of(hop.passes)}};
    const auto add_text = [&out](const char* key, const std::string& text) {
        if (!text.empty()) out[key] = printable(text);
    };
    const auto add_bytes = [&out](const char* key, const std::optional<std::uint64_t>& bytes) {
        if (bytes) out[key] = std::to_string(*bytes);
    };
    add_text("level", hop.layer->level);
    add_bytes("discard-max-bytes", hop.max_bytes);
    add_bytes("discard-max-hw-bytes", hop.max_hw_bytes);
    add_bytes("discard-granularity", hop.granularity);
    add_text("blocks", hop.blocks);
    add_text("note", hop.note);
    add_text("decided-by", hop.decided_by);
    add_text("cure", hop.cure);
    add_text("cost", hop.cost);
    return out;
}

Json path_json(const MountedPath& mounted) {
    Json out = {{"target", printable(mounted.target)},
                {"fstype", printable(mounted.fstype)},
                {"source", printable(mounted.source)},
                {"verdict", word_of(mounted.path.verdict)},
                {"says", printable(summary_of(mounted.path))}};
    if (!mounted.also_at.empty()) out["also-at"] = texts_json(mounted.also_at);
    Json layers = Json::array();
    for (const DiscardHop& hop : mounted.path.hops) layers.push_back(layer_json(hop));
    out["layers"] = std::move(layers);
    return out;
}

// A step as the journal has it, in the form of an action: what it served is no longer known there.
Json journaled_json(const JournaledStep& step) {
    Json out = {{"id", step.action_id},
                {"verb", to_text(step.verb)},
                {"target", printable(step.target)},
                {"for", Json::array()},
                {"after", Json::array()},
                {"when", to_text(When::now)},
                {"risk", to_text(Risk::safe)},
                {"says", ""},
                {"result", result_of(step.outcome)}};
    if (!step.error.empty()) out["why"] = printable(step.error);
    return out;
}

Json transaction_json(const Transaction& each) {
    Json out = {{"number", each.number}, {"command", printable(each.command)}, {"started", printable(each.started)}};
    out["finished"] = each.finished.empty() ? Json(nullptr) : Json(printable(each.finished));
    if (each.rolls_back != 0) out["rolls-back"] = each.rolls_back;
    out["policy-digest"] = printable(each.policy_digest);
    Json steps = Json::array();
    for (const JournaledStep& step : each.steps) {
        Json one = {{"action", step.action_id},
                    {"verb", to_text(step.verb)},
                    {"target", printable(step.target)},
                    {"result", step.outcome == JournaledStep::Outcome::undone ? "undone" : result_of(step.outcome)}};
        if (!step.error.empty()) one["why"] = printable(step.error);
        steps.push_back(std::move(one));
    }
    out["steps"] = std::move(steps);
    return out;
}

}  // namespace

std::string render_json(const Evaluation& evaluation, const ReportHead& head) {
    Json out = document(head);
    fill(out, evaluation);
    for (const Action& action : evaluation.plan.actions) out["actions"].push_back(to_json(action, false));
    return finish(out);
}

std::string render_json(const Evaluation& evaluation, std::span<const MountedPath> paths, const ReportHead& head) {
    Json out = document(head);
    fill(out, evaluation);
    for (const Action& action : evaluation.plan.actions) out["actions"].push_back(to_json(action, false));
    out["discard-paths"] = Json::array();
    for (const MountedPath& mounted : paths) out["discard-paths"].push_back(path_json(mounted));
    return finish(out);
}

std::string render_json(const ApplyReport& report, const ReportHead& head) {
    Json out = document(head);
    fill(out, report.after);
    if (report.declined)
        for (const Action& action : report.after.plan.actions) {
            Json left = to_json(action, false);
            left["result"] = to_text(ActionResult::left);
            out["actions"].push_back(std::move(left));
        }
    for (const ActionOutcome& outcome : report.outcomes) {
        Json action = to_json(outcome.action, false);
        action["result"] = to_text(outcome.result);
        if (!outcome.why.empty()) action["why"] = printable(outcome.why);
        out["actions"].push_back(std::move(action));
    }
    Json findings = findings_json(report.recovered);
    for (const Finding& finding : report.after.findings) findings.push_back(to_json(finding));
    out["findings"] = std::move(findings);
    if (report.declined) out["errors"].push_back(error_json("", "declined: nothing was changed", ""));
    return finish(out);
}

std::string render_json(const std::vector<PolicyError>& errors, const ReportHead& head) {
    Json out = document(head);
    out["errors"] = errors_json(errors);
    return finish(out);
}

std::string render_json(const Error& error, const ReportHead& head) {
    Json out = document(head);
    out["errors"].push_back(error_json(error.where, error.what, error.fix));
    return finish(out);
}

std::string render_json(const RollbackReport& report,
                        const std::optional<Transaction>& undone,
                        const ReportHead& head) {
    Json out = document(head);
    if (undone)
        for (const JournaledStep& step : undone->steps) out["actions"].push_back(journaled_json(step));
    out["rolled-back"] = report.number;
    if (report.declined) out["errors"].push_back(error_json("", "declined: nothing was changed", ""));
    return finish(out);
}

std::string render_json(const std::vector<Transaction>& transactions, const ReportHead& head) {
    Json out = document(head);
    out["transactions"] = Json::array();
    for (const Transaction& each : transactions) out["transactions"].push_back(transaction_json(each));
    return finish(out);
}

}  // namespace storpol
