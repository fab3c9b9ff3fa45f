// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace storpol {

// Mount points below which nothing is opened, as an access could hang for ever (a dead server), start a mount (autofs)
// or run somebody's program (FUSE). `mountinfo` is the text of /proc/self/mountinfo. The mount that `root` itself lies
// on does not count: who has their root on NFS has nothing else.
std::vector<std::string> network_mounts(std::string_view mountinfo, std::string_view root);

// A path as mountinfo spells it, blanks as \040: the path itself.
std::string unmangle_mount_path(std::string_view text);

// The mountinfo of this process; empty when it cannot be read.
std::string read_own_mountinfo();

}  // namespace storpol
