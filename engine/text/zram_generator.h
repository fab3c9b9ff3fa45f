// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/zram_ini.h"

// What zram-generator makes of its configuration (man 5 zram-generator.conf; its src/config.rs). Pure: which files are
// read, and in which order, is told by the caller.
namespace storpol {

struct ZramGeneratorFile {
    std::string path;  // after links: what sources name
    std::string bytes;
};

struct ZramGeneratorInput {
    std::vector<ZramGeneratorFile> files;  // in reading order: the main file, then the drop-ins by name
    std::uint64_t memory_kib = 0;          // MemTotal
    std::string kernel_command_line;
    std::string version;  // "1.1.2", or a package's that begins so ("1.2.1-2"); empty where it is not known
};

// One line of one of the files.
struct ZramPlace {
    std::string path;
    int line = 0;  // 0: no line of it in particular

    std::string where() const { return line == 0 ? path : path + ":" + std::to_string(line); }

    bool operator==(const ZramPlace&) const = default;
};

struct ZramKey {
    std::string value;  // as the generator takes it: without quotes, escapes resolved
    ZramPlace place;
    std::vector<ZramPlace> shadows;  // lines that lose to it, nearest first
    bool operator==(const ZramKey&) const = default;
};

struct ZramProblem {
    ZramPlace place;
    std::string why;
    bool operator==(const ZramProblem&) const = default;
};

// A size: bytes, or why they cannot be told.
struct ZramSize {
    std::optional<std::int64_t> bytes;
    std::string unknown;
    bool operator==(const ZramSize&) const = default;
};

struct ZramGeneratorDevice {
    std::string name;                     // "zram0"
    std::optional<ZramPlace> section;     // its first header; none where the kernel command line alone asks for it
    std::map<std::string, ZramKey> keys;  // by name; memory-limit stands as host-memory-limit

    // What follows from them, with the defaults.
    ZramSize size;                      // 0: the device is not made
    ZramSize resident_limit;            // 0: none
    std::string algorithm;              // empty: the kernel's default
    std::optional<std::int64_t> level;  // of "zstd(level=1)", where this version takes it
    std::string algorithm_unknown;      // why algorithm and level cannot be told
    int priority = 100;                 // -1: none
    std::string options = "discard";    // of swapon or mount
    std::string fs_type = "swap";
    std::string mount_point;            // empty: none
    bool is_over_memory_limit = false;  // host-memory-limit is below this machine's memory: the device is not made

    bool is_swap() const { return mount_point.empty() && fs_type == "swap"; }

    const ZramKey* find(std::string_view key) const;
    // The line that decides the size: zram-size, or an obsolete key that takes its place.
    const ZramKey* size_key() const;
};

struct ZramGeneratorConfig {
    std::map<std::string, ZramGeneratorDevice> devices;
    std::optional<ZramProblem> stop;    // a value it cannot take: it gives up, and no device at all is made
    std::vector<ZramProblem> warnings;  // what it passes over, and what is not what it looks like (8G)
    std::optional<bool> kernel_switch;  // systemd.zram=; false: no device, whatever the files say

    // Why the device is not made at boot; empty where it is (or its size is unknown).
    std::string why_not_made(std::string_view name) const;
};

ZramGeneratorConfig read_zram_generator(const ZramGeneratorInput& input);

// Whether this version knows zram-resident-limit, set! and parameters of algorithms, "zstd(level=1)" (1.2.0). None:
// not known.
std::optional<bool> zram_generator_has_levels(std::string_view version);

// A size as an expression: "ram * 0.5" for 50 percent; MiB, with a fraction where they are not whole.
std::string render_zram_percent(int percent);
std::string render_zram_mib(std::int64_t bytes);

}  // namespace storpol
