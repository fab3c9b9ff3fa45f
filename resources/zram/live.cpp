// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/zram/live.h"

#include <array>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/reconcile/resource.h"

namespace storpol {
namespace {

template <class T>
Reading refused(const Result<T>& result, std::string source) {
    Reading reading;
    reading.source = std::move(source);
    if (result.error().kind == ErrorKind::no_such_file) {
        reading.state = Unset{std::nullopt, {}};
    } else {
        reading.state = Unknown{result.error().what};
    }
    return reading;
}

Reading found(Value value, std::string raw, std::string source) {
    Reading reading;
    reading.state = Found{std::move(value), std::move(raw)};
    reading.source = std::move(source);
    return reading;
}

Reading read_size(const ZramState& state, std::string_view name) {
    auto source = zram_attribute(name, "disksize");
    if (!state.size) return refused(state.size, std::move(source));
    return found(Value{*state.size}, *state.size == 0 ? "not set up" : "", std::move(source));
}

Reading read_algorithm(const ZramState& state, std::string_view name) {
    auto source = zram_attribute(name, "comp_algorithm");
    if (!state.algorithms) return refused(state.algorithms, std::move(source));
    return found(Value{state.algorithms->selected}, {}, std::move(source));
}

Reading read_priority(const ZramState& state) {
    if (!state.swaps) return refused(state.swaps, "/proc/swaps");
    const auto* area = state.swap();
    if (area != nullptr) {
        // Kernels number areas without a priority of their own from -1 or -2 downwards.
        const auto priority = std::int64_t{area->priority < 0 ? -1 : area->priority};
        return found(Value{priority}, area->priority < -1 ? std::to_string(area->priority) : "", "/proc/swaps");
    }
    Reading reading;
    reading.source = "/proc/swaps";
    reading.state = Unset{std::nullopt, {}};
    return reading;
}

Reading read_limit(const ZramState& state, std::string_view name) {
    auto source = zram_attribute(name, "mm_stat");
    if (state.size && *state.size == 0) {
        Reading reading;
        reading.source = std::move(source);
        reading.state = Unset{std::nullopt, {}};
        return reading;
    }
    if (!state.memory) return refused(state.memory, std::move(source));
    return found(Value{state.memory->limit}, {}, std::move(source));
}

Reading not_shown(const std::string& why) {
    Reading reading;
    reading.state = Unknown{std::string(cannot_be_read_back) + ": " + why};
    return reading;
}

}  // namespace

Reading read_zram_live(const ZramState& state, std::string_view name, std::string_view property, Host& host) {
    if (property == "size") return read_size(state, name);
    if (property == "algorithm") return read_algorithm(state, name);
    if (property == "priority") return read_priority(state);
    if (property == "resident-limit") return read_limit(state, name);
    if (property == "discard") return not_shown("no kernel shows the flags of a swap area");
    if (zram_takes_levels(name, host)) return not_shown("no kernel shows the level of a zram device");
    Reading reading;
    reading.source = zram_attribute(name, "algorithm_params");
    reading.state = Absent{"this kernel sets no levels (Linux 6.12 and newer do)"};
    return reading;
}

bool zram_takes_levels(std::string_view name, Host& host) {
    const auto attribute = host.stat(zram_attribute(name, "algorithm_params"));
    if (attribute || attribute.error().kind != ErrorKind::no_such_file) return true;
    const auto device = host.stat(zram_attribute(name, "disksize"));
    return !device;  // without a device there is no attribute of it either
}

std::string why_no_zram(Host& host) {
    if (host.stat("/sys/class/zram-control")) return {};
    if (host.stat("/run/systemd/container") || host.stat("/run/.containerenv"))
        return "a container has no zram devices of its own: its host sets them up";
    const auto release = host.read_file("/proc/sys/kernel/osrelease");
    if (!release) return {};
    const auto module = "/lib/modules/" + std::string(trim(*release)) + "/kernel/drivers/block/zram/zram.ko";
    for (const auto* ending : {"", ".xz", ".zst", ".gz"}) {
        const auto there = host.stat(module + ending);
        if (there || there.error().kind != ErrorKind::no_such_file) return {};
    }
    return "this kernel has no zram (" + module + ")";
}

}  // namespace storpol
