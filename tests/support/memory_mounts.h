// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/host/host.h"
#include "engine/model/step.h"

// Mounted filesystems of a machine in memory: what a remount makes of /proc/self/mountinfo, and of ext4's file of
// options in force, as the kernel does for ext4: an option that is at its default is not shown.
namespace storpol {

// "25 rw,relatime rw,commit=60": id, flags and superblock options of the mount at the step's target.
Result<std::string> memory_mount_state(const MemoryHost& host, const Remount& step);

// The remount that puts the present state back.
Result<Remount> memory_mount_undo(const MemoryHost& host, const Remount& step);

// A word that ext4 does not have, a flag that no mount has and another mount than the step is for are refused, and
// change nothing.
Result<void> memory_remount(MemoryHost& host, const Remount& step);

}  // namespace storpol
