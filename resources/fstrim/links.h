// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "resources/fstrim/units.h"

// The links by which targets want the timer, and masks.
namespace storpol {

class Host;

inline constexpr std::string_view links_folder = "/etc/systemd/system/timers.target.wants";
inline constexpr std::string_view mask_folder = "/etc/systemd/system";

struct LinkChange {
    std::string path;
    std::string before;  // as SetLink has it
    std::string target;  // empty: it goes
    std::string says;
};

// What has no target want the timer any more: what `systemctl disable` removes and, where a link outside /etc counts
// then, a mask. None where something stands in the mask's place.
std::vector<LinkChange> links_to_disable(const EffectiveUnit& timer, Host& host, std::string& cannot);

}  // namespace storpol
