// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/sysctl/drop_in.h"

#include <algorithm>

#include "engine/reconcile/compare.h"
#include "engine/text/own_file.h"
#include "resources/sysctl/keys.h"
#include "resources/sysctl/values.h"

namespace storpol {

std::optional<std::string> drop_in_line(const Setting& setting) {
    const auto value = text_to_write(setting.condition_on(Plane::persisted));
    if (!value) return std::nullopt;
    return sysctl_name(path_of_address(setting.address)) + " = " + *value;
}

std::string own_text(const SysctlSources& sources) {
    const SysctlFile* own = sources.own();
    return own == nullptr ? std::string() : render_sysctl_d(own->lines);
}

namespace {

std::string text_with(const Setting& setting, const SysctlSources& sources, const std::vector<std::string>& lines) {
    OwnFile file = OwnFile::parse(own_text(sources));
    const std::string path = path_of_address(setting.address);
    if (const KeyPair* pair = find_pair(path)) file.remove(sysctl_address(counterpart_of(*pair, path)));
    // An address or line that the file cannot hold leaves it as it was; the caller sees that nothing would change.
    if (!lines.empty()) (void)file.set("", setting.address, lines);
    return file.render();
}

// The host with this text for its own file, as far as this setting is concerned.
SysctlSources after(const Setting& setting, const SysctlSources& sources, const std::string& text) {
    const std::string path = path_of_address(setting.address);
    const KeyPair* pair = find_pair(path);
    const auto paths =
        pair != nullptr ? std::vector<std::string>{pair->bytes, pair->ratio} : std::vector<std::string>{path};
    return sources.about(paths).with_own(text);
}

bool helps(const Setting& setting, const SysctlSources& sources, const std::vector<std::string>& lines) {
    const Reading then = persisted_sysctl(setting, after(setting, sources, text_with(setting, sources, lines)));
    return compare(setting.condition_on(Plane::persisted), then) == Verdict::in_sync;
}

}  // namespace

std::vector<std::string> drop_in_lines(const Setting& setting, const SysctlSources& sources) {
    const auto line = drop_in_line(setting);
    if (!line) return {};
    const std::string path = path_of_address(setting.address);
    const KeyPair* pair = find_pair(path);
    if (pair == nullptr || helps(setting, sources, {*line})) return {*line};
    std::vector<std::string> both{"-" + sysctl_name(counterpart_of(*pair, path)), *line};
    return helps(setting, sources, both) ? both : std::vector<std::string>{*line};
}

std::string own_text_with(const Setting& setting, const SysctlSources& sources) {
    return text_with(setting, sources, drop_in_lines(setting, sources));
}

bool own_file_has(const std::string& address, const SysctlSources& sources) {
    const auto entries = OwnFile::parse(own_text(sources)).entries();
    return std::any_of(entries.begin(), entries.end(),
                       [&](const OwnFile::Entry& entry) { return entry.address == address; });
}

Reading with_drop_in(const Setting& setting, const SysctlSources& sources) {
    return persisted_sysctl(setting, after(setting, sources, own_text_with(setting, sources)));
}

}  // namespace storpol
