// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/sysctl/actions.h"

#include <algorithm>
#include <optional>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/reconcile/compare.h"
#include "resources/sysctl/drop_in.h"
#include "resources/sysctl/keys.h"
#include "resources/sysctl/values.h"

namespace storpol {
namespace {

// Above this share of RAM the kernel reclaims all the time and may kill at once ("Setting this too high will OOM your
// machine instantly", kernel vm.rst).
constexpr std::int64_t most_of_memory_percent = 10;

// What is the same for all differences of a run.
struct Ground {
    Host& host;
    std::optional<KernelVersion> kernel;
    std::optional<SysctlSources> sources;  // read when a persisted difference asks
    std::string own_digest;
    std::string no_drop_in;  // why no drop-in can be written here
};

Gap cannot(const Difference& difference, std::string why) {
    return Gap{{difference.setting->address, difference.plane}, std::nullopt, std::move(why)};
}

std::int64_t asked_number(const Condition& wanted) {
    const auto text = text_to_write(wanted);
    return text ? parse_kernel_number(*text).value_or(0) : 0;
}

// A value that this kernel is too old for.
std::string too_old(const std::string& path, const Condition& wanted, const std::optional<KernelVersion>& kernel) {
    struct Limit {
        std::string_view path;
        std::int64_t most;
        KernelVersion until;
    };

    constexpr Limit limits[] = {{"vm/swappiness", 100, {5, 8}}, {"vm/watermark_scale_factor", 1000, {5, 18}}};
    if (!kernel) return {};
    for (const Limit& limit : limits) {
        if (limit.path != path || asked_number(wanted) <= limit.most || *kernel >= limit.until) continue;
        return sysctl_name(path) + " above " + std::to_string(limit.most) + " needs Linux " +
               std::to_string(limit.until.major) + "." + std::to_string(limit.until.minor) + ", and this kernel is " +
               std::to_string(kernel->major) + "." + std::to_string(kernel->minor);
    }
    return {};
}

std::optional<std::int64_t> memory_kib(Host& host) {
    const auto text = host.read_file("/proc/meminfo");
    if (!text) return std::nullopt;
    for (const std::string_view line : split_lines(*text)) {
        const auto words = split_words(line);
        if (words.size() >= 2 && words[0] == "MemTotal:") return parse_int(words[1]);
    }
    return std::nullopt;
}

void guard_min_free(const std::string& path, const Condition& wanted, Host& host, Action& action) {
    if (path != "vm/min_free_kbytes") return;
    action.risk = Risk::guarded;
    const auto total = memory_kib(host);
    const std::int64_t asked = asked_number(wanted);
    if (!total || asked <= *total / 100 * most_of_memory_percent) return;
    action.refused = "min_free_kbytes = " + std::to_string(asked) + " KiB is more than " +
                     std::to_string(most_of_memory_percent) + "% of the " + std::to_string(*total) +
                     " KiB of memory here; the kernel may kill processes at once";
}

// A write to one member of a pair makes the other read 0, so that the old value of the written one is not the way back.
std::vector<Step> undo_of_pair(const std::string& path, Host& host) {
    const KeyPair* pair = find_pair(path);
    if (pair == nullptr) return {};
    const auto read = [&](const std::string& key) {
        const auto text = host.read_file(proc_path(key));
        return text ? parse_kernel_number(*text) : std::nullopt;
    };
    const auto own = read(path);
    const auto other = read(counterpart_of(*pair, path));
    if (other && *other != 0) {
        return {WriteAttribute{proc_path(counterpart_of(*pair, path)), std::to_string(*other)}};
    }
    if (own && *own == 0) {  // both read 0: a ratio of 0, which is only taken while no limit in bytes is in force
        return {WriteAttribute{proc_path(pair->ratio), "1"}, WriteAttribute{proc_path(pair->ratio), "0"}};
    }
    return {};
}

void close_live(const Difference& difference, Ground& ground, Remedy& remedy) {
    const std::string path = path_of_address(difference.setting->address);
    const auto text = text_to_write(difference.wanted());
    if (!text) {
        remedy.gaps.push_back(cannot(difference, "no single value is wanted"));
        return;
    }
    Action action;
    action.verb = Verb::write;
    action.target = proc_path(path);
    action.step = WriteAttribute{action.target, *text};
    action.serves = {{difference.setting->address, difference.plane}};
    action.when = When::now;
    action.says = "set " + sysctl_name(path) + " to " + *text + " in the running kernel";
    action.undo = undo_of_pair(path, ground.host);
    guard_min_free(path, difference.wanted(), ground.host, action);
    remedy.actions.push_back(std::move(action));
}

// Where writing below /etc is not how this host is configured, or something is in the way of our name.
std::string why_no_drop_in(Host& host) {
    if (host.stat("/etc/NIXOS")) return "this is NixOS: set boot.kernel.sysctl in its configuration";
    if (host.stat("/run/current-system/channels.scm"))
        return "this is Guix System: add it to sysctl-service-type in its configuration";
    const auto link = host.read_link(sysctl_own_file);
    if (!link) return {};
    return std::string(sysctl_own_file) + " is a link to " + printable(*link) +
           ", put there to mask it: remove the link";
}

Action edit_action(const Difference& difference, const Ground& ground, OwnLines edit) {
    Action action;
    action.verb = Verb::drop_in;
    action.target = sysctl_own_file;
    action.step = EditFile{action.target, ground.own_digest, std::move(edit)};
    action.serves = {{difference.setting->address, difference.plane}};
    action.when = When::next_boot;
    return action;
}

void add_drop_in(const Difference& difference, const std::string& line, Ground& ground, Remedy& remedy) {
    const auto lines = drop_in_lines(*difference.setting, *ground.sources);
    const std::string path = path_of_address(difference.setting->address);
    Action action = edit_action(difference, ground, OwnLines{difference.setting->address, "", lines});
    action.says = "set " + line + " at boot in " + action.target;
    if (lines.size() > 1) action.says += ", and leave out what other files set for its counterpart";
    const Reading then = with_drop_in(*difference.setting, *ground.sources);
    if (compare(difference.wanted(), then) == Verdict::drift && !then.source.empty()) {
        action.says += " (still overridden by " + then.source + ")";
    }
    guard_min_free(path, difference.wanted(), ground.host, action);
    remedy.actions.push_back(std::move(action));
    const KeyPair* pair = find_pair(path);
    if (pair == nullptr) return;
    const std::string& other = counterpart_of(*pair, path);
    if (!own_file_has(sysctl_address(other), *ground.sources)) return;
    Action removal = edit_action(difference, ground, OwnLines{sysctl_address(other), "", {}});
    removal.says =
        "take " + sysctl_name(other) + " out of " + removal.target + ", as it would undo " + sysctl_name(path);
    remedy.actions.push_back(std::move(removal));
}

void close_persisted(const Difference& difference, Ground& ground, Remedy& remedy) {
    if (!ground.sources) {
        ground.sources = read_sysctl_sources(ground.host);
        ground.no_drop_in = why_no_drop_in(ground.host);
        const auto text = ground.host.read_file(sysctl_own_file);
        ground.own_digest = text ? digest_of(*text) : std::string(no_file_digest);
        if (!text && text.error().kind != ErrorKind::no_such_file) ground.no_drop_in = text.error().what;
    }
    const auto line = drop_in_line(*difference.setting);
    std::string why = ground.no_drop_in;
    if (!line) why = "no single value is wanted";
    if (ground.sources->reader == SysctlReader::busybox) {
        why = "sysctl -p of BusyBox reads /etc/sysctl.conf alone, which storpol does not edit: add " +
              line.value_or("the key") + " there";
    }
    if (why.empty() && own_text_with(*difference.setting, *ground.sources) == own_text(*ground.sources)) {
        why = "overridden by " + (difference.found.source.empty() ? "a later line" : difference.found.source);
    }
    if (!why.empty()) {
        remedy.gaps.push_back(cannot(difference, why));
        return;
    }
    add_drop_in(difference, *line, ground, remedy);
}

}  // namespace

Remedy sysctl_remedy(std::span<const Difference> differences, Host& host) {
    Remedy remedy;
    if (differences.empty()) return remedy;
    Ground ground{host, read_kernel_version(host), std::nullopt, {}, {}};
    for (const Difference& difference : differences) {
        const std::string path = path_of_address(difference.setting->address);
        const std::string old_kernel = too_old(path, difference.wanted(), ground.kernel);
        if (!old_kernel.empty()) {
            remedy.gaps.push_back(cannot(difference, old_kernel));
        } else if (difference.plane == Plane::live) {
            close_live(difference, ground, remedy);
        } else {
            close_persisted(difference, ground, remedy);
        }
    }
    return remedy;
}

}  // namespace storpol
