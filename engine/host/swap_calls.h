// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cerrno>
#include <string>

#include "engine/base/result.h"

// swapon(2) and swapoff(2). Each answers 0 or the errno.
namespace storpol {

// `priority` negative: none given. `discard`: "", "on", "once" or "pages". Tried again for a moment while something has
// the device open.
int swap_on(const std::string& device, int priority, const std::string& discard);
int swap_off(const std::string& device);

// What an errno of them means here.
tl::unexpected<Error> fail_swap_on(int code, const std::string& device);
tl::unexpected<Error> fail_swap_off(int code, const std::string& device);

// An Error for flags that no swap area has.
Result<void> check_swap_flags(const std::string& device, int priority, const std::string& discard);

void wait_for_others();  // one pause between two attempts
inline constexpr int attempts_while_busy = 30;

// Does `attempt` (which answers 0 or an errno) again while it answers EBUSY, some seconds at most: udev and blkid open
// a device for a moment whenever it changes.
template <class Attempt>
int patiently(Attempt attempt) {
    int code = attempt();
    for (int more = attempts_while_busy; code == EBUSY && more > 0; --more) {
        wait_for_others();
        code = attempt();
    }
    return code;
}

}  // namespace storpol
