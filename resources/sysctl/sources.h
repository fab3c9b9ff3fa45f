// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/place.h"
#include "engine/text/sysctl_d.h"

// Which files set sysctls at the next boot of this host, in the order in which their reader takes them.
namespace storpol {

class Host;

inline constexpr std::string_view sysctl_own_file = "/etc/sysctl.d/zz-storpol.conf";

enum class SysctlReader {
    systemd,         // systemd-sysctl: sysctl.d directories, never /etc/sysctl.conf
    procps,          // sysctl --system: sysctl.d directories, then /etc/sysctl.conf
    openrc_busybox,  // OpenRC over the BusyBox applet: /etc/sysctl.conf, then /etc/sysctl.d
    busybox,         // BusyBox without OpenRC: sysctl -p, which knows /etc/sysctl.conf alone
};
std::string_view to_text(SysctlReader reader);
SysctlDialect dialect_of(SysctlReader reader);

struct SysctlFile {
    std::string listed;             // "/etc/sysctl.d/99-sysctl.conf"
    std::string path;               // after links: "/etc/sysctl.conf"
    std::vector<SysctlLine> lines;  // none for a mask, an empty file, a dangling link
    bool operator==(const SysctlFile&) const = default;
};

// One line that sets, or excludes, a key.
struct SysctlAssignment {
    std::string path;                  // below /proc/sys; may be a glob
    std::optional<std::string> value;  // none: excluded
    Place where;
    bool operator==(const SysctlAssignment&) const = default;
};

struct SysctlSources {
    SysctlReader reader = SysctlReader::systemd;
    bool reader_assumed = false;               // no init in sight
    std::vector<SysctlFile> files;             // in reading order, hidden ones left out
    std::vector<std::string> unreadable;       // "PATH: why" of each that should have been read
    std::vector<SysctlAssignment> boot_words;  // sysctl.KEY=VALUE of the kernel command line, applied before all files

    std::vector<SysctlAssignment> assignments() const;  // of all files
    // Those that reach one of these paths, globs included, in reading order: looked up, not searched for.
    std::vector<SysctlAssignment> assignments_to(const std::vector<std::string>& paths) const;
    const SysctlFile* own() const;
    // The same host with only the lines that can reach one of these paths: enough to tell what becomes of them.
    SysctlSources about(const std::vector<std::string>& paths) const;
    // The same host once the own file holds this text.
    SysctlSources with_own(std::string_view text) const;

    struct Index;
    std::set<std::pair<std::size_t, std::size_t>> lines_to(const std::vector<std::string>& paths) const;  // file, line
    mutable std::shared_ptr<const Index> index = {};  // of the files, made at the first look-up
};

SysctlSources read_sysctl_sources(Host& host);

// Of an unread file in the way of the reader's own: its directories, for surveys.
const std::vector<std::string_view>& sysctl_directories();

}  // namespace storpol
