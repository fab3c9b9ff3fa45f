// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/report/report.h"
#include "engine/topology/discard_path.h"

// `storpol explain` about discards: which filesystems reach their disks, and the way of one, layer by layer.
namespace storpol {

struct MountedPath {
    std::string target;
    std::vector<std::string> also_at;  // other targets of the same superblock
    std::string fstype;
    std::string source;
    DiscardPath path;
};

// One line each, blocked ones first.
std::string render_discard_overview(std::span<const MountedPath> paths, const ReportHead& head, const TextStyle& style);

// Each layer from the filesystem down: what it passes, and of one that blocks why, what decides it, what would change
// it and what that costs.
std::string render_discard_path(const MountedPath& mounted, const TextStyle& style);

// The report with the paths as "discard-paths".
std::string render_json(const Evaluation& evaluation, std::span<const MountedPath> paths, const ReportHead& head);

}  // namespace storpol
