// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

// Whether a swap area can be taken out of use without killing what lies in it. The kernel does not look: it reads the
// pages back one by one, as the first victim of an OOM kill, and no time limit stops it (mm/swapfile.c, swapoff).
namespace storpol {

class Host;

// Why it must not be done now, with the numbers; empty where it can. An area that holds nothing, or that is not in use,
// can always. Asked when planning and once more right before it is done.
std::string why_not_swap_off(Host& host, std::string_view device);

}  // namespace storpol
