// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the kernel shows of swap and of zram devices: /proc/swaps, /proc/meminfo, /sys/block/zramN/*.
namespace storpol {

struct SwapArea {
    std::string path;  // "/dev/zram0"
    std::string type;  // "partition" for every block device, "file"
    std::int64_t size_kib = 0;
    std::int64_t used_kib = 0;
    int priority = -1;  // negative: none was given

    bool operator==(const SwapArea&) const = default;
};

// Lines that are none are left out; the first one is the heading.
std::vector<SwapArea> parse_swaps(std::string_view text);
const SwapArea* find_swap(const std::vector<SwapArea>& areas, std::string_view path);

// "MemTotal:       24683652 kB" by its name, in KiB.
std::optional<std::int64_t> meminfo_kib(std::string_view text, std::string_view name);

// comp_algorithm: "lzo-rle [lzo] lz4".
struct ZramAlgorithms {
    std::string selected;
    std::vector<std::string> known;
    bool operator==(const ZramAlgorithms&) const = default;
};

std::optional<ZramAlgorithms> parse_zram_algorithms(std::string_view text);

// mm_stat, of which kernels have appended columns: the first four, in bytes.
struct ZramMemory {
    std::int64_t stored = 0;      // before compression
    std::int64_t compressed = 0;  // after it
    std::int64_t used = 0;        // of memory, with what managing it takes
    std::int64_t limit = 0;       // resident limit; 0: none
    bool operator==(const ZramMemory&) const = default;
};

std::optional<ZramMemory> parse_zram_memory(std::string_view text);

}  // namespace storpol
