// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/links.h"

#include <set>

#include "engine/base/digest.h"
#include "engine/host/host.h"

namespace storpol {

std::vector<LinkChange> links_to_disable(const EffectiveUnit& timer, Host& host, std::string& cannot) {
    std::vector<LinkChange> changes;
    bool needs_mask = false;
    std::set<std::string> decided;  // targets for which a link that stays speaks
    for (const auto& link : timer.links) {
        const auto folder = link.path.substr(0, link.path.rfind('/'));
        const auto target = folder.substr(folder.rfind('/') + 1);
        if (decided.contains(target)) continue;
        const bool stays = link.is_off || !link.path.starts_with("/etc/");
        if (stays) {
            decided.insert(target);
            needs_mask = needs_mask || !link.is_off;
            continue;
        }
        const auto before = host.read_link(link.path);
        if (before) changes.push_back({link.path, *before, {}, "no target wants " + timer.name + " any more"});
    }
    if (!needs_mask) return changes;
    const auto mask = std::string(mask_folder) + "/" + timer.name;
    if (!timer.is_maskable) {
        cannot = "a file of the vendor wants " + timer.name + ", and " + mask + " stands where a mask would";
        return {};
    }
    changes.push_back({mask, std::string(no_file_digest), "/dev/null", "mask " + timer.name});
    return changes;
}

}  // namespace storpol
