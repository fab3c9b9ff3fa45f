// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/topology/config_files.h"

#include "engine/host/host.h"

namespace storpol {

ConfigFiles list_config_files(Host& host,
                              std::span<const std::string_view> directories,
                              const std::function<bool(std::string_view name)>& is_read) {
    ConfigFiles files;
    for (const auto directory : directories) {
        const auto names = host.list(directory);
        if (!names) {
            const Error& error = names.error();
            if (error.kind == ErrorKind::no_such_file) continue;
            files.unreadable.push_back(std::string(directory) + ": " +
                                       (error.kind == ErrorKind::not_captured ? "not in this capture" : error.what));
            continue;
        }
        for (const auto& name : *names) {
            if (is_read(name)) files.paths.emplace(name, std::string(directory) + "/" + name);
        }
    }
    return files;
}

bool is_conf_name(std::string_view name) {
    return name.ends_with(".conf") && !name.starts_with('.');
}

}  // namespace storpol
