// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/report/discard_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/report/text_writer.h"

namespace storpol {
namespace {

using Passes = DiscardHop::Passes;
using Verdict = DiscardPath::Verdict;

int rank(Verdict verdict) {
    switch (verdict) {
        case Verdict::blocked:
            return 0;
        case Verdict::unknown:
            return 1;
        case Verdict::reaches:
            return 2;
        case Verdict::no_device:
            return 3;
    }
    return 4;
}

Tone tone_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::blocked:
            return Tone::bad;
        case Verdict::unknown:
            return Tone::doubtful;
        case Verdict::reaches:
            return Tone::good;
        case Verdict::no_device:
            return Tone::faint;
    }
    return Tone::plain;
}

std::string kind_text(const Layer& layer) {
    const std::string kind(to_text(layer.kind));
    return layer.level.empty() ? kind : kind + " " + layer.level;
}

// "2147483136" is no size that people know: as much of a unit as one decimal tells.
std::string about(std::uint64_t bytes) {
    static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    auto size = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; size >= 1024 && unit + 1 < std::size(units); ++unit) size /= 1024;
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.3g} {}", size, units[unit]);
}

std::string limits_text(const DiscardHop& hop) {
    if (!hop.max_bytes) return {};
    if (*hop.max_bytes == 0) return "takes none";
    const auto unit = hop.granularity.value_or(0);
    return "up to " + about(*hop.max_bytes) + " at once" + (unit == 0 ? "" : ", in units of " + about(unit));
}

struct Mark {
    std::string_view word;
    Tone tone;
};

Mark mark_of(const DiscardHop& hop) {
    if (!hop.blocks.empty()) return {"BLOCKS", Tone::bad};
    switch (hop.passes) {
        case Passes::yes:
            return {"passes", Tone::good};
        case Passes::no:
            return {"cut off", Tone::faint};  // passes what it gets; the layer below does not
        case Passes::unknown:
            return {"unknown", Tone::doubtful};
    }
    return {"", Tone::plain};
}

constexpr std::size_t mark_width = 9;

void write_detail(TextWriter& out, std::size_t indent, std::string_view label, const std::string& text) {
    if (text.empty()) return;
    const auto lead = std::string(indent, ' ') + std::string(label);
    out.wrapped(out.paint(Tone::faint, lead), lead.size(), printable(text));
}

void write_hop(TextWriter& out, const DiscardHop& hop, std::size_t widest) {
    const auto what = std::string(2 * hop.depth + 2, ' ') + kind_text(*hop.layer) + " " + printable(hop.layer->name);
    const auto mark = mark_of(hop);
    const auto limits = limits_text(hop);
    const auto word = limits.empty() ? std::string(mark.word) : padded(mark.word, mark_width);
    const auto left = padded(what, widest) + "  " + out.paint(mark.tone, word);
    const auto width = std::max(widest, width_of(what)) + 2 + mark_width;
    out.pair(left, width, limits, widest + 2, Tone::faint);
    const auto indent = widest + 2;
    write_detail(out, indent, "", hop.blocks);
    write_detail(out, indent, "", hop.note);
    write_detail(out, indent, "decided by: ", hop.decided_by);
    write_detail(out, indent, "to change it: ", hop.cure);
    write_detail(out, indent, "what it costs: ", hop.cost);
}

std::size_t widest_of(const DiscardPath& path) {
    std::size_t widest = 0;
    for (const auto& hop : path.hops)
        widest =
            std::max(widest, 2 * hop.depth + 3 + kind_text(*hop.layer).size() + width_of(printable(hop.layer->name)));
    return std::min<std::size_t>(widest, 44);
}

}  // namespace

std::string render_discard_overview(std::span<const MountedPath> paths,
                                    const ReportHead& head,
                                    const TextStyle& style) {
    TextWriter out(style);
    const auto name = head.host_name.empty() ? std::string("this host") : printable(head.host_name);
    out.line(out.paint(Tone::strong, "Where discards of " + name + " end"));
    out.blank();
    std::vector<const MountedPath*> sorted;
    for (const auto& mounted : paths) sorted.push_back(&mounted);
    std::ranges::stable_sort(sorted, {}, [](const MountedPath* mounted) { return rank(mounted->path.verdict); });
    std::size_t widest = 0;
    for (const auto* mounted : sorted)
        widest = std::max(widest, width_of(printable(mounted->target)) + 2 + width_of(printable(mounted->fstype)));
    widest = std::min<std::size_t>(widest, 40);
    for (const auto* mounted : sorted) {
        const auto left = "  " + printable(mounted->target) + "  " + printable(mounted->fstype);
        out.wrapped(padded(left, widest + 2) + "  ", std::max(widest + 2, width_of(left)) + 2,
                    printable(summary_of(mounted->path)), tone_of(mounted->path.verdict));
    }
    if (sorted.empty()) out.line("  no filesystem with a device of its own is mounted");
    out.blank();
    out.line("`storpol explain MOUNT` draws the way of one, layer by layer.");
    return out.take();
}

std::string render_discard_path(const MountedPath& mounted, const TextStyle& style) {
    TextWriter out(style);
    const auto& path = mounted.path;
    auto head = printable(mounted.target) + "  " + printable(mounted.fstype) + " on " + printable(mounted.source);
    out.line(out.paint(Tone::strong, head));
    std::string also;
    for (const auto& target : mounted.also_at) also += (also.empty() ? "" : ", ") + printable(target);
    if (!also.empty()) out.line(out.paint(Tone::faint, "the same filesystem is also at " + also));
    out.wrapped("discards: ", 10, printable(summary_of(path)), tone_of(path.verdict));
    if (!path.hops.empty()) out.blank();
    const auto widest = widest_of(path);
    for (const auto& hop : path.hops) write_hop(out, hop, widest);
    return out.take();
}

}  // namespace storpol
