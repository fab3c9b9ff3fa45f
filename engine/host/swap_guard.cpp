// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/swap_guard.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/host/swaps.h"

namespace storpol {
namespace {

constexpr std::int64_t mib = 1024;  // in KiB

// Full memory pressure above which the machine is short already: percent of the last ten seconds in which nothing ran
// for want of memory (kernel Documentation/accounting/psi.rst).
constexpr std::int64_t most_pressure = 10;

// Bounds of the walk over control groups: a machine with more is a container host, where a person should decide.
constexpr int most_depth = 16;
constexpr std::size_t most_groups = 5000;

std::string in_mib(std::int64_t kib) {
    return std::to_string((kib + mib - 1) / mib) + " MiB";
}

// Pages come back larger than they were stored, in a burst: a quarter more than their size, and something to live on.
std::int64_t needed_kib(std::int64_t used, std::int64_t total) {
    return used + used / 4 + std::max<std::int64_t>(256 * mib, total / 20);
}

std::string why_not_memory(Host& host, const SwapArea& area) {
    const auto text = host.read_file("/proc/meminfo");
    const auto total = text ? meminfo_kib(*text, "MemTotal") : std::nullopt;
    const auto available = text ? meminfo_kib(*text, "MemAvailable") : std::nullopt;
    if (!total || !available)
        return "how much memory is available cannot be told (/proc/meminfo), and " + in_mib(area.used_kib) +
               " are swapped out to it";
    const auto needed = needed_kib(area.used_kib, *total);
    if (*available >= needed) return {};
    return in_mib(area.used_kib) + " are swapped out to it, and to bring them back takes " + in_mib(needed) +
           " of available memory; there are " + in_mib(*available);
}

// full avg10=0.00 avg60=0.00 avg300=0.00 total=0
std::string why_not_pressure(Host& host) {
    const auto text = host.read_file("/proc/pressure/memory");
    if (!text) return {};  // a kernel without it
    for (const auto line : split_lines(*text)) {
        const auto words = split_words(line);
        if (words.size() < 2 || words[0] != "full" || !words[1].starts_with("avg10=")) continue;
        const auto value = words[1].substr(6);
        const auto whole = parse_int(value.substr(0, value.find('.')));
        if (whole && *whole >= most_pressure)
            return "nothing ran for want of memory in " + std::string(value) + " % of the last ten seconds";
    }
    return {};
}

// Pages come back on the account of the group that owns them, and its limit kills the owner with gigabytes free.
class GroupWalk {
  public:
    explicit GroupWalk(Host& host) : host_(host) {}

    std::string why_not() {
        const auto version_1 = host_.stat("/sys/fs/cgroup/memory/memory.limit_in_bytes");
        walk(version_1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup", 0);
        return std::move(why_);
    }

  private:
    void walk(const std::string& group, int depth) {
        if (!why_.empty() || depth > most_depth) return;
        const auto names = host_.list(group);
        if (!names) return;
        if (++seen_ > most_groups) {
            why_ = "there are more than " + std::to_string(most_groups) +
                   " control groups here, and the limits of all cannot be looked at";
            return;
        }
        judge(group);
        for (const auto& name : *names) {
            if (is_group(name)) walk(group + "/" + name, depth + 1);
        }
    }

    // Files of controllers have their controller's name in front; groups are named by who made them.
    static bool is_group(std::string_view name) {
        static constexpr std::array<std::string_view, 19> files{
            "cgroup.", "memory.", "cpu.",  "cpuset.", "io.",   "pids.",    "hugetlb.", "rdma.",   "misc.",   "irq.",
            "dmem.",   "net_",    "blkio", "devices", "debug", "freezer.", "tasks",    "notify_", "release_"};
        return std::ranges::none_of(files, [&](std::string_view start) { return name.starts_with(start); });
    }

    std::optional<std::int64_t> number(const std::string& path) const {
        const auto text = host_.read_file(path);
        return text ? parse_int(trim(*text)) : std::nullopt;  // "max" is none
    }

    void judge(const std::string& group) {
        // memory.swap.current counts all areas together, which errs on the safe side.
        judge(group, number(group + "/memory.swap.current"), number(group + "/memory.current"),
              number(group + "/memory.max"));
        const auto both = number(group + "/memory.memsw.usage_in_bytes");
        const auto memory = number(group + "/memory.usage_in_bytes");
        if (both && memory) judge(group, *both - *memory, memory, number(group + "/memory.limit_in_bytes"));
    }

    void judge(const std::string& group,
               std::optional<std::int64_t> swapped,
               std::optional<std::int64_t> used,
               std::optional<std::int64_t> limit) {
        if (!swapped || !used || !limit || *swapped <= 0 || *swapped <= *limit - *used) return;
        why_ = "the control group " + printable(group) + " has " + in_mib(*swapped / 1024) +
               " swapped out and a limit that leaves it " + in_mib(std::max<std::int64_t>(0, *limit - *used) / 1024) +
               ": bringing them back would kill what runs in it";
    }

    Host& host_;
    std::size_t seen_ = 0;
    std::string why_;
};

}  // namespace

std::string why_not_swap_off(Host& host, std::string_view device) {
    const auto text = host.read_file("/proc/swaps");
    if (!text) return "what is swapped out to it cannot be told (" + text.error().what + ")";
    const auto areas = parse_swaps(*text);
    const auto* area = find_swap(areas, device);
    if (area == nullptr || area->used_kib == 0) return {};
    auto why = why_not_memory(host, *area);
    if (why.empty()) why = why_not_pressure(host);
    if (why.empty()) why = GroupWalk(host).why_not();
    return why;
}

}  // namespace storpol
