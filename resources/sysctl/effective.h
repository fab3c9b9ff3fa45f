// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "resources/sysctl/sources.h"

// What the kernel holds once the reader of this host has gone through its files: a simulation of its writes. Pure.
namespace storpol {

// One write(2) the reader makes.
struct SysctlWrite {
    std::string path;
    std::string value;
    Place where;
    bool operator==(const SysctlWrite&) const = default;
};

// The writes that reach any of `paths`, in order. Globs reach a path only where no explicit line names it.
std::vector<SysctlWrite> writes_to(const std::vector<std::string>& paths, const SysctlSources& sources);

struct SysctlOutcome {
    enum class From {
        nothing,      // no line sets it
        line,         // `source` sets it
        counterpart,  // `source` sets the other member of its pair, so that this one reads 0
    } from = From::nothing;
    std::string value;  // as written there
    Place source;
    std::vector<Place> shadows;        // other lines that set it (or its counterpart) and lose, nearest first
    std::vector<SysctlWrite> refused;  // writes the kernel answers with EINVAL: it keeps what it had
    bool operator==(const SysctlOutcome&) const = default;
};

SysctlOutcome outcome_of(const std::string& path, const SysctlSources& sources);

}  // namespace storpol
