// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/zram/findings.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/host/host.h"
#include "engine/host/swap_guard.h"
#include "engine/host/zram_state.h"
#include "engine/reconcile/compare.h"
#include "resources/zram/live.h"
#include "resources/zram/remedy.h"
#include "resources/zram/wishes.h"

namespace storpol {
namespace {

struct Seen {
    const Setting* setting = nullptr;
    const Observation* observed = nullptr;

    bool drifts() const {
        const auto live = observed->find(Plane::live);
        return live != observed->end() && compare(setting->condition_on(Plane::live), live->second) == Verdict::drift;
    }
};

using Device = std::map<std::string, Seen>;  // by property

void warn(Notes& notes, std::string code, std::string says, std::string where) {
    Finding finding;
    finding.code = std::move(code);
    finding.says = std::move(says);
    finding.where = std::move(where);
    notes.add(std::move(finding));
}

// Y or 1; kernel Documentation/admin-guide/mm/zswap.rst.
void note_zswap(Host& host, Notes& notes) {
    const std::string path = "/sys/module/zswap/parameters/enabled";
    const auto text = host.read_file(path);
    if (!text || (trim(*text) != "Y" && trim(*text) != "1")) return;
    warn(notes, "zswap-in-front-of-zram",
         "zswap is on and compresses pages before they reach zram, which then compresses them once more and shows "
         "little "
         "of what is swapped out; turn it off with zswap.enabled=0 on the kernel command line, and until the next boot "
         "with: echo N > " +
             path,
         path);
}

// Of two areas the one with the higher priority is filled first.
void note_disk_swap(const std::string& name, const Device& device, const ZramState& state, Notes& notes) {
    if (!state.swaps) return;
    const auto* own = state.swap();
    const auto asked = device.find("priority");
    std::int64_t priority = own == nullptr ? -1 : own->priority;
    if (asked != device.end()) priority = wanted_number(asked->second.setting->condition).value_or(priority);
    if (own == nullptr && asked == device.end()) return;
    for (const auto& area : *state.swaps) {
        const auto number = zram_number(area.path);
        const bool is_disk = !(number && area.path.starts_with("/dev/"));
        if (!is_disk || area.priority < priority || (area.priority < 0 && priority < 0)) continue;
        warn(notes, "disk-swap-before-zram",
             printable(area.path) + " has priority " + std::to_string(area.priority) + " and " + name + " " +
                 std::to_string(priority) + ": the kernel fills the " +
                 (area.priority == priority ? "two in turn" : "disk first") +
                 "; give it a lower priority, such as pri=10 in its line of /etc/fstab",
             printable(area.path));
    }
}

void note_limit(const std::string& name, const Device& device, Notes& notes) {
    const auto limit = device.find("resident-limit");
    const auto size = device.find("size");
    if (limit == device.end() || size == device.end()) return;
    const auto most = wanted_number(limit->second.setting->condition);
    const auto bytes = wanted_number(size->second.setting->condition);
    if (!most || !bytes || *most == 0 || *most >= *bytes) return;
    Finding finding;
    finding.code = "zram-limit-below-size";
    finding.severity = Severity::info;
    finding.says = name + " may take " + render_size(*most) + " of memory for " + render_size(*bytes) +
                   ": where pages compress worse than that, further writes fail without end, and nothing is swapped to "
                   "the next area instead";
    if (!limit->second.setting->policy.empty()) finding.where = to_text(limit->second.setting->policy.front());
    notes.add(std::move(finding));
}

// The numbers of a refusal, which the plan says as waiting for a boot.
void note_guard(const std::string& name, const Device& device, const ZramState& state, Host& host, Notes& notes) {
    const auto needs_swap_off = std::ranges::any_of(
        device, [](const auto& property) { return property.first != "resident-limit" && property.second.drifts(); });
    if (!needs_swap_off || state.swap() == nullptr) return;
    const auto why = why_not_swap_off(host, state.device);
    if (why.empty()) return;
    warn(notes, "zram-cannot-be-emptied",
         name + " stays as it is until a reboot: " + why + "; nothing of it is changed now", state.device);
}

void note_levels(const std::string& name, const Device& device, Host& host, Notes& notes) {
    if (!device.contains("level") || zram_takes_levels(name, host)) return;
    warn(notes, "zram-level-unsupported",
         "this kernel sets no levels of zram (Linux 6.12 and newer do): zstd compresses at its own", name);
}

}  // namespace

void note_zram_findings(std::span<const Setting> settings,
                        std::span<const Observation> observed,
                        const Topology& topology,
                        Host& host,
                        Notes& notes) {
    std::map<std::string, Device> devices;
    for (std::size_t at = 0; at < settings.size(); ++at) {
        const auto address = parse_zram_address(settings[at].address);
        devices[address.device][address.property] = {&settings[at], &observed[at]};
    }
    std::vector<std::string> names;
    for (const auto& [name, device] : devices) {
        names.push_back(name);
        const auto state = read_zram_state(host, name);
        note_disk_swap(name, device, state, notes);
        note_limit(name, device, notes);
        note_guard(name, device, state, host, notes);
        note_levels(name, device, host, notes);
        const auto why = state.exists() ? std::string() : why_no_zram(host);
        if (!why.empty()) warn(notes, "no-zram", name + ": " + why, name);
    }
    if (devices.empty()) return;
    note_zswap(host, notes);
    for (auto& finding : zram_persisted(topology, host).findings(names)) notes.add(std::move(finding));
}

}  // namespace storpol
