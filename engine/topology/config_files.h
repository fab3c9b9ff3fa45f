// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace storpol {

class Host;

// The files of one kind over several directories (sysctl.d, tmpfiles.d, modprobe.d, udev's rules), as systemd and its
// like take them: of one name only the first directory's is read, and all of them in the order of their names.
struct ConfigFiles {
    std::map<std::string, std::string> paths;  // by name, which std::map sorts by byte as their readers do
    std::vector<std::string> unreadable;       // "DIRECTORY: why" of each that is there and cannot be listed
};

// `directories`: the one that hides the others first.
ConfigFiles list_config_files(Host& host,
                              std::span<const std::string_view> directories,
                              const std::function<bool(std::string_view name)>& is_read);

// Names that end in ".conf" and do not begin with a dot: what systemd's readers take.
bool is_conf_name(std::string_view name);

}  // namespace storpol
