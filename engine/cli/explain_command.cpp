// SPDX-License-Identifier: GPL-3.0-or-later
// explain: where discards of each filesystem end, the way of one of them, and settings on all their planes.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/cli/commands.h"
#include "engine/cli/comparison.h"
#include "engine/report/discard_report.h"
#include "engine/topology/topology.h"
#include "resources/mount/inventory.h"

namespace storpol {
namespace {

Error no_such_setting(const Evaluation& evaluation, const std::string& word) {
    std::vector<std::string> addresses;
    for (const SettingState& state : evaluation.settings) addresses.push_back(state.setting.address);
    const auto near = nearest(word, addresses);
    Error error;
    error.kind = ErrorKind::invalid;
    error.what = "the policy wants nothing of " + word + " here";
    error.fix = near ? "did you mean " + *near + "?" : "storpol explain '*' lists all that it wants";
    return error;
}

MountedPath path_at(const Superblock& superblock, const MountTable& table, const Topology& topology, Host& host) {
    MountedPath mounted;
    for (const auto index : superblock.mounts) {
        const auto& target = table.mounts()[index].target;
        if (mounted.target.empty()) {
            mounted.target = target;
        } else {
            mounted.also_at.push_back(target);
        }
    }
    mounted.fstype = superblock.fstype;
    mounted.source = superblock.source;
    mounted.path = find_discard_path(superblock, topology, host);
    return mounted;
}

std::vector<MountedPath> all_paths(const MountTable& table, const Topology& topology, Host& host) {
    std::vector<MountedPath> paths;
    for (const auto& superblock : table.superblocks()) {
        if (is_pseudo_filesystem(superblock.fstype)) continue;
        paths.push_back(path_at(superblock, table, topology, host));
    }
    std::ranges::sort(paths, {}, &MountedPath::target);
    return paths;
}

// Without a word: every filesystem. It asks nothing of a policy.
int explain_all(const Output& out, Comparison& result) {
    const Topology topology(result.session->picture());
    const auto& table = topology.mounts();
    if (!table) return out.error(table.error(), result.head);
    const auto paths = all_paths(*table, topology, result.session->picture());
    if (out.is_json()) return out.report(render_json(result.evaluation, paths, result.head), exit_ok);
    return out.report(render_discard_overview(paths, result.head, out.style()), exit_ok);
}

// The filesystem mounted at this very path, or the one that the path lies on.
std::optional<MountedPath> path_of_word(const std::string& word, const Topology& topology, Host& host) {
    const auto& table = topology.mounts();
    if (!table || !word.starts_with('/')) return std::nullopt;
    const auto* superblock = filesystem_at(*table, word);
    if (superblock == nullptr) return std::nullopt;
    return path_at(*superblock, *table, topology, host);
}

}  // namespace

int run_explain(const Options& options) {
    const Output out(options);
    Comparison result = compare_host(options, out, Default::allowed);
    if (result.failed) return *result.failed;
    if (options.selection.empty()) return explain_all(out, result);
    const Topology topology(result.session->picture());
    const auto mounted = path_of_word(options.selection, topology, result.session->picture());
    const auto part = selected(result.evaluation, mounted ? mounted->target : options.selection);
    if (part.settings.empty() && !mounted)
        return out.error(no_such_setting(result.evaluation, options.selection), result.head);
    if (out.is_json()) {
        const std::vector<MountedPath> paths = mounted ? std::vector{*mounted} : std::vector<MountedPath>{};
        return out.report(render_json(part, paths, result.head), exit_ok);
    }
    std::string text = mounted ? render_discard_path(*mounted, out.style()) : std::string();
    if (!part.settings.empty()) {
        if (mounted) text += "\n";
        text += render_explain_text(part, result.policy, out.style());
    }
    return out.report(text, exit_ok);
}

}  // namespace storpol
