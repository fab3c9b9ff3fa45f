// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Entries of the boot loader specification (type 1) and loader.conf: "key value" lines. Pure; any text is survived.
namespace storpol {

struct LoaderLine {
    std::string key;    // "options"
    std::string value;  // the rest of the line, trimmed
    int line = 0;       // from 1
    bool operator==(const LoaderLine&) const = default;
};

std::vector<LoaderLine> parse_loader_lines(std::string_view text);

struct LoaderEntry {
    std::string id;  // the file name without .conf and without the count of boots: "arch", "5fd2-6.1.0"
    std::string title, version, sort_key, machine_id, linux_path, efi, uki;
    std::vector<LoaderLine> options;   // several lines are one command line
    std::vector<std::string> initrds;  // in the order in which they are loaded
    int linux_line = 0;
    bool is_exhausted = false;  // "+0-3": its count of tries is used up, so it sorts last
};

LoaderEntry parse_loader_entry(std::string_view file_name, std::string_view text);

// The order of systemd-boot's menu (man loader.conf, man systemd-boot): exhausted ones last, then sort-key, machine-id,
// the newer version first, the greater file name first.
bool loader_entry_before(const LoaderEntry& one, const LoaderEntry& other);

// How versions compare: runs of digits by number, the rest by byte (a part of strverscmp_improved). Negative, 0,
// positive.
int compare_versions(std::string_view one, std::string_view other);

}  // namespace storpol
