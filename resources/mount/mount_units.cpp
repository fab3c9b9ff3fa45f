// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/mount_units.h"

#include <array>
#include <cctype>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/unit_file.h"
#include "engine/topology/mount_table.h"

namespace storpol {
namespace {

// man 5 systemd.unit "UNIT FILE LOAD PATH", strongest first. /run/systemd/generator stands between the fourth and the
// fifth: the fstab generator writes there what fstab itself says, so it is not read.
constexpr std::array<std::string_view, 7> unit_directories{
    "/etc/systemd/system.control",   "/run/systemd/system.control", "/etc/systemd/system",        "/run/systemd/system",
    "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",     "/run/systemd/generator.late"};
constexpr std::size_t fstab_position = 4;

// Types that stand for no filesystem of a disk: their units (dev-hugepages.mount, ...) are nobody's business here.
bool is_api_mount(std::string_view target) {
    for (const std::string_view tree : {"/dev", "/proc", "/sys", "/run"}) {
        if (target == tree || (target.starts_with(tree) && target[tree.size()] == '/')) return true;
    }
    return false;
}

struct Listing {
    std::map<std::string, std::size_t> fragments;  // unit name -> position in unit_directories
    std::map<std::string, std::map<std::string, std::string>>
        drop_ins;  // unit -> basename -> path of the one that applies
    std::set<std::string> automounts;
};

void list_drop_ins(Host& host, const std::string& directory, const std::string& unit, Listing& listing) {
    const auto names = host.list(directory + "/" + unit + ".d");
    if (!names) return;
    for (const auto& name : *names) {
        if (name.ends_with(".conf")) listing.drop_ins[unit].emplace(name, directory + "/" + unit + ".d/" + name);
    }
}

Listing list_units(Host& host, MountUnits& found) {
    Listing listing;
    for (std::size_t at = 0; at < unit_directories.size(); ++at) {
        const std::string directory(unit_directories[at]);
        const auto names = host.list(directory);
        if (!names && names.error().kind == ErrorKind::denied)
            found.unreadable.push_back(directory + ": " + names.error().what);
        if (!names) continue;
        for (const auto& name : *names) {
            if (name.ends_with(".mount")) listing.fragments.emplace(name, at);
            if (name.ends_with(".automount")) listing.automounts.insert(name.substr(0, name.size() - 10));
            if (name.ends_with(".mount.d")) list_drop_ins(host, directory, name.substr(0, name.size() - 2), listing);
        }
    }
    return listing;
}

// The assignments of a fragment and its drop-ins in the order systemd reads them, with the file each stands in.
struct Merged {
    std::vector<UnitAssignment> all;
    std::vector<std::string> files;  // of each assignment
};

bool read_into(Host& host, const std::string& path, Merged& merged, MountUnits& found, std::string* resolved) {
    const auto file = host.read_file_resolved(path);
    if (!file) {
        if (file.error().kind != ErrorKind::no_such_file) found.unreadable.push_back(path + ": " + file.error().what);
        return false;
    }
    if (resolved != nullptr) *resolved = file->path;
    for (auto& assignment : parse_unit_file(file->bytes).assignments) {
        merged.all.push_back(std::move(assignment));
        merged.files.push_back(file->path);
    }
    return true;
}

std::string value_of(const Merged& merged, std::string_view section, std::string_view key) {
    const auto* assignment = last_assignment(merged.all, section, key);
    return assignment == nullptr ? std::string() : assignment->value;
}

std::optional<MountUnit> read_unit(
    Host& host, const std::string& name, std::size_t position, const Listing& listing, MountUnits& found) {
    MountUnit unit;
    unit.name = name;
    Merged merged;
    if (!read_into(host, std::string(unit_directories[position]) + "/" + name, merged, found, &unit.fragment))
        return std::nullopt;
    if (unit.fragment == "/dev/null") return std::nullopt;  // masked
    if (const auto drop_ins = listing.drop_ins.find(name); drop_ins != listing.drop_ins.end()) {
        for (const auto& [basename, path] : drop_ins->second) read_into(host, path, merged, found, nullptr);
    }
    if (normal_target(value_of(merged, "Unit", "SourcePath")) == "/etc/fstab") return std::nullopt;
    unit.where = normal_target(value_of(merged, "Mount", "Where"));
    unit.what = value_of(merged, "Mount", "What");
    if (unit.what.empty()) return std::nullopt;
    unit.type = value_of(merged, "Mount", "Type");
    unit.options_path = unit.fragment;
    if (const auto* options = last_assignment(merged.all, "Mount", "Options")) {
        unit.options = options->value;
        unit.options_path = merged.files[static_cast<std::size_t>(options - merged.all.data())];
        unit.options_line = options->line;
    }
    unit.beats_fstab = position < fstab_position;
    unit.is_generated = unit_directories[position].starts_with("/run/systemd/generator");
    unit.is_automount = listing.automounts.contains(name.substr(0, name.size() - 6));
    return unit;
}

}  // namespace

MountUnits read_mount_units(Host& host) {
    MountUnits found;
    const auto listing = list_units(host, found);
    for (const auto& [name, position] : listing.fragments) {
        const auto target = mount_unit_target(name);
        if (!target || is_api_mount(*target)) continue;
        if (auto unit = read_unit(host, name, position, listing, found)) found.units.push_back(std::move(*unit));
    }
    return found;
}

std::string mount_unit_name(std::string_view target) {
    static constexpr std::string_view hex = "0123456789abcdef";
    std::string name;
    const auto path = normal_target(target).substr(1);
    for (std::size_t at = 0; at < path.size(); ++at) {
        const auto byte = static_cast<unsigned char>(path[at]);
        const bool plain = std::isalnum(byte) != 0 || byte == ':' || byte == '_' || (byte == '.' && at > 0);
        if (byte == '/') {
            name += '-';
        } else if (plain) {
            name += path[at];
        } else {
            name += "\\x";
            name += hex[byte >> 4U];
            name += hex[byte & 15U];
        }
    }
    return (name.empty() ? "-" : name) + ".mount";
}

std::optional<std::string> mount_unit_target(std::string_view unit_name) {
    if (!unit_name.ends_with(".mount")) return std::nullopt;
    unit_name.remove_suffix(6);
    if (unit_name == "-") return "/";
    std::string slashes = "/";
    for (const char c : unit_name) slashes += c == '-' ? '/' : c;
    // The name's only escapes are \xNN, which is also how bytes are escaped elsewhere.
    return unescape_bytes(slashes);
}

}  // namespace storpol
