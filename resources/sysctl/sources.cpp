// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/sysctl/sources.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/kernel_cmdline.h"
#include "engine/topology/config_files.h"

namespace storpol {
namespace {

constexpr std::string_view sysctl_conf = "/etc/sysctl.conf";
// systemd basic/constants.h, CONF_PATHS. /lib is one more on systems where it is no link to /usr/lib; procps has it
// always.
const std::vector<std::string_view> directories{"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d",
                                                "/usr/lib/sysctl.d", "/lib/sysctl.d"};

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

bool exists(Host& host, std::string_view path) {
    return host.stat(path).has_value();
}

// Where a program really is: /sbin/init is /usr/lib/systemd/systemd, /sbin/sysctl is /bin/busybox.
std::string resolved_program(Host& host, std::string_view path) {
    const auto stat = host.stat(path);
    if (!stat) return {};
    return stat->path.empty() ? std::string(path) : stat->path;
}

std::string sysctl_program(Host& host) {
    for (const std::string_view path : {"/sbin/sysctl", "/usr/sbin/sysctl", "/bin/sysctl", "/usr/bin/sysctl"}) {
        std::string program = resolved_program(host, path);
        if (!program.empty()) return program;
    }
    return {};
}

void find_reader(Host& host, SysctlSources& sources) {
    sources.reader = SysctlReader::systemd;
    if (exists(host, "/run/systemd/system")) return;  // sd_booted(3)
    const std::string init = resolved_program(host, "/sbin/init");
    if (base_name(init) == "systemd") return;
    const bool openrc = base_name(init) == "openrc-init" || exists(host, "/run/openrc") || exists(host, "/sbin/openrc");
    const std::string program = init.empty() && !openrc ? std::string() : sysctl_program(host);
    if (program.empty()) {
        sources.reader_assumed = true;
    } else if (base_name(program) != "busybox") {
        sources.reader = SysctlReader::procps;
    } else {
        sources.reader = openrc ? SysctlReader::openrc_busybox : SysctlReader::busybox;
    }
}

void add_file(Host& host, const std::string& path, SysctlSources& sources) {
    const auto text = host.read_file_resolved(path);
    if (text) {
        std::string resolved = text->path.empty() ? path : text->path;
        sources.files.push_back({path, std::move(resolved), parse_sysctl_d(text->bytes, dialect_of(sources.reader))});
        return;
    }
    const Error& error = text.error();
    // Nothing behind the name (a dangling link) and a directory named like a file set nothing, and hide all the same.
    const bool sets_nothing = error.kind == ErrorKind::no_such_file || errno_name(error.code) == "EISDIR";
    if (!sets_nothing) {
        sources.unreadable.push_back(path + ": " +
                                     (error.kind == ErrorKind::not_captured ? "not in this capture" : error.what));
    }
    sources.files.push_back({path, path, {}});
}

std::vector<std::string_view> directories_of(Host& host, SysctlReader reader) {
    if (reader == SysctlReader::busybox) return {};
    if (reader == SysctlReader::openrc_busybox) return {directories.front()};
    std::vector<std::string_view> all = directories;
    if (reader == SysctlReader::systemd) {
        const Answer lib = host.ask({QueryKind::list, {"/lib/sysctl.d"}});
        if (lib.refusal || lib.resolved == "/usr/lib/sysctl.d") all.pop_back();
    }
    return all;
}

// systemd passes over names that begin with a dot (FOREACH_DIRENT); procps and the shell's *.conf differ: procps reads
// them.
bool is_read(std::string_view name, SysctlReader reader) {
    constexpr std::string_view ending = ".conf";
    if (name.size() < ending.size() || name.substr(name.size() - ending.size()) != ending) return false;
    return name.front() != '.' || reader == SysctlReader::procps;
}

// The files that are read, in reading order.
std::map<std::string, std::string> survivors(Host& host, SysctlSources& sources) {
    auto files = list_config_files(host, directories_of(host, sources.reader),
                                   [&sources](std::string_view name) { return is_read(name, sources.reader); });
    sources.unreadable.insert(sources.unreadable.end(), files.unreadable.begin(), files.unreadable.end());
    return std::move(files.paths);
}

// sysctl.vm.swappiness=40 or sysctl/vm/swappiness=40 (kernel fs/proc/proc_sysctl.c, since 5.8): every dot becomes a
// slash.
void read_boot_words(Host& host, SysctlSources& sources) {
    const auto text = host.read_file("/proc/cmdline");
    if (!text) return;
    const KernelCommandLine words = KernelCommandLine::parse(*text);
    for (const KernelArgument& argument : words.arguments()) {
        const std::string_view name = argument.name;
        if (name.substr(0, 7) != "sysctl." && name.substr(0, 7) != "sysctl/") continue;
        if (!argument.value || argument.value->empty()) continue;
        std::string path(name.substr(7));
        std::replace(path.begin(), path.end(), '.', '/');
        sources.boot_words.push_back({path, *argument.value, Place{"/proc/cmdline", 0, 0}});
    }
}

void append_assignment(const SysctlFile& file, const SysctlLine& line, std::vector<SysctlAssignment>& out) {
    const Place where{file.path, line.line, 0};
    if (line.kind == SysctlLine::Kind::assignment) out.push_back({line.key, line.value, where});
    if (line.kind == SysctlLine::Kind::exclusion) out.push_back({line.key, std::nullopt, where});
}

}  // namespace

std::string_view to_text(SysctlReader reader) {
    switch (reader) {
        case SysctlReader::systemd:
            return "systemd-sysctl";
        case SysctlReader::procps:
            return "sysctl --system";
        case SysctlReader::openrc_busybox:
            return "the sysctl service of OpenRC with BusyBox";
        case SysctlReader::busybox:
            return "sysctl -p of BusyBox";
    }
    return {};
}

SysctlDialect dialect_of(SysctlReader reader) {
    switch (reader) {
        case SysctlReader::systemd:
            return SysctlDialect::systemd;
        case SysctlReader::procps:
            return SysctlDialect::procps;
        case SysctlReader::openrc_busybox:
            return SysctlDialect::busybox;
        case SysctlReader::busybox:
            return SysctlDialect::busybox;
    }
    return SysctlDialect::systemd;
}

std::vector<SysctlAssignment> SysctlSources::assignments() const {
    std::vector<SysctlAssignment> all;
    for (const SysctlFile& file : files) {
        for (const SysctlLine& line : file.lines) append_assignment(file, line, all);
    }
    return all;
}

// Where the lines of each key stand: file and line within it, so that their order is the reading order.
struct SysctlSources::Index {
    using Position = std::pair<std::size_t, std::size_t>;
    std::unordered_map<std::string, std::vector<Position>> by_key;
    std::vector<Position> globs;
};

// The positions of the lines that reach one of these paths.
std::set<std::pair<std::size_t, std::size_t>> SysctlSources::lines_to(const std::vector<std::string>& paths) const {
    if (!index) {
        auto made = std::make_shared<Index>();
        for (std::size_t file = 0; file < files.size(); ++file) {
            for (std::size_t line = 0; line < files[file].lines.size(); ++line) {
                const std::string& key = files[file].lines[line].key;
                if (key.empty()) continue;
                made->by_key[key].emplace_back(file, line);
                if (is_sysctl_glob(key)) made->globs.emplace_back(file, line);
            }
        }
        index = std::move(made);
    }
    std::set<Index::Position> positions;
    for (const auto& path : paths) {
        const auto named = index->by_key.find(path);
        if (named != index->by_key.end()) positions.insert(named->second.begin(), named->second.end());
        for (const auto& glob : index->globs) {
            if (sysctl_glob_match(files[glob.first].lines[glob.second].key, path)) positions.insert(glob);
        }
    }
    return positions;
}

std::vector<SysctlAssignment> SysctlSources::assignments_to(const std::vector<std::string>& paths) const {
    std::vector<SysctlAssignment> found;
    for (const auto& [file, line] : lines_to(paths)) append_assignment(files[file], files[file].lines[line], found);
    return found;
}

const SysctlFile* SysctlSources::own() const {
    const auto found =
        std::find_if(files.begin(), files.end(), [](const SysctlFile& file) { return file.listed == sysctl_own_file; });
    return found == files.end() ? nullptr : &*found;
}

SysctlSources SysctlSources::about(const std::vector<std::string>& paths) const {
    SysctlSources small;
    small.reader = reader;
    small.reader_assumed = reader_assumed;
    small.unreadable = unreadable;
    small.boot_words = boot_words;
    for (const SysctlFile& file : files) small.files.push_back({file.listed, file.path, {}});
    for (const auto& [file, line] : lines_to(paths)) small.files[file].lines.push_back(files[file].lines[line]);
    return small;
}

SysctlSources SysctlSources::with_own(std::string_view text) const {
    SysctlSources changed = *this;
    changed.index.reset();
    if (reader == SysctlReader::busybox) return changed;
    const std::string_view name = base_name(sysctl_own_file);
    const auto is_hidden = [name](const SysctlFile& file) { return base_name(file.listed) == name; };
    changed.files.erase(std::remove_if(changed.files.begin(), changed.files.end(), is_hidden), changed.files.end());
    const auto later = std::find_if(changed.files.begin(), changed.files.end(), [&](const SysctlFile& file) {
        if (file.listed == sysctl_conf) return reader == SysctlReader::procps;
        return base_name(file.listed) > name;
    });
    const std::string path(sysctl_own_file);
    changed.files.insert(later, SysctlFile{path, path, parse_sysctl_d(text, dialect_of(reader))});
    return changed;
}

SysctlSources read_sysctl_sources(Host& host) {
    SysctlSources sources;
    find_reader(host, sources);
    const bool conf_first = sources.reader == SysctlReader::openrc_busybox || sources.reader == SysctlReader::busybox;
    if (conf_first) add_file(host, std::string(sysctl_conf), sources);
    for (const auto& [name, path] : survivors(host, sources)) add_file(host, path, sources);
    if (sources.reader == SysctlReader::procps) add_file(host, std::string(sysctl_conf), sources);
    read_boot_words(host, sources);
    return sources;
}

const std::vector<std::string_view>& sysctl_directories() {
    return directories;
}

}  // namespace storpol
