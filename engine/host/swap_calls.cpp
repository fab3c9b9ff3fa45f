// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/swap_calls.h"

#include <sys/swap.h>

#include <chrono>
#include <thread>

#include "engine/base/text.h"

namespace storpol {
namespace {

// linux/swap.h; util-linux sys-utils/swapon.c.
constexpr int with_priority = 0x8000;
constexpr int priority_bits = 0x7fff;
constexpr int discard_by_default = 0x10000;  // the kernel then sets both
constexpr int discard_once = 0x20000;        // the whole area at swapon
constexpr int discard_pages = 0x40000;       // freed clusters

int discard_flags(const std::string& discard) {
    if (discard == "on") return discard_by_default;
    if (discard == "once") return discard_by_default | discard_once;
    if (discard == "pages") return discard_by_default | discard_pages;
    return 0;
}

}  // namespace

int swap_on(const std::string& device, int priority, const std::string& discard) {
    int flags = discard_flags(discard);
    if (priority >= 0) flags |= with_priority | (priority & priority_bits);
    return patiently([&] { return swapon(device.c_str(), flags) == 0 ? 0 : errno; });
}

int swap_off(const std::string& device) {
    return swapoff(device.c_str()) == 0 ? 0 : errno;
}

tl::unexpected<Error> fail_swap_on(int code, const std::string& device) {
    auto error = fail_errno(code, "the kernel did not take it into use as swap", printable(device));
    if (code == EINVAL) error.value().fix = "it holds no swap header: mkswap writes one, over what lies there";
    if (code == EPERM) error.value().fix = "apply as root on the host itself, not in a container";
    return error;
}

tl::unexpected<Error> fail_swap_off(int code, const std::string& device) {
    auto error = fail_errno(code, "the kernel did not take it out of use as swap", printable(device));
    if (code == ENOMEM) error.value().fix = "free memory or raise the limits of control groups, then apply again";
    if (code == EPERM) error.value().fix = "apply as root on the host itself, not in a container";
    return error;
}

Result<void> check_swap_flags(const std::string& device, int priority, const std::string& discard) {
    if (priority > priority_bits)
        return fail(ErrorKind::invalid, "no priority of a swap area: " + std::to_string(priority), printable(device));
    if (discard.empty() || discard_flags(discard) != 0) return {};
    return fail(ErrorKind::invalid, "no way of a swap area to discard: " + printable(discard), printable(device));
}

void wait_for_others() {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace storpol
