// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/host/path_walk.h"
#include "engine/model/step.h"

// Options of a mounted filesystem, changed through the new mount API, which names only what changes: mount_setattr(2)
// for the flags of the mount, fspick(2) and fsconfig(2) for those of the superblock. mount(8) would pull in the rest of
// fstab's line or drop nosuid and nodev.
namespace storpol {

// "36 rw,noatime rw,commit=300": id, flags and superblock options of the topmost mount on `target`.
Result<std::string> mount_state(const std::string& target);
Result<std::vector<Step>> undo_of_remount(const Remount& step);
Result<std::string> remount(PathWalk& walk, const Remount& step);

}  // namespace storpol
