// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The text of one sysctl.d file (man 5 sysctl.d) as its reader takes it. Pure and total: any bytes give lines, and the
// lines' bytes put together are the text again. Which file wins is not decided here.
namespace storpol {

// Who reads. They agree on ordinary lines and differ on odd ones.
enum class SysctlDialect {
    systemd,  // systemd-sysctl: '\r' and NUL end a line too
    procps,   // sysctl --system and -p of procps: lines end in '\n', text after a NUL is not seen
    busybox,  // sysctl -p of BusyBox: '#' begins a comment anywhere, "key value" needs no '=', no '-' prefix
};

struct SysctlLine {
    enum class Kind {
        blank,
        comment,
        assignment,  // key = value
        exclusion,   // "-key": globs leave this key alone; systemd-sysctl drops an earlier assignment of it too
        invalid,     // the reader warns and goes on
        unread,      // after something that ends reading: a line of more than 1 MiB
    };
    Kind kind = Kind::blank;
    int line = 0;                 // from 1
    std::string bytes;            // the whole line with what ends it
    std::string key;              // as sysctl_path() makes it; may be a glob
    std::string value;            // trimmed, else as written; the kernel parses it
    bool ignores_errors = false;  // "-key = value"

    bool operator==(const SysctlLine&) const = default;
};

std::vector<SysctlLine> parse_sysctl_d(std::string_view text, SysctlDialect dialect = SysctlDialect::systemd);
std::string render_sysctl_d(const std::vector<SysctlLine>& lines);  // the text they were parsed from

// The path below /proc/sys that a key means. Where its first separator is a dot, dots and slashes change places:
// vm.swappiness, vm/swappiness and /vm/swappiness are vm/swappiness; net.ipv4.conf.eth0/100.mtu and
// net/ipv4/conf/eth0.100/mtu are one key too (systemd sysctl-util.c; procps slashdot()).
std::string sysctl_path(std::string_view key);
// The dotted spelling of a path: net.ipv4.conf.eth0/100.mtu. sysctl_path() of it is the path again.
std::string sysctl_name(std::string_view path);

bool is_sysctl_glob(std::string_view path);
// glob(7) on paths: '*' and '?' do not match a slash, nor a dot at the start of a part.
bool sysctl_glob_match(const std::string& pattern, const std::string& path);

// The number the kernel stores when this is written to an integer key (kernel/sysctl.c, proc_get_long): blanks first, a
// sign, decimal, 0x or octal digits, then the end or a blank: "150 # why" is 150, "0x64" 100; "1e2", "60.5", "" are
// none.
std::optional<std::int64_t> parse_kernel_number(std::string_view text);

}  // namespace storpol
