// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/sysctl/owners.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/sysctl_d.h"
#include "engine/text/udev_rules.h"

namespace storpol {
namespace {

// tuned/consts.py: administrators' profiles first; older releases keep them one level higher.
constexpr std::string_view profile_directories[] = {"/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles",
                                                    "/usr/lib/tuned"};
constexpr std::string_view rules_directories[] = {"/etc/udev/rules.d", "/run/udev/rules.d",
                                                  "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d",
                                                  "/lib/udev/rules.d"};
constexpr std::size_t most_profiles = 32;  // an include chain longer than this is no real one

bool is_profile_name(std::string_view name) {
    return !name.empty() && name.find_first_of("/$") == std::string_view::npos && name != "." && name != "..";
}

// "include=throughput-performance, network-latency"; names built from variables cannot be followed.
std::vector<std::string> included_profiles(const std::vector<TunedLine>& lines) {
    std::vector<std::string> names;
    for (const TunedLine& line : lines) {
        if (line.section != "main" || line.key != "include") continue;
        std::string text = line.value;
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c == ',' || c == ';'; }, ' ');
        for (const std::string_view name : split_words(text)) names.emplace_back(name);
    }
    return names;
}

// The path below /proc/sys that a line sets: [sysctl] vm.swappiness=10, [vm] dirty_ratio=40. Sections may have names of
// their own and say their plugin with type=.
std::string sysctl_of(const TunedLine& line, const std::map<std::string, std::string>& types) {
    const auto type = types.find(line.section);
    const std::string& plugin = type == types.end() ? line.section : type->second;
    if (plugin == "sysctl" && line.key != "type" && line.key != "replace") return sysctl_path(line.key);
    const bool is_dirty = line.key == "dirty_ratio" || line.key == "dirty_bytes" ||
                          line.key == "dirty_background_ratio" || line.key == "dirty_background_bytes";
    return plugin == "vm" && is_dirty ? "vm/" + line.key : std::string();
}

struct ProfileWalk {
    Host& host;
    std::set<std::string> seen;
    std::vector<SysctlOwnerLine> found;

    void visit(const std::string& name);
};

void ProfileWalk::visit(const std::string& name) {
    if (!is_profile_name(name) || seen.size() >= most_profiles || !seen.insert(name).second) return;
    for (const std::string_view directory : profile_directories) {
        const std::string path = std::string(directory) + "/" + name + "/tuned.conf";
        const auto text = host.read_file(path);
        if (!text) continue;
        const auto lines = parse_tuned(*text);
        for (const std::string& included : included_profiles(lines)) visit(included);
        std::map<std::string, std::string> types;
        for (const TunedLine& line : lines) {
            if (line.key == "type") types[line.section] = line.value;
        }
        for (const TunedLine& line : lines) {
            const std::string sysctl = sysctl_of(line, types);
            if (!sysctl.empty()) found.push_back({sysctl, line.value, Place{path, line.line, 0}});
        }
        return;
    }
}

}  // namespace

std::vector<TunedLine> parse_tuned(std::string_view text) {
    std::vector<TunedLine> lines;
    std::string section;
    int number = 0;
    for (const std::string_view raw : split_lines(text)) {
        ++number;
        const std::string_view line = trim(raw);
        if (line.empty() || line.front() == '#' || line.front() == ';') continue;
        if (line.front() == '[' && line.back() == ']') {
            section = line.substr(1, line.size() - 2);
            continue;
        }
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        std::string key(trim(line.substr(0, equals)));
        std::string_view value = trim(line.substr(equals + 1));
        // "vm.swappiness = >10" writes only what is more than the value it finds (tuned plugin_sysctl).
        if (!value.empty() && (value.front() == '>' || value.front() == '<')) value = trim(value.substr(1));
        lines.push_back({section, std::move(key), std::string(value), number});
    }
    return lines;
}

std::vector<SysctlOwnerLine> read_tuned_sysctls(Host& host) {
    const auto active = host.read_file("/etc/tuned/active_profile");
    if (!active) return {};
    ProfileWalk walk{host, {}, {}};
    for (const std::string_view name : split_words(*active)) walk.visit(std::string(name));
    return walk.found;
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
