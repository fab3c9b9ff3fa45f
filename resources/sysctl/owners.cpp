// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/sysctl/owners.h"

#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/sysctl_d.h"
#include "engine/text/udev_rules.h"
#include "resources/tuned_profile.h"

namespace storpol {
namespace {

constexpr std::string_view rules_directories[] = {"/etc/udev/rules.d", "/run/udev/rules.d",
                                                  "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d",
                                                  "/lib/udev/rules.d"};

// The path below /proc/sys that an option sets: [sysctl] vm.swappiness=10, [vm] dirty_ratio=40.
std::string sysctl_of(const TunedUnit& unit, const TunedOption& option) {
    static const std::set<std::string, std::less<>> own_keys{"type", "replace", "enabled", "priority", "drop"};
    if (unit.plugin == "sysctl" && !own_keys.contains(option.key)) return sysctl_path(option.key);
    const auto& key = option.key;
    const bool is_dirty = key == "dirty_ratio" || key == "dirty_bytes" || key == "dirty_background_ratio" ||
                          key == "dirty_background_bytes";
    return unit.plugin == "vm" && is_dirty ? "vm/" + key : std::string();
}

}  // namespace

std::vector<SysctlOwnerLine> read_tuned_sysctls(Host& host) {
    std::vector<SysctlOwnerLine> found;
    for (const TunedUnit& unit : read_tuned_profile(host)) {
        for (const TunedOption& option : unit.options) {
            const std::string sysctl = sysctl_of(unit, option);
            if (sysctl.empty()) continue;
            found.push_back({sysctl, std::string(split_tuned_amount(option.value).rest), option.where});
        }
    }
    return found;
}

std::vector<SysctlOwnerLine> read_udev_sysctls(Host& host) {
    std::map<std::string, std::string> files;  // name to path; the first directory that has a name hides the others
    for (const std::string_view directory : rules_directories) {
        const auto names = host.list(directory);
        if (!names) continue;
        for (const std::string& name : *names) {
            if (name.size() > 6 && name.substr(name.size() - 6) == ".rules") {
                files.emplace(name, std::string(directory) + "/" + name);
            }
        }
    }
    std::vector<SysctlOwnerLine> found;
    for (const auto& [name, path] : files) {
        const auto text = host.read_file_resolved(path);
        if (!text || text->bytes.find("SYSCTL{") == std::string::npos) continue;
        for (const UdevRule& rule : parse_udev_rules(text->bytes).rules) {
            for (const UdevToken& token : rule.tokens) {
                if (token.key != "SYSCTL" || token.is_match()) continue;
                found.push_back({sysctl_path(token.attribute), token.value, Place{text->path, rule.line, 0}});
            }
        }
    }
    return found;
}

}  // namespace storpol
