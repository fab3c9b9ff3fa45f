// SPDX-License-Identifier: GPL-3.0-or-later
#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "engine/model/json.h"
#include "engine/report/report.h"

// A saved plan is the policy's files and the plan they led to. The plan in it is only compared with what the policy
// leads to at apply: it is read back field by field so that hostile text can do no more than a policy can.
namespace storpol {
namespace {

constexpr int saved_format = 1;
constexpr std::string_view magic = "storpol-plan";

tl::unexpected<Error> malformed(std::string_view what, std::string_view where) {
    return fail(ErrorKind::invalid, "this saved plan is damaged: " + std::string{what}, std::string{where},
                "make it again with storpol plan -o");
}

const std::string* text_at(const Json& json, const char* key) {
    const auto at = json.find(key);
    return at == json.end() ? nullptr : at->get_ptr<const std::string*>();
}

Json strings_json(const std::vector<std::string>& texts) {
    Json out = Json::array();
    for (const std::string& text : texts) out.push_back(escape_bytes(text));
    return out;
}

bool read_strings(const Json& json, const char* key, std::vector<std::string>& into) {
    const auto at = json.find(key);
    if (at == json.end()) return true;
    if (!at->is_array()) return false;
    for (const Json& each : *at) {
        const auto* text = each.get_ptr<const std::string*>();
        auto bytes = text == nullptr ? std::nullopt : unescape_bytes(*text);
        if (!bytes) return false;
        into.push_back(std::move(*bytes));
    }
    return true;
}

bool read_text(const Json& json, const char* key, std::string& into) {
    const std::string* text = text_at(json, key);
    auto bytes = text == nullptr ? std::nullopt : unescape_bytes(*text);
    if (!bytes) return false;
    into = std::move(*bytes);
    return true;
}

// All fields that make two actions the same; not the diff, which follows from the step.
Json action_json(const Action& action) {
    Json serves = Json::array();
    for (const SettingPlane& of : action.serves)
        serves.push_back({{"address", escape_bytes(of.address)}, {"plane", to_text(of.plane)}});
    Json undo = Json::array();
    for (const Step& step : action.undo) undo.push_back(to_json(step));
    return {{"id", action.id},
            {"verb", to_text(action.verb)},
            {"target", escape_bytes(action.target)},
            {"for", std::move(serves)},
            {"after", strings_json(action.after)},
            {"when", to_text(action.when)},
            {"risk", to_text(action.risk)},
            {"says", escape_bytes(action.says)},
            {"refused", escape_bytes(action.refused)},
            {"step", to_json(action.step)},
            {"undo", std::move(undo)},
            {"diff", escape_bytes(action.diff)},
            {"reads", strings_json(action.reads)}};
}

std::optional<Risk> parse_risk(std::string_view text) {
    for (const Risk risk : {Risk::safe, Risk::guarded, Risk::disruptive})
        if (to_text(risk) == text) return risk;
    return std::nullopt;
}

bool read_serves(const Json& json, std::vector<SettingPlane>& into) {
    const auto at = json.find("for");
    if (at == json.end() || !at->is_array()) return false;
    for (const Json& each : *at) {
        SettingPlane of;
        const std::string* plane = each.is_object() ? text_at(each, "plane") : nullptr;
        const auto parsed = plane == nullptr ? std::nullopt : parse_plane(*plane);
        if (!parsed || !read_text(each, "address", of.address)) return false;
        of.plane = *parsed;
        into.push_back(std::move(of));
    }
    return true;
}

bool read_words(const Json& json, Action& action) {
    const std::string* verb = text_at(json, "verb");
    const std::string* when = text_at(json, "when");
    const std::string* risk = text_at(json, "risk");
    const auto parsed_verb = verb == nullptr ? std::nullopt : parse_verb(*verb);
    const auto parsed_when = when == nullptr ? std::nullopt : parse_when(*when);
    const auto parsed_risk = risk == nullptr ? std::nullopt : parse_risk(*risk);
    if (!parsed_verb || !parsed_when || !parsed_risk) return false;
    action.verb = *parsed_verb;
    action.when = *parsed_when;
    action.risk = *parsed_risk;
    return true;
}

bool read_steps(const Json& json, Action& action) {
    const auto step = json.find("step");
    const auto undo = json.find("undo");
    if (step == json.end() || undo == json.end() || !undo->is_array()) return false;
    auto parsed = step_from_json(*step);
    if (!parsed) return false;
    action.step = std::move(*parsed);
    for (const Json& each : *undo) {
        auto one = step_from_json(each);
        if (!one) return false;
        action.undo.push_back(std::move(*one));
    }
    return true;
}

bool read_action(const Json& json, Action& action) {
    return json.is_object() && read_words(json, action) && read_steps(json, action) &&
           read_serves(json, action.serves) && read_text(json, "id", action.id) &&
           read_text(json, "target", action.target) && read_text(json, "says", action.says) &&
           read_text(json, "refused", action.refused) && read_text(json, "diff", action.diff) &&
           read_strings(json, "after", action.after) && read_strings(json, "reads", action.reads);
}

bool read_file(const Json& json, Policy::File& file) {
    return json.is_object() && read_text(json, "name", file.name) && read_text(json, "bytes", file.bytes);
}

}  // namespace

bool looks_like_saved_plan(std::string_view text) {
    const std::string_view begin = trim(text.substr(0, 256));
    return begin.substr(0, 1) == "{" && begin.find(magic) != std::string_view::npos;
}

std::string render_saved_plan(const Policy& policy, const Plan& plan, bool prune, std::string_view version) {
    Json out = {{std::string{magic}, saved_format}, {"storpol", version}, {"prune", prune}};
    out["policy"] = Json::array();
    for (const Policy::File& file : policy.files())
        out["policy"].push_back({{"name", escape_bytes(file.name)}, {"bytes", escape_bytes(file.bytes)}});
    out["actions"] = Json::array();
    for (const Action& action : plan.actions) out["actions"].push_back(action_json(action));
    return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<SavedPlan> parse_saved_plan(std::string_view text, std::string_view where) {
    const auto json = parse_json(text, where);
    if (!json) return tl::unexpected<Error>(json.error());
    if (!json->is_object() || !json->contains(magic)) return malformed("it does not say storpol-plan", where);
    if ((*json)[std::string{magic}] != saved_format)
        return fail(ErrorKind::unsupported, "this saved plan was made by another version of storpol",
                    std::string{where}, "make it again with storpol plan -o");
    SavedPlan out;
    const auto prune = json->find("prune");
    if (prune == json->end() || !prune->is_boolean()) return malformed("no \"prune\"", where);
    out.prune = prune->get<bool>();
    const auto files = json->find("policy");
    if (files == json->end() || !files->is_array() || files->empty()) return malformed("no \"policy\"", where);
    for (const Json& each : *files)
        if (!read_file(each, out.files.emplace_back())) return malformed("a policy file in it", where);
    const auto actions = json->find("actions");
    if (actions == json->end() || !actions->is_array()) return malformed("no \"actions\"", where);
    for (const Json& each : *actions)
        if (!read_action(each, out.plan.actions.emplace_back())) return malformed("an action in it", where);
    return out;
}

}  // namespace storpol
