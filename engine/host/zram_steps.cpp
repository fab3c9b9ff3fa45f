// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "engine/base/handle.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/host/live_steps.h"
#include "engine/host/swap_calls.h"
#include "engine/host/swap_guard.h"
#include "engine/host/unit_query.h"
#include "engine/host/zram_device.h"
#include "engine/host/zram_state.h"

namespace storpol {
namespace {

std::string name_of(const SetUpZram& step) {
    return step.device.substr(step.device.rfind('/') + 1);
}

Result<ZramState> read_state(const SetUpZram& step) {
    if (!zram_number(step.device)) return fail(ErrorKind::invalid, "it is no zram device", printable(step.device));
    const auto host = make_live_host();
    auto state = read_zram_state(*host, name_of(step));
    if (!state.size && state.exists()) return tl::make_unexpected(state.size.error());
    if (!state.swaps) return tl::make_unexpected(state.swaps.error());
    return state;
}

// The step that makes what there is.
SetUpZram as_it_is(const ZramState& state, const SetUpZram& step) {
    SetUpZram same;
    same.device = step.device;
    same.is_swap = false;
    if (!state.is_set_up()) return same;
    same.size = static_cast<std::uint64_t>(*state.size);
    if (state.algorithms) same.algorithm = state.algorithms->selected;
    if (state.memory) same.resident_limit = static_cast<std::uint64_t>(state.memory->limit);
    const auto* area = state.swap();
    same.is_swap = area != nullptr;
    // What the kernel shows of nobody, a level and the flags of discards, is not among it.
    if (area != nullptr && area->priority >= 0) same.priority = area->priority;
    return same;
}

// "SWAPSPACE2" ends the first page (include/linux/swap.h, union swap_header).
bool has_swap_header(const std::string& device) {
    const Fd fd(open(device.c_str(), O_RDONLY | O_CLOEXEC));
    constexpr std::string_view magic = "SWAPSPACE2";
    std::array<char, magic.size()> found{};
    const auto at = sysconf(_SC_PAGESIZE) - static_cast<long>(magic.size());
    const auto size = fd ? pread(fd.get(), found.data(), found.size(), at) : -1;
    return size == static_cast<ssize_t>(magic.size()) && std::string_view(found.data(), found.size()) == magic;
}

// A device that is set up and not swapped on may hold a filesystem, mounted or not.
Result<void> check_idle(const ZramState& state) {
    if (!state.is_set_up() || (state.memory && state.memory->stored == 0) || has_swap_header(state.device)) return {};
    return fail(ErrorKind::failed, "it is set up and holds something else than swap", state.device,
                "if that is of no use any more: zramctl --reset " + state.device);
}

// Taking a device out of use makes systemd stop the unit that set it up, which resets it: at a moment of its own. So
// the units go first where they run.
Result<void> stop_units(const std::string& name) {
    UnitQuery units;
    for (const auto& unit : {"dev-" + name + ".swap", "systemd-zram-setup@" + name + ".service"}) {
        const auto answer = units.answer({QueryKind::unit, {unit}});
        if (answer.refusal || parse_properties(answer.text)["ActiveState"] != "active") continue;
        const int code = units.start(unit, true);
        if (code != 0) return fail_errno(code, "the service manager did not stop it", unit);
    }
    return {};
}

bool is_set_up_by_unit(const std::string& name) {
    const auto answer = UnitQuery().answer({QueryKind::unit, {"systemd-zram-setup@" + name + ".service"}});
    return !answer.refusal && parse_properties(answer.text)["ActiveState"] == "active";
}

// Out of use as swap, with the guard asked at the last moment.
Result<void> take_out(const SetUpZram& step, const ZramState& before) {
    if (before.swap() == nullptr) {
        if (const auto idle = check_idle(before); !idle) return idle;
    } else {
        const auto host = make_live_host();
        const auto why_not = why_not_swap_off(*host, step.device);
        if (!why_not.empty())
            return fail(ErrorKind::failed, "not taken out of use: " + why_not, step.device,
                        "free memory and apply again, or reboot");
    }
    if (!step.unit.empty() || is_set_up_by_unit(name_of(step))) {
        if (const auto stopped = stop_units(name_of(step)); !stopped) return stopped;
    }
    const auto now = read_state(step);
    if (!now) return tl::make_unexpected(now.error());
    const int code = now->swap() == nullptr ? 0 : swap_off(step.device);
    if (code != 0) return fail_swap_off(code, step.device);
    return {};
}

Result<void> start_units(const SetUpZram& step) {
    UnitQuery units;
    for (const auto& unit : {step.unit, "dev-" + name_of(step) + ".swap"}) {
        const int code = units.start(unit, false);
        if (code != 0) return fail_errno(code, "the service manager did not start it", printable(unit));
    }
    const auto now = read_state(step);
    if (now && now->is_set_up() && now->swap() != nullptr) return {};
    return fail(ErrorKind::failed, "its unit was started, and it is not in use as swap", step.device);
}

Result<void> make(int number, const SetUpZram& wanted) {
    if (!wanted.unit.empty()) return start_units(wanted);
    if (const auto reset = reset_zram(number); !reset) return reset;
    return wanted.size == 0 ? Result<void>() : set_up_zram(number, wanted);
}

// A reset that was refused leaves all of it, the swap header too.
bool is_still(const SetUpZram& former) {
    const auto now = read_state(former);
    if (!now || former.size == 0) return false;
    const auto there = as_it_is(*now, former);
    return there.size == former.size && there.algorithm == former.algorithm;
}

Result<void> take_in(const SetUpZram& former) {
    const int code = former.is_swap ? swap_on(former.device, former.priority, former.discard) : 0;
    if (code != 0) return fail_swap_on(code, former.device);
    return {};
}

// What became of the device that the step took out of use and could not set up: said behind the cause.
std::string make_former(int number, const SetUpZram& former) {
    static_cast<void>(stop_units("zram" + std::to_string(number)));
    const auto back = is_still(former) ? take_in(former) : make(number, former);
    if (!back) return "; what was there before could not be made again: " + to_text(back.error());
    return former.size == 0 ? "; the device is reset" : "; what was there before is made again";
}

}  // namespace

Result<std::string> state_of(const SetUpZram& step) {
    const auto state = read_state(step);
    if (!state) return tl::make_unexpected(state.error());
    return zram_state_text(*state);
}

Result<std::vector<Step>> undo_of(const SetUpZram& step) {
    const auto state = read_state(step);
    if (!state) return tl::make_unexpected(state.error());
    return std::vector<Step>{as_it_is(*state, step)};
}

Result<std::string> perform(const SetUpZram& step) {
    const auto number = zram_number(step.device);
    const auto before = read_state(step);
    if (!before) return tl::make_unexpected(before.error());
    if (step.size == 0 && !before->is_set_up()) return zram_state_text(*before);
    if (!before->exists()) {
        if (const auto added = add_zram(*number); !added) return tl::make_unexpected(added.error());
    }
    if (const auto fit = check_zram(step); !fit) return tl::make_unexpected(fit.error());
    if (const auto out = take_out(step, *before); !out) return tl::make_unexpected(out.error());
    const auto made = make(*number, step);
    if (made) return state_of(step);
    auto error = made.error();
    error.what += make_former(*number, as_it_is(*before, step));
    return tl::make_unexpected(std::move(error));
}

void finish_set_up(const SetUpZram& step) {
    const auto state = read_state(step);
    if (!state || state->swap() != nullptr || !state->exists()) return;
    const auto wanted = zram_state_after(step);
    if (wanted && zram_state_text(*state) == *wanted) return;
    // What failed once fails again, and says so when the state is read.
    static_cast<void>(perform(step));
}

}  // namespace storpol
