// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/report/setting_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/base/text.h"

namespace storpol {
namespace {

// Two blanks, a mark ("accepted" is the longest), a plane ("persisted" is), each followed by two blanks.
constexpr std::size_t mark_width = 10;
constexpr std::size_t plane_width = 11;
constexpr std::size_t note_indent = 2 + mark_width + plane_width;

struct Mark {
    std::string_view word;
    Tone tone;
};

Mark mark_of(const PlaneState& plane) {
    if (plane.accepted) return {"accepted", Tone::faint};
    if (plane.waits) return {"waits", Tone::doubtful};
    switch (plane.verdict) {
        case Verdict::in_sync:
            return {"in sync", Tone::good};
        case Verdict::drift:
            return {"drift", Tone::bad};
        case Verdict::unknown:
            return {"unknown", Tone::doubtful};
        case Verdict::absent:
            return {"absent", Tone::faint};
    }
    return {"", Tone::plain};
}

std::string text_of(const Reading& reading) {
    if (const auto* found = std::get_if<Found>(&reading.state))
        return printable(found->raw.empty() ? to_text(found->value) : found->raw);
    if (const auto* unset = std::get_if<Unset>(&reading.state)) {
        const std::string from =
            unset->default_from.empty() ? "" : fmt::format(" ({})", printable(unset->default_from));
        if (!unset->default_value) return "not set" + from;
        // Resources say "no limit" so (a byte limit while its ratio is in force); the number tells people nothing.
        if (*unset->default_value == Value{std::numeric_limits<std::int64_t>::max()}) return "not set" + from;
        return fmt::format("not set, default {}{}", printable(to_text(*unset->default_value)), from);
    }
    if (const auto* absent = std::get_if<Absent>(&reading.state)) return printable(absent->why);
    return printable(std::get<Unknown>(reading.state).why);
}

std::string_view kind_text(DifferenceKind kind) {
    switch (kind) {
        case DifferenceKind::fresh:
            return "new";
        case DifferenceKind::changed:
            return "changed in the policy";
        case DifferenceKind::moved:
            return "moved since the last apply";
    }
    return "";
}

std::string_view waits_text(When when) {
    switch (when) {
        case When::now:
            return "nothing";
        case When::next_mount:
            return "the next mount";
        case When::next_boot:
            return "the next boot";
        case When::by_operator:
            return "an operator";
        case When::in_image:
            return "the image's next build";
    }
    return "";
}

void write_notes(TextWriter& out, const PlaneState& plane) {
    const std::string indent(note_indent, ' ');
    const auto note = [&](const std::string& text) { out.wrapped(indent, note_indent, text); };
    if (!plane.reading.shadows.empty()) {
        std::vector<std::string> places;
        for (const std::string& shadow : plane.reading.shadows) places.push_back(printable(shadow));
        note("overrides " + join(places, ", "));
    }
    if (!plane.cannot.empty()) note("cannot: " + printable(plane.cannot));
    if (plane.waits) note(fmt::format("waits for {}", waits_text(*plane.waits)));
    if (!plane.recorded.empty()) note("last applied: " + printable(plane.recorded));
    if (plane.accepted)
        note(fmt::format("accepted until {} ({})", plane.accepted->until, printable(to_text(plane.accepted->policy))));
}

void write_plane(TextWriter& out, const SettingState& state, const PlaneState& plane) {
    const Mark mark = mark_of(plane);
    const std::string lead =
        "  " + out.paint(mark.tone, padded(mark.word, mark_width)) + padded(to_text(plane.plane), plane_width);
    std::string text = text_of(plane.reading);
    if (state.setting.on_plane.count(plane.plane) != 0 && plane.verdict != Verdict::absent)
        text += ", wanted " + printable(to_text(state.setting.condition_on(plane.plane)));
    if (plane.kind) text += fmt::format(" ({})", kind_text(*plane.kind));
    const std::string source = printable(plane.reading.source);
    const std::size_t width = note_indent + width_of(text);
    if (width <= static_cast<std::size_t>(std::max(out.style().columns, 40))) {
        out.pair(lead + text, width, source, note_indent, Tone::faint);
    } else {
        out.wrapped(lead, note_indent, text);
        if (!source.empty()) out.line(std::string(note_indent, ' ') + out.paint(Tone::faint, source));
    }
    write_notes(out, plane);
}

void write_policy_lines(TextWriter& out, const Setting& setting, const Policy& policy) {
    for (const Place& place : setting.policy) {
        const std::string line = printable(trim(policy.line_at(place)));
        const std::string at = printable(to_text(place));
        out.pair("  " + padded("policy", mark_width) + at, 2 + mark_width + width_of(at), line, 2 + mark_width,
                 Tone::faint);
    }
}

}  // namespace

void write_setting(TextWriter& out, const SettingState& state, const Policy* policy) {
    const Setting& setting = state.setting;
    const std::string address = printable(setting.address);
    const std::string wanted = "wanted " + printable(setting.wanted);
    std::vector<std::string> places;
    for (const Place& place : setting.policy) places.push_back(printable(to_text(place)));
    const std::string beside = policy != nullptr || places.empty() ? "" : fmt::format("({})", join(places, ", "));
    out.pair(out.paint(Tone::strong, address) + "  " + wanted, width_of(address) + 2 + width_of(wanted), beside, 4,
             Tone::faint);
    if (policy != nullptr) write_policy_lines(out, setting, *policy);
    for (const std::string& target : setting.also_at) out.line("  also at " + printable(target));
    for (const PlaneState& plane : state.planes) write_plane(out, state, plane);
}

bool is_worth_showing(const SettingState& state) {
    if (state.verdict == Verdict::drift || state.verdict == Verdict::unknown) return true;
    return std::any_of(state.planes.begin(), state.planes.end(),
                       [](const PlaneState& plane) { return plane.accepted || plane.waits; });
}

void write_action(TextWriter& out, const Action& action) {
    const std::string id = padded(action.id, 4);
    const std::string name = fmt::format("{}:{}", to_text(action.verb), printable(action.target));
    const std::string beside = fmt::format("({}, {})", to_text(action.when), to_text(action.risk));
    out.pair(fmt::format("  {}{}", id, out.paint(Tone::strong, name)), 2 + width_of(id) + width_of(name), beside, 6,
             action.risk == Risk::disruptive ? Tone::bad : Tone::faint);
    const std::string indent(6, ' ');
    if (!action.says.empty()) out.wrapped(indent, 6, printable(action.says));
    if (!action.after.empty()) out.wrapped(indent, 6, "after " + join(action.after, ", "));
    if (!action.refused.empty()) out.wrapped(indent, 6, "refused: " + printable(action.refused), Tone::bad);
    if (action.risk == Risk::disruptive) out.line(fmt::format("{}needs --allow '{}'", indent, name));
    if (!action.diff.empty()) out.diff(8, action.diff);
}

void write_findings(TextWriter& out, const std::vector<Finding>& findings) {
    bool first = true;
    for (const Finding& finding : findings) {
        if (finding.severity == Severity::info && !out.style().verbose) continue;
        if (first) {
            out.blank();
            out.line(out.paint(Tone::strong, "Findings:"));
            first = false;
        }
        const std::string_view word = to_text(finding.severity);
        const std::string lead =
            "  " + out.paint(finding.severity == Severity::warning ? Tone::doubtful : Tone::faint, word) + ": ";
        out.wrapped(lead, 4 + word.size(), fmt::format("{} [{}]", printable(finding.says), finding.code));
        if (!finding.where.empty()) out.line("    " + out.paint(Tone::faint, "at " + printable(finding.where)));
    }
}

void write_total(TextWriter& out, const Summary& summary, bool with_actions) {
    std::vector<std::string> parts;
    const auto count = [&](int number, std::string_view word) {
        if (number > 0) parts.push_back(fmt::format("{} {}", number, word));
    };
    count(summary.in_sync, "in sync");
    count(summary.drift, summary.drift == 1 ? "drifts" : "drift");
    count(summary.unknown, "unknown");
    count(summary.absent, "absent");
    count(summary.accepted, "accepted");
    count(summary.waiting, summary.waiting == 1 ? "waits" : "wait");
    std::string text = fmt::format("{} setting{}", summary.settings, summary.settings == 1 ? "" : "s");
    if (!parts.empty()) text += ": " + join(parts, ", ");
    text += ".";
    if (with_actions) {
        if (summary.actions == 0) text += " No action.";
        if (summary.actions > 0) text += fmt::format(" {} action{}.", summary.actions, summary.actions == 1 ? "" : "s");
    }
    if (summary.reboot_pending) text += " A reboot is pending.";
    out.blank();
    out.line(text);
}

std::string host_text(const ReportHead& head) {
    const std::string name = head.host_name.empty() ? "this host" : printable(head.host_name);
    if (head.source == "live" || head.source.empty()) return name;
    if (head.host_name.empty()) return printable(head.source);
    return fmt::format("{} ({})", name, printable(head.source));
}

}  // namespace storpol
