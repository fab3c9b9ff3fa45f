// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/never_read.h"

#include <algorithm>
#include <array>

namespace storpol {

bool is_below(std::string_view path, std::string_view directory) {
    if (directory == "/") return true;
    if (!path.starts_with(directory)) return false;
    return path.size() == directory.size() || path[directory.size()] == '/';
}

bool is_never_read(std::string_view path) {
    static constexpr std::array exact{
        std::string_view("/etc/shadow"),   std::string_view("/etc/shadow-"), std::string_view("/etc/gshadow"),
        std::string_view("/etc/gshadow-"), std::string_view("/proc/kcore"),  // kernel memory
        std::string_view("/proc/kmsg"),                                      // reading takes the messages away
    };
    static constexpr std::array below{
        // Reading hot_add creates a device (kernel Documentation/admin-guide/blockdev/zram.rst).
        std::string_view("/sys/class/zram-control"),
        // Where systemd-cryptsetup looks for keys by itself (man 5 crypttab).
        std::string_view("/etc/cryptsetup-keys.d"),
        std::string_view("/run/cryptsetup-keys.d"),
        std::string_view("/etc/keys"),
        std::string_view("/etc/luks-keys"),
        std::string_view("/etc/ssl/private"),
    };
    static constexpr std::array endings{std::string_view(".key"), std::string_view(".keyfile"),
                                        std::string_view("/crypto_keyfile.bin"), std::string_view("/keyfile")};
    const auto is_inside = [&](std::string_view folder) { return is_below(path, folder) && path != folder; };
    const auto ends = [&](std::string_view ending) { return path.ends_with(ending); };
    return std::ranges::find(exact, path) != exact.end() || std::ranges::any_of(below, is_inside) ||
           std::ranges::any_of(endings, ends);
}

}  // namespace storpol
