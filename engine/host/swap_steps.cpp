// SPDX-License-Identifier: GPL-3.0-or-later
#include <cerrno>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/host/live_steps.h"
#include "engine/host/swap_calls.h"
#include "engine/host/swap_guard.h"
#include "engine/host/zram_state.h"

namespace storpol {
namespace {

Result<std::optional<SwapArea>> read_area(const std::string& device) {
    const auto text = make_live_host()->read_file("/proc/swaps");
    if (!text) return tl::make_unexpected(text.error());
    const auto areas = parse_swaps(*text);
    const auto* area = find_swap(areas, device);
    return area == nullptr ? std::nullopt : std::optional<SwapArea>(*area);
}

const SwapArea* pointer_to(const std::optional<SwapArea>& area) {
    return area ? &*area : nullptr;
}

Result<void> take_off(const std::string& device) {
    const auto host = make_live_host();
    const auto why_not = why_not_swap_off(*host, device);
    if (!why_not.empty())
        return fail(ErrorKind::failed, "not taken out of use: " + why_not, printable(device),
                    "free memory and apply again, or reboot");
    if (const int code = swap_off(device); code != 0) return fail_swap_off(code, device);
    return {};
}

}  // namespace

Result<std::string> state_of(const UseSwap& step) {
    const auto area = read_area(step.device);
    if (!area) return tl::make_unexpected(area.error());
    return swap_state_text(pointer_to(*area));
}

Result<std::vector<Step>> undo_of(const UseSwap& step) {
    const auto area = read_area(step.device);
    if (!area) return tl::make_unexpected(area.error());
    UseSwap undo = step;
    undo.off = !area->has_value();
    if (area->has_value()) undo.priority = (*area)->priority < 0 ? -1 : (*area)->priority;
    return std::vector<Step>{undo};
}

Result<std::string> perform(const UseSwap& step) {
    if (!step.device.starts_with("/dev/"))
        return fail(ErrorKind::invalid, "no swap area on a device", printable(step.device));
    if (const auto fit = check_swap_flags(step.device, step.priority, step.discard); !fit)
        return tl::make_unexpected(fit.error());
    const auto before = read_area(step.device);
    if (!before) return tl::make_unexpected(before.error());
    if (before->has_value()) {
        if (const auto off = take_off(step.device); !off) return tl::make_unexpected(off.error());
    }
    if (step.off) return state_of(step);
    const int code = swap_on(step.device, step.priority, step.discard);
    if (code == 0) return state_of(step);
    auto failure = fail_swap_on(code, step.device);
    if (before->has_value()) {
        const int back = swap_on(step.device, (*before)->priority, {});
        failure.value().what += back == 0 ? "; it is in use again as before" : "; nor as it was before";
    }
    return failure;
}

void finish_swap(const UseSwap& step) {
    const auto area = read_area(step.device);
    if (step.off || !area || area->has_value()) return;
    // What failed once fails again, and says so when the state is read.
    static_cast<void>(swap_on(step.device, step.priority, step.discard));
}

}  // namespace storpol
