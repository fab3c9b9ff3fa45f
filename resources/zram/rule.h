// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/policy/keys.h"
#include "engine/policy/policy.h"
#include "engine/reconcile/resource.h"

// What a policy asks of zram devices: [zram] of zram0, [zram.zramN] of the others.
namespace storpol {

struct ZramAsked {
    std::string device;    // "zram0"
    std::string property;  // "size"
    const PolicyNode* node = nullptr;
};

PolicyKeys zram_keys();

// Devices in order of number, keys in the policy's. What contradicts itself goes to `notes`.
std::vector<ZramAsked> read_zram_policy(const Policy& policy, Notes& notes);

// The lowest and highest level of an algorithm; `none` for one that has no levels. Of one that is not known here,
// anything is taken.
struct ZramLevels {
    bool known = false;
    bool none = false;
    int least = 0;
    int most = 0;
};

ZramLevels zram_levels(std::string_view algorithm);

}  // namespace storpol
