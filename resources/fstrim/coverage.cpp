// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/coverage.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/word_list.h"
#include "engine/topology/block_device.h"
#include "engine/topology/topology.h"
#include "resources/mount/trimmed.h"

namespace storpol {
namespace {

constexpr int newest_known = 241;  // of a util-linux whose version is not known
constexpr int last_quiet = 235;    // of a command that has the options of old ones
constexpr int checks_write = 234;  // since then what is not writable is passed over
constexpr int drops_first = 239;   // since then what is passed over is dropped before devices are compared

// "2.38.1-5+deb12u3" -> 238.
std::optional<int> parse_version(std::string_view text) {
    const auto dot = text.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto major = parse_int(text.substr(0, dot));
    auto end = dot + 1;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const auto minor = parse_int(text.substr(dot + 1, end - dot - 1));
    if (!major || !minor || *major < 0 || *major > 100 || *minor < 0 || *minor > 99) return std::nullopt;
    return static_cast<int>(*major * 100 + *minor);
}

int read_version(const std::vector<TrimCommand>& commands, Host& host) {
    const auto package = host.package("util-linux");
    const auto version = package ? parse_version(*package) : std::nullopt;
    if (version) return *version;
    const bool is_old = std::ranges::any_of(commands, &TrimCommand::is_old);
    return is_old ? last_quiet : newest_known;
}

bool lies_in(std::string_view path, std::string_view tree) {
    return tree == "/" || path == tree ||
           (path.starts_with(tree) && path.size() > tree.size() && path[tree.size()] == '/');
}

bool lies_in_any(std::string_view path, std::string_view words) {
    const auto all = split_words(words);
    return std::ranges::any_of(all, [path](std::string_view word) {
        const auto from = word.find_first_not_of("-+");
        return from != std::string_view::npos && lies_in(path, word.substr(from));
    });
}

// ProtectSystem=: which trees it makes read-only (man 5 systemd.exec).
bool is_protected_system(std::string_view value, std::string_view target) {
    if (value == "strict") return !lies_in(target, "/dev") && !lies_in(target, "/proc") && !lies_in(target, "/sys");
    const auto on = parse_unit_boolean(value);
    const bool is_full = value == "full";
    if (!is_full && on != std::optional(true)) return false;
    for (const std::string_view tree : {"/usr", "/boot", "/efi"}) {
        if (lies_in(target, tree)) return true;
    }
    return is_full && lies_in(target, "/etc");
}

bool is_home(std::string_view target) {
    return lies_in(target, "/home") || lies_in(target, "/root") || lies_in(target, "/run/user");
}

Coverage caused(Coverage::Cause cause, std::string says, std::string source) {
    Coverage coverage;
    coverage.cause = cause;
    coverage.says = std::move(says);
    coverage.source = std::move(source);
    return coverage;
}

Coverage by_sandbox(const UnitLine& line, std::string_view what) {
    auto coverage =
        caused(Coverage::Cause::sandbox, line.key + "=" + line.value + " " + std::string(what), line.where());
    coverage.cure = line.key + (line.key.ends_with("Paths") ? "=" : "=no");
    return coverage;
}

// The closer to being trimmed, the more it says.
int rank_of(Coverage::Cause cause) {
    switch (cause) {
        case Coverage::Cause::none:
            return 0;
        case Coverage::Cause::sandbox:
            return 1;
        case Coverage::Cause::notrim:
            return 2;
        case Coverage::Cause::duplicate:
            return 3;
        case Coverage::Cause::read_only:
            return 4;
        case Coverage::Cause::type:
        case Coverage::Cause::folder:
            return 5;
        case Coverage::Cause::not_listed:
            return 6;
        case Coverage::Cause::no_service:
            return 7;
    }
    return 8;
}

}  // namespace

std::string trim_name(const ManagedFilesystem& filesystem, const Topology& topology) {
    const auto* superblock = superblock_of(filesystem, topology);
    if (superblock == nullptr || superblock->mounts.empty()) return filesystem.target();
    return topology.mounts()->mounts()[superblock->mounts.front()].target;
}

CoverageFinder::CoverageFinder(const FstrimUnits& units, const Topology& topology, Host& host)
    : units_(units), topology_(topology), host_(host), inventory_(mount_inventory(topology, host)) {
    version_ = read_version(units.commands(), host);
}

std::string CoverageFinder::device_of(std::string_view source) const {
    const auto path = path_of_tag(source);
    const auto device = find_block_device_at(host_, path);
    return device ? device->name : path;
}

// mount(8)'s table, and the root where it is not in it (util-linux 2.34).
std::vector<CoverageFinder::Entry> CoverageFinder::fstab_entries() const {
    std::vector<Entry> entries;
    bool has_root = false;
    for (const auto& line : inventory_.fstab.entries) {
        if (line.fstype == "swap" || has_word(line.options, "bind") || line.target == "none") continue;
        Entry entry;
        entry.target = normal_target(line.target);
        entry.device = device_of(line.source);
        entry.fstype = line.fstype;
        entry.read_only = has_word(line.options, "ro");
        entry.no_trim = knows_notrim() && has_word(line.options, "X-fstrim.notrim");
        entry.place = Place{inventory_.fstab_path, line.line, 0};
        has_root = has_root || entry.target == "/";
        entries.push_back(std::move(entry));
    }
    const auto& mounts = topology_.mounts();
    const auto root = mounts ? mounts->at("/") : std::nullopt;
    if (has_root || !root || version_ < checks_write) return entries;
    Entry entry;
    entry.target = "/";
    entry.device = device_of(mounts->mounts()[*root].source);
    entry.fstype = mounts->mounts()[*root].fstype;
    entries.push_back(std::move(entry));
    return entries;
}

std::vector<CoverageFinder::Entry> CoverageFinder::mounted_entries() const {
    std::vector<Entry> entries;
    const auto& mounts = topology_.mounts();
    if (!mounts) return entries;
    for (const auto& mount : mounts->mounts()) {
        Entry entry;
        entry.target = mount.target;
        entry.device = device_of(mount.source);
        entry.fstype = mount.fstype;
        entry.read_only = has_word(mount.mount_options, "ro") || has_word(mount.super_options, "ro");
        entries.push_back(std::move(entry));
    }
    return entries;
}

// The first list that is not empty: one line of fstab, and what is mounted otherwise is never looked at.
std::vector<CoverageFinder::Entry> CoverageFinder::entries_of(const TrimCommand& command, std::string& unknown) const {
    for (const auto& list : command.lists) {
        if (list == "/etc/fstab") {
            if (!inventory_.fstab.entries.empty()) return fstab_entries();
        } else if (list == "/proc/self/mountinfo" || list == "/proc/mounts" || list == "/proc/self/mounts") {
            if (!topology_.mounts()) unknown = "what is mounted is not known: " + topology_.mounts().error().what;
            return mounted_entries();
        } else {
            unknown = "what " + printable(list) + " lists is not known";
            return {};
        }
    }
    return {};
}

bool CoverageFinder::is_mounted_read_only(const std::string& target) const {
    const auto& mounts = topology_.mounts();
    const auto at = mounts ? mounts->at(target) : std::nullopt;
    if (!at) return false;
    const auto& mount = mounts->mounts()[*at];
    return has_word(mount.mount_options, "ro") || has_word(mount.super_options, "ro");
}

Coverage CoverageFinder::hidden(const std::string& path) const {
    const auto& service = units_.service;
    const auto value = [&](std::string_view key) { return service.last("Service", key); };
    for (const auto& line : service.list("Service", "InaccessiblePaths")) {
        if (lies_in_any(path, line.value)) return by_sandbox(line, "hides it from the service");
    }
    for (const char* key : {"PrivateUsers", "PrivateDevices"}) {
        const auto line = value(key);
        if (line && parse_unit_boolean(line->value) == std::optional(true))
            return by_sandbox(*line, "keeps the service from the devices");
    }
    const auto home = value("ProtectHome");
    const bool hides_home = home && (home->value == "tmpfs" || parse_unit_boolean(home->value) == std::optional(true));
    if (hides_home && is_home(path)) return by_sandbox(*home, "hides it from the service");
    return {};
}

Coverage CoverageFinder::write_protected(const std::string& path) const {
    const auto& service = units_.service;
    for (const auto& line : service.list("Service", "ReadWritePaths")) {
        if (path != "/" && lies_in_any(path, line.value)) return {};
    }
    constexpr std::string_view shows = "shows it read-only to fstrim, which then passes over it";
    for (const auto& line : service.list("Service", "ReadOnlyPaths")) {
        if (lies_in_any(path, line.value)) return by_sandbox(line, shows);
    }
    const auto home = service.last("Service", "ProtectHome");
    if (home && home->value == "read-only" && is_home(path)) return by_sandbox(*home, shows);
    const auto system = service.last("Service", "ProtectSystem");
    if (system && is_protected_system(system->value, path)) return by_sandbox(*system, shows);
    return {};
}

Coverage CoverageFinder::sandboxed(const std::string& target) const {
    auto coverage = hidden(target);
    if (!coverage.is_covered() || version_ < checks_write) return coverage;
    return write_protected(target);
}

Coverage CoverageFinder::of_own_files() const {
    for (const char* path : {"/var/lib/storpol", "/run/storpol"}) {
        auto coverage = hidden(path);
        if (coverage.is_covered()) coverage = write_protected(path);
        if (coverage.is_covered()) continue;
        const auto key = coverage.says.substr(0, coverage.says.find('='));
        coverage.says = key + "= keeps storpol trim from " + path + ", so that it fails";
        // systemd takes the closer of both, so the rest of the protection stays. The folders themselves may be made
        // by the first run only.
        if (key == "ProtectSystem") coverage.cure = "ReadWritePaths=/run /var/lib";
        return coverage;
    }
    return {};
}

// What engine/cli/trim_targets leaves out by itself, and what keeps the service from working. It opens mounts for
// reading and needs no write access to them; what is hidden it cannot open.
Coverage CoverageFinder::by_storpol(const ManagedFilesystem& filesystem) const {
    const auto* superblock = superblock_of(filesystem, topology_);
    if (filesystem.mounts.front().is_bind) return caused(Coverage::Cause::folder, "only a folder of it is mounted", {});
    if (superblock != nullptr && has_word(superblock->super_options, "ro"))
        return caused(Coverage::Cause::read_only, "storpol trim leaves out what is read-only", {});
    for (const auto& mount : filesystem.mounts) {
        for (const auto& source : mount.sources) {
            if (!has_word(source.options, "X-fstrim.notrim")) continue;
            auto coverage =
                caused(Coverage::Cause::notrim, "X-fstrim.notrim takes it out of scheduled trims", source.describe());
            if (source.kind == OptionSource::Kind::fstab) coverage.place = Place{source.path, source.line, 0};
            return coverage;
        }
    }
    auto coverage = hidden(filesystem.target());
    return coverage.is_covered() ? of_own_files() : coverage;
}

// What drops an entry by what its list says of it.
Coverage CoverageFinder::skipped_because(const Entry& entry, const TrimCommand& command) const {
    const auto where = entry.place.line > 0 ? to_text(entry.place) : std::string();
    if (entry.no_trim) {
        auto coverage = caused(Coverage::Cause::notrim, "X-fstrim.notrim takes it out of scheduled trims", where);
        coverage.place = entry.place;
        return coverage;
    }
    if (entry.read_only)
        return caused(Coverage::Cause::read_only, "fstrim passes over what is listed read-only", where);
    const bool is_left_out =
        !command.types.empty() && std::ranges::find(command.types, entry.fstype) == command.types.end();
    if (is_left_out) return caused(Coverage::Cause::type, "--types leaves out " + entry.fstype, {});
    return {};
}

// fstrim_all() of util-linux: of entries with one target the last stays, of entries with one device the first.
Coverage CoverageFinder::by_list(const TrimCommand& command, const ManagedFilesystem& filesystem) const {
    std::string unknown;
    auto entries = entries_of(command, unknown);
    if (!unknown.empty()) {
        Coverage coverage;
        coverage.unknown = unknown;
        return coverage;
    }
    std::set<std::string> targets;
    for (const auto& mount : filesystem.mounts) targets.insert(mount.target);
    auto best = caused(Coverage::Cause::not_listed,
                       "the list that it reads, " + join(command.lists, " or ") +
                           ", ends before it: only the first one that is not empty counts",
                       {});
    std::set<std::string> kept_devices;
    std::set<std::string> seen_targets;
    for (auto at = entries.rbegin(); at != entries.rend(); ++at) {
        if (!seen_targets.insert(at->target).second) at->target.clear();
    }
    for (const auto& entry : entries) {
        if (entry.target.empty()) continue;
        auto coverage = skipped_because(entry, command);
        const bool drops_now = version_ >= drops_first && !coverage.is_covered();
        const bool is_first = drops_now || kept_devices.insert(entry.device).second;
        if (!targets.contains(entry.target)) continue;
        if (coverage.is_covered() && !is_first)
            coverage = caused(Coverage::Cause::duplicate, "another entry of its device comes first", {});
        if (coverage.is_covered() && version_ >= checks_write && is_mounted_read_only(entry.target))
            coverage = caused(Coverage::Cause::read_only, "fstrim passes over " + entry.target + ", which is read-only",
                              entry.place.line > 0 ? to_text(entry.place) : std::string());
        if (coverage.is_covered()) coverage = sandboxed(entry.target);
        if (coverage.is_covered()) return coverage;
        const int better = rank_of(coverage.cause) - rank_of(best.cause);
        // Of several the one that addresses the filesystem.
        if (better < 0 || (better == 0 && entry.target == filesystem.target())) best = std::move(coverage);
    }
    return best;
}

Coverage CoverageFinder::by_command(const TrimCommand& command, const ManagedFilesystem& filesystem) const {
    if (command.program == TrimCommand::Program::storpol) return by_storpol(filesystem);
    if (command.program == TrimCommand::Program::other) {
        Coverage coverage;
        coverage.unknown = "what \"" + printable(command.text) + "\" trims is not known";
        return coverage;
    }
    if (command.is_dry) return caused(Coverage::Cause::not_listed, "--dry-run trims nothing", {});
    for (const auto& target : command.targets) {
        for (const auto& mount : filesystem.mounts) {
            if (mount.target == normal_target(target)) return sandboxed(mount.target);
        }
    }
    if (!command.targets.empty()) return caused(Coverage::Cause::not_listed, "the command names other mounts", {});
    return by_list(command, filesystem);
}

Coverage CoverageFinder::of(const ManagedFilesystem& filesystem) const {
    if (const auto* unit = units_.unknown()) {
        Coverage coverage;
        coverage.unknown = unit->unknown;
        return coverage;
    }
    const auto& service = units_.service;
    if (!service.is_there()) {
        const bool is_masked = service.state == EffectiveUnit::State::masked;
        return caused(Coverage::Cause::no_service,
                      is_masked ? service.name + " is masked" : "there is no " + service.name, service.fragment);
    }
    const auto lines = service.list("Service", "ExecStart");
    auto best = caused(Coverage::Cause::no_service, service.name + " runs nothing", service.fragment);
    for (const auto& line : lines) {
        auto coverage = by_command(parse_trim_command(line.value), filesystem);
        if (coverage.is_covered()) return coverage;
        if (coverage.source.empty()) coverage.source = line.where();
        if (!coverage.unknown.empty() || rank_of(coverage.cause) < rank_of(best.cause)) best = std::move(coverage);
    }
    return best;
}

std::string CoverageFinder::trim_target(const ManagedFilesystem& filesystem) const {
    const auto& mounts = topology_.mounts();
    for (const auto& mount : filesystem.mounts) {
        if (!mounts) return mount.target;
        if (mount.live && mounts->is_reachable(*mount.live) && !is_mounted_read_only(mount.target)) return mount.target;
    }
    return {};
}

}  // namespace storpol
