// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/zram/generator_files.h"

#include <algorithm>
#include <array>

#include "engine/host/host.h"
#include "engine/topology/config_files.h"

namespace storpol {
namespace {

// The strongest first. /run beats /etc here, which is the other way round than systemd has it (its src/config.rs,
// locate_fragments).
constexpr std::array<std::string_view, 4> main_files{
    "/run/systemd/zram-generator.conf", "/etc/systemd/zram-generator.conf",
    "/usr/local/lib/systemd/zram-generator.conf", "/usr/lib/systemd/zram-generator.conf"};
constexpr std::array<std::string_view, 4> drop_in_folders{
    "/run/systemd/zram-generator.conf.d", "/etc/systemd/zram-generator.conf.d",
    "/usr/local/lib/systemd/zram-generator.conf.d", "/usr/lib/systemd/zram-generator.conf.d"};

constexpr std::string_view own_name = "50-storpol.conf";

}  // namespace

ZramGeneratorFiles read_zram_generator_files(Host& host) {
    ZramGeneratorFiles found;
    for (const auto path : main_files) {  // the first that is there is the only one
        auto text = host.read_file_resolved(path);
        if (!text && text.error().kind == ErrorKind::no_such_file) continue;
        if (text) {
            found.files.push_back({"", std::string(path), {std::move(text->path), std::move(text->bytes)}});
        } else {
            found.unreadable = text.error().what;
        }
        break;
    }
    const auto drop_ins = list_config_files(host, drop_in_folders, is_conf_name);
    if (!drop_ins.unreadable.empty()) found.unreadable = drop_ins.unreadable.front();
    for (const auto& [name, path] : drop_ins.paths) {
        auto text = host.read_file_resolved(path);
        if (text) {
            found.files.push_back({name, path, {std::move(text->path), std::move(text->bytes)}});
        } else if (text.error().kind != ErrorKind::no_such_file) {
            found.unreadable = text.error().what;
        }
    }
    return found;
}

ZramGeneratorFiles ZramGeneratorFiles::with_own(std::string_view text) const {
    auto changed = *this;
    auto at = std::ranges::find_if(changed.files, [](const File& file) { return file.name >= own_name; });
    if (at == changed.files.end() || at->name != own_name) {
        at = changed.files.insert(at,
                                  {std::string(own_name), std::string(zram_drop_in), {std::string(zram_drop_in), ""}});
    }
    if (at->listed == zram_drop_in) at->file.bytes = text;
    return changed;
}

std::string ZramGeneratorFiles::hides_own() const {
    for (const auto& file : files) {
        if (file.name == own_name && file.listed != zram_drop_in) return file.listed;
    }
    return {};
}

std::vector<ZramGeneratorFile> ZramGeneratorFiles::in_order() const {
    std::vector<ZramGeneratorFile> ordered;
    for (const auto& file : files) ordered.push_back(file.file);
    return ordered;
}

}  // namespace storpol
