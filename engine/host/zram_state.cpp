// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/zram_state.h"

#include "engine/base/text.h"
#include "engine/host/host.h"

namespace storpol {
namespace {

constexpr std::string_view not_set_up = "not set up";

template <class T, class Parse>
Result<T> read_parsed(Host& host, const std::string& path, Parse parse) {
    const auto text = host.read_file(path);
    if (!text) return tl::make_unexpected(text.error());
    auto value = parse(*text);
    if (!value) return fail(ErrorKind::invalid, "the kernel's text is not understood: " + printable(trim(*text)), path);
    return std::move(*value);
}

std::optional<std::int64_t> size_of_text(std::string_view text) {
    const auto number = parse_int(trim(text));
    return number && *number >= 0 ? std::optional<std::int64_t>(*number) : std::nullopt;
}

std::string on_text(int priority) {
    return priority < 0 ? "on" : "on priority=" + std::to_string(priority);
}

std::string set_up_text(std::uint64_t size,
                        const std::string& algorithm,
                        std::uint64_t limit,
                        const std::string& swap) {
    return "size=" + std::to_string(size) + " algorithm=" + algorithm + " limit=" + std::to_string(limit) + " swap " +
           swap;
}

}  // namespace

ZramState read_zram_state(Host& host, std::string_view name) {
    ZramState state;
    state.device = "/dev/" + std::string(name);
    state.size = read_parsed<std::int64_t>(host, zram_attribute(name, "disksize"), size_of_text);
    state.algorithms = read_parsed<ZramAlgorithms>(host, zram_attribute(name, "comp_algorithm"), parse_zram_algorithms);
    state.memory = read_parsed<ZramMemory>(host, zram_attribute(name, "mm_stat"), parse_zram_memory);
    const auto swaps = host.read_file("/proc/swaps");
    if (swaps) {
        state.swaps = parse_swaps(*swaps);
    } else {
        state.swaps = tl::make_unexpected(swaps.error());
    }
    return state;
}

std::string zram_attribute(std::string_view name, std::string_view attribute) {
    return "/sys/block/" + std::string(name) + "/" + std::string(attribute);
}

std::optional<int> zram_number(std::string_view device) {
    if (device.starts_with("/dev/")) device.remove_prefix(5);
    if (!device.starts_with("zram")) return std::nullopt;
    device.remove_prefix(4);
    const auto number = parse_int(device);
    constexpr std::int64_t most = 9999;
    // One way to write a number: zram01 is no device.
    if (!number || *number < 0 || *number > most || std::to_string(*number) != device) return std::nullopt;
    return static_cast<int>(*number);
}

std::string zram_state_text(const ZramState& state) {
    if (!state.is_set_up()) return std::string(not_set_up);
    return set_up_text(
        static_cast<std::uint64_t>(*state.size), state.algorithms ? state.algorithms->selected : std::string("?"),
        state.memory ? static_cast<std::uint64_t>(state.memory->limit) : 0, swap_state_text(state.swap()));
}

std::optional<std::string> zram_state_after(const SetUpZram& step) {
    if (step.size == 0) return std::string(not_set_up);
    // A unit rounds as it likes, and which algorithm is the default shows afterwards.
    if (!step.unit.empty() || step.algorithm.empty()) return std::nullopt;
    return set_up_text(step.size, step.algorithm, step.resident_limit, step.is_swap ? on_text(step.priority) : "off");
}

std::string swap_state_text(const SwapArea* area) {
    return area == nullptr ? "off" : on_text(area->priority);
}

std::string swap_state_after(const UseSwap& step) {
    return step.off ? "off" : on_text(step.priority);
}

}  // namespace storpol
