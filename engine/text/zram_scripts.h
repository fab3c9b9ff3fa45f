// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// What the shell scripts that set up zram make of their settings files: zramswap of Debian's zram-tools
// (/etc/default/zramswap) and OpenRC's zram-init (/etc/conf.d/zram-init). The files are shell; nothing is run, and what
// cannot be told without running it is unknown.
namespace storpol {

// One setting: a value, or why there is none.
struct ZramScriptValue {
    std::optional<std::int64_t> number;  // bytes of sizes and limits, priority
    std::string word;                    // algorithm, discard ("on", "off"), use ("swap" or a mount point)
    std::string unknown;                 // why it cannot be told; number and word mean nothing then
    std::string variable;                // that decides it: "PERCENT"
    int line = 0;                        // where it is set; 0: the script's own default
    std::string raw;                     // as the file has it

    bool is_set() const { return line != 0; }

    bool operator==(const ZramScriptValue&) const = default;
};

struct ZramScriptDevice {
    ZramScriptValue size;  // without a number: the script's default, which differs from version to version
    ZramScriptValue algorithm;
    ZramScriptValue priority;        // -1: none
    ZramScriptValue resident_limit;  // 0: none
    ZramScriptValue discard;
    ZramScriptValue use;
};

// zramswap: zram0 alone, always as swap, never with discard or a limit.
ZramScriptDevice read_zramswap(std::string_view bytes, std::uint64_t memory_kib);

// zram-init: the devices it makes, by name. `unknown` says why none can be told.
struct ZramInit {
    std::map<std::string, ZramScriptDevice> devices;
    std::string unknown;
};

ZramInit read_zram_init(std::string_view bytes);

}  // namespace storpol
