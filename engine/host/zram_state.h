// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/host/swaps.h"
#include "engine/model/step.h"

// What the running kernel has of one zram device. Who plans and who performs read it alike.
namespace storpol {

class Host;

struct ZramState {
    Result<std::int64_t> size;  // bytes; 0: not set up. no_such_file: there is no such device
    Result<ZramAlgorithms> algorithms;
    Result<ZramMemory> memory;
    Result<std::vector<SwapArea>> swaps;  // all areas
    std::string device;                   // "/dev/zram0"

    bool exists() const { return size || size.error().kind != ErrorKind::no_such_file; }

    bool is_set_up() const { return size && *size > 0; }

    // The area on it; nullptr where it is not in use as swap.
    const SwapArea* swap() const { return swaps ? find_swap(*swaps, device) : nullptr; }
};

// `name`: "zram0".
ZramState read_zram_state(Host& host, std::string_view name);
std::string zram_attribute(std::string_view name, std::string_view attribute);  // "/sys/block/zram0/disksize"
// The number of "zram0" or "/dev/zram0"; none for what is no zram device.
std::optional<int> zram_number(std::string_view device);

// Performer::state of SetUpZram: of a device as it is, and as the step leaves it where that can be told before.
std::string zram_state_text(const ZramState& state);
std::optional<std::string> zram_state_after(const SetUpZram& step);
// Of UseSwap: "off", "on", "on priority=100".
std::string swap_state_text(const SwapArea* area);
std::string swap_state_after(const UseSwap& step);

}  // namespace storpol
