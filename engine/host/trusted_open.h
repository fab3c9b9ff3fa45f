// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "engine/base/handle.h"
#include "engine/base/result.h"

// DESIGN promise 6: what apply takes as root must be under the control of root, or of the sudo caller, from "/" down.
namespace storpol {

struct TrustedFile {
    Fd fd;             // open for reading; what was checked is what is read
    std::string path;  // absolute, after all links
};

// Walks to `path` (relative to the working directory) component by component through descriptors, following links
// itself. Each directory, each link and the file must belong to root or to `user`; none may be writable by others (a
// directory may be if sticky), or by a group unless its number is 0 or the owner's uid. The Error names the component
// and the fix. `user_below`: a file of `user` is taken only below this directory; empty for anywhere.
Result<TrustedFile> open_trusted(const std::string& path, std::optional<uid_t> user, const std::string& user_below);

// SUDO_UID, when this process runs as root for somebody else.
std::optional<uid_t> sudo_caller();

}  // namespace storpol
