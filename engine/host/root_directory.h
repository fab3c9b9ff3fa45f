// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

#include "engine/base/result.h"
#include "engine/host/path_walk.h"

namespace storpol {

// The walk of a mounted image: DIR as the user names it (links in the name are followed), opened once. An Error when it
// is no directory or cannot be opened.
Result<PathWalk> open_root_directory(std::string_view directory);

}  // namespace storpol
