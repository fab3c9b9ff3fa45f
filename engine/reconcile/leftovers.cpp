// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/leftovers.h"

#include <utility>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/own_file.h"

namespace storpol {
namespace {

struct Leftover {
    std::string path;    // after all links
    std::string digest;  // of the file it is in
    OwnFile::Entry entry;
};

// A file that cannot be read is its resource's to report: its settings are unknown there.
std::vector<Leftover> leftovers_in(std::string_view path, const std::set<std::string>& wanted, Host& host) {
    std::vector<Leftover> out;
    const auto text = host.read_file_resolved(path);
    if (!text) return out;
    std::string digest;
    for (auto& entry : OwnFile::parse(text->bytes).entries()) {
        if (wanted.contains(entry.address)) continue;
        if (digest.empty()) digest = digest_of(text->bytes);
        out.push_back({text->path, digest, std::move(entry)});
    }
    return out;
}

std::vector<Leftover> all_leftovers(const Resources& resources, const std::set<std::string>& wanted, Host& host) {
    std::vector<Leftover> out;
    std::set<std::string> seen;
    for (const auto& resource : resources) {
        for (const auto& path : resource->own_files(host)) {
            if (!seen.insert(path).second) continue;
            for (auto& leftover : leftovers_in(path, wanted, host)) out.push_back(std::move(leftover));
        }
    }
    return out;
}

Finding finding_of(const Leftover& leftover) {
    const auto& address = leftover.entry.address;
    return {"no-longer-in-policy", Severity::warning,
            printable(address) +
                " is not in the policy, and its line stays in force: --prune takes it out, or name it in the policy",
            leftover.path + ":" + std::to_string(leftover.entry.line)};
}

Action removal_of(const Leftover& leftover) {
    Action action;
    action.verb = Verb::drop_in;
    action.target = leftover.path;
    action.step =
        EditFile{leftover.path, leftover.digest, OwnLines{leftover.entry.address, leftover.entry.section, {}}};
    action.when = When::next_boot;
    action.says =
        "takes out the line of " + printable(leftover.entry.address) +
        ", which the policy no longer names; the value that is in force now stays until something else sets it";
    return action;
}

}  // namespace

Leftovers find_leftovers(const Resources& resources, const std::set<std::string>& wanted, Host& host, bool prune) {
    Leftovers out;
    for (const auto& leftover : all_leftovers(resources, wanted, host)) {
        out.findings.push_back(finding_of(leftover));
        if (prune) out.actions.push_back(removal_of(leftover));
    }
    return out;
}

std::set<std::string> addresses_left(const Resources& resources, const std::set<std::string>& wanted, Host& host) {
    std::set<std::string> out;
    for (const auto& leftover : all_leftovers(resources, wanted, host)) out.insert(leftover.entry.address);
    return out;
}

}  // namespace storpol
