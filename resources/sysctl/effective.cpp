// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/sysctl/effective.h"

#include <algorithm>
#include <map>
#include <set>

#include "resources/sysctl/keys.h"

namespace storpol {
namespace {

bool reaches(const SysctlAssignment& line, const std::string& path) {
    return line.path == path || (is_sysctl_glob(line.path) && sysctl_glob_match(line.path, path));
}

// systemd-sysctl keeps one option per key (a glob is a key too): the same value again changes nothing, another one
// moves the key to the end (sysctl.c, ordered_hashmap_remove and put).
std::vector<SysctlAssignment> options_of_systemd(const std::vector<SysctlAssignment>& lines) {
    std::map<std::string, std::size_t> at;  // key to its place in `all`
    std::vector<SysctlAssignment> all;
    std::vector<bool> gone;
    for (const SysctlAssignment& line : lines) {
        const auto known = at.find(line.path);
        if (known != at.end() && all[known->second].value == line.value) {
            all[known->second].where = line.where;
            continue;
        }
        if (known != at.end()) gone[known->second] = true;
        at[line.path] = all.size();
        all.push_back(line);
        gone.push_back(false);
    }
    std::vector<SysctlAssignment> options;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!gone[i]) options.push_back(all[i]);
    }
    return options;
}

void add_writes(const SysctlAssignment& line,
                const std::set<std::string>& paths,
                const std::set<std::string>& named,
                std::vector<SysctlWrite>& writes) {
    if (!line.value) return;
    if (!is_sysctl_glob(line.path)) {
        if (paths.count(line.path) != 0) writes.push_back({line.path, *line.value, line.where});
        return;
    }
    // A directory of /proc/sys lists its names in byte order, which is the order of std::set.
    for (const std::string& path : paths) {
        if (named.count(path) == 0 && sysctl_glob_match(line.path, path))
            writes.push_back({path, *line.value, line.where});
    }
}

// A scalar written with a value the kernel refuses stays as it was. What our tables do not know is taken to be
// accepted.
bool is_accepted(const SysctlWrite& write) {
    const VmKey* key = find_vm_key_by_path(write.path);
    if (key == nullptr || key->is_list) return true;
    const auto number = parse_kernel_number(write.value);
    return number && *number >= key->kernel_min && *number <= key->kernel_max;
}

SysctlOutcome outcome_of_pair(const std::string& path,
                              const KeyPair& pair,
                              const std::vector<SysctlWrite>& writes,
                              SysctlReader reader) {
    // mm/page-writeback.c: dirty_ratio and dirty_bytes act when the value changes, the other pairs at every write; but
    // systemd-sysctl does not write what already reads so (WRITE_STRING_FILE_SUPPRESS_REDUNDANT_VIRTUAL).
    const bool skips_same = pair.acts_on_change || reader == SysctlReader::systemd;
    SysctlOutcome outcome;
    std::map<std::string, std::int64_t> held{{pair.ratio, pair.default_ratio}, {pair.bytes, 0}};
    for (const SysctlWrite& write : writes) {
        const auto number = parse_kernel_number(write.value);
        if (!is_accepted(write)) {
            outcome.refused.push_back(write);
            continue;
        }
        std::int64_t& other = held[counterpart_of(pair, write.path)];
        if (skips_same && *number == 0 && held[write.path] == 0 && other != 0) continue;
        held[write.path] = *number;
        other = 0;
        outcome.from = write.path == path ? SysctlOutcome::From::line : SysctlOutcome::From::counterpart;
        outcome.source = write.where;
    }
    if (outcome.from != SysctlOutcome::From::nothing) outcome.value = std::to_string(held[path]);
    return outcome;
}

SysctlOutcome outcome_of_single(const std::vector<SysctlWrite>& writes) {
    SysctlOutcome outcome;
    for (const SysctlWrite& write : writes) {
        if (!is_accepted(write)) {
            outcome.refused.push_back(write);
            continue;
        }
        outcome.from = SysctlOutcome::From::line;
        outcome.value = write.value;
        outcome.source = write.where;
    }
    return outcome;
}

}  // namespace

std::vector<SysctlWrite> writes_to(const std::vector<std::string>& paths, const SysctlSources& sources) {
    const std::set<std::string> wanted(paths.begin(), paths.end());
    std::vector<SysctlAssignment> lines = sources.assignments_to(paths);
    std::set<std::string> named;
    for (const SysctlAssignment& line : lines) named.insert(line.path);
    if (sources.reader == SysctlReader::systemd) lines = options_of_systemd(lines);
    std::vector<SysctlWrite> writes;
    for (const SysctlAssignment& word : sources.boot_words) add_writes(word, wanted, {}, writes);
    for (const SysctlAssignment& line : lines) add_writes(line, wanted, named, writes);
    return writes;
}

SysctlOutcome outcome_of(const std::string& path, const SysctlSources& sources) {
    const KeyPair* pair = find_pair(path);
    const std::vector<std::string> paths =
        pair != nullptr ? std::vector<std::string>{pair->bytes, pair->ratio} : std::vector<std::string>{path};
    const auto writes = writes_to(paths, sources);
    SysctlOutcome outcome =
        pair != nullptr ? outcome_of_pair(path, *pair, writes, sources.reader) : outcome_of_single(writes);
    std::vector<SysctlAssignment> lines = sources.boot_words;
    for (SysctlAssignment& line : sources.assignments_to(paths)) lines.push_back(std::move(line));
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        const bool ours =
            std::any_of(paths.begin(), paths.end(), [&](const auto& each) { return reaches(*line, each); });
        const bool wins = outcome.from != SysctlOutcome::From::nothing && line->where == outcome.source;
        if (ours && !wins && line->value) outcome.shadows.push_back(line->where);
    }
    return outcome;
}

}  // namespace storpol
