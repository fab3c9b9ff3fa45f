// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/report/trim_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/text.h"
#include "engine/model/json.h"
#include "engine/model/json_fields.h"
#include "engine/report/text_writer.h"

namespace storpol {
namespace {

// "1.2 GiB", as fstrim(8) has it.
std::string about(std::int64_t bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; size >= 1024 && unit + 1 < std::size(units); ++unit) size /= 1024;
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", size, units[unit]);
}

std::string time_text(std::chrono::milliseconds time) {
    const auto count = time.count();
    if (count < 1000) return fmt::format("{} ms", count);
    if (count < 60'000) return fmt::format("{:.1f} s", static_cast<double>(count) / 1000);
    const auto seconds = count / 1000;
    if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
    return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

Tone tone_of(TrimOutcome outcome) {
    switch (outcome) {
        case TrimOutcome::trimmed:
            return Tone::good;
        case TrimOutcome::interrupted:
        case TrimOutcome::skipped:
            return Tone::doubtful;
        case TrimOutcome::failed:
        case TrimOutcome::lost:
            return Tone::bad;
    }
    return Tone::plain;
}

std::string floor_text(const TrimRun& run) {
    return run.min_extent == 0 ? "all free extents" : "free extents from " + about(run.min_extent);
}

// "in 2.6 s, 812 discards of 3.4 GiB counted by sda"
std::string effort_text(const TrimEntry& entry) {
    auto text = " in " + time_text(entry.run.took);
    if (entry.run.discards && entry.run.discarded_bytes)
        text +=
            fmt::format(", {} discard{} of {} counted by {}", *entry.run.discards, *entry.run.discards == 1 ? "" : "s",
                        about(*entry.run.discarded_bytes), printable(join(entry.disks, ", ")));
    return text;
}

// /home: 1.2 GiB (1288490188 bytes) trimmed on /dev/sda2
std::string outcome_text(const TrimEntry& entry) {
    const auto& run = entry.run;
    if (run.outcome == TrimOutcome::skipped) return "skipped: " + printable(run.why);
    if (entry.is_dry && run.outcome == TrimOutcome::trimmed)
        return "would be trimmed: " + floor_text(run) +
               (entry.is_resumed ? ", going on where the last run was cut short" : "");
    const auto bytes = fmt::format("{} ({} bytes)", about(run.bytes), run.bytes);
    switch (run.outcome) {
        case TrimOutcome::trimmed:
            return bytes + " trimmed on " + printable(entry.source) + effort_text(entry);
        case TrimOutcome::interrupted:
            return "cut short after " + bytes + ": " + printable(run.why) + "; the next run goes on there";
        case TrimOutcome::failed:
            return "failed after " + bytes + ": " + printable(run.why);
        case TrimOutcome::lost:
            return "NOTHING reached " + printable(join(entry.disks, ", ")) + ": " + printable(run.why) + " (" +
                   about(run.bytes) + " reported)";
        case TrimOutcome::skipped:
            break;
    }
    return {};
}

void write_entry(TextWriter& out, const TrimEntry& entry) {
    const auto tone =
        entry.is_dry && entry.run.outcome == TrimOutcome::trimmed ? Tone::plain : tone_of(entry.run.outcome);
    out.line(printable(entry.target) + ": " + out.paint(tone, outcome_text(entry)));
    if (!entry.note.empty()) out.wrapped("  ", 2, printable(entry.note), Tone::doubtful);
    if (!out.style().verbose) return;
    auto detail = entry.fstype + ", discards: " + entry.discards;
    if (entry.run.outcome != TrimOutcome::skipped) {
        detail += "; " + floor_text(entry.run) + fmt::format("; {} part{}", entry.pieces, entry.pieces == 1 ? "" : "s");
        if (!entry.is_dry)
            detail += fmt::format("; {} slices, {} in FITRIM, longest {}", entry.run.slices,
                                  time_text(entry.run.in_trim), time_text(entry.longest));
    }
    if (!entry.also_at.empty()) detail += "; also at " + join(entry.also_at, ", ");
    out.wrapped("  ", 2, printable(detail), Tone::faint);
}

Json entry_json(const TrimEntry& entry) {
    const auto& run = entry.run;
    Json out{{"target", printable(entry.target)}, {"fstype", printable(entry.fstype)}};
    out["source"] = printable(entry.source);
    if (!entry.also_at.empty()) out["also-at"] = json_list(entry.also_at);
    out["disks"] = json_list(entry.disks);
    out["discards-end"] = printable(entry.discards);
    out["outcome"] =
        entry.is_dry && run.outcome == TrimOutcome::trimmed ? "would-trim" : std::string(to_text(run.outcome));
    if (!run.why.empty()) out["why"] = printable(run.why);
    if (!entry.note.empty()) out["note"] = printable(entry.note);
    if (run.outcome == TrimOutcome::skipped) return out;
    out["min-extent"] = std::to_string(run.min_extent);
    out["full"] = run.is_full;
    out["resumed"] = entry.is_resumed;
    if (entry.is_dry) return out;
    out["bytes"] = std::to_string(run.bytes);
    if (run.discards) out["discards"] = *run.discards;
    if (run.discarded_bytes) out["discarded-bytes"] = std::to_string(*run.discarded_bytes);
    out["took-ms"] = run.took.count();
    out["in-trim-ms"] = run.in_trim.count();
    out["longest-ms"] = entry.longest.count();
    out["slices"] = run.slices;
    return out;
}

}  // namespace

int exit_code_of(const TrimReport& report) {
    const bool is_well = std::ranges::all_of(report.entries, [](const TrimEntry& entry) {
        return entry.run.outcome == TrimOutcome::trimmed || entry.run.outcome == TrimOutcome::skipped;
    });
    return is_well ? 0 : 2;
}

std::string render_trim_text(const TrimReport& report, const TextStyle& style) {
    TextWriter out(style);
    for (const auto& entry : report.entries) write_entry(out, entry);
    if (report.entries.empty()) out.line("no filesystem on a disk is mounted here");
    for (const auto& finding : report.findings) {
        const auto where = finding.where.empty() ? std::string() : printable(finding.where) + ": ";
        out.wrapped(out.paint(Tone::doubtful, "warning: "), 9, where + printable(finding.says));
    }
    return out.take();
}

std::string render_trim_json(const TrimReport& report, const ReportHead& head) {
    auto parsed = parse_json(render_json(Evaluation(), head), {});
    if (!parsed) STORPOL_BUG("a report that is no JSON");
    Json document = std::move(*parsed);
    for (const auto& finding : report.findings) document["findings"].push_back(to_json(finding));
    document["trims"] = Json::array();
    for (const auto& entry : report.entries) document["trims"].push_back(entry_json(entry));
    return document.dump(2) + "\n";
}

std::string render_trim_progress(const std::string& target,
                                 double share,
                                 std::chrono::microseconds left,
                                 bool is_busy) {
    auto text = fmt::format("{}: {:.0f} %", printable(target), 100 * std::clamp(share, 0.0, 1.0));
    if (left > std::chrono::microseconds(0))
        text += ", about " + time_text(std::chrono::ceil<std::chrono::seconds>(left)) + " left";
    if (is_busy) text += ", keeping out of the way of others";
    return text;
}

}  // namespace storpol
