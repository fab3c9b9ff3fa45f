// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "engine/base/result.h"

// What a rename would lose or the kernel would refuse, looked at before anything is touched.
namespace storpol {

// Gives the new file `to` owner, mode and extended attributes of the old one `from`.
Result<void> copy_identity(int from, int to, const std::string& path);
// Gives the new file root as owner and exactly this mode, whatever umask or default ACL say.
Result<void> set_identity(int to, unsigned mode, const std::string& path);

// Refuses what cannot be replaced or deleted whole: immutable, append-only, with another hard link, a mount point, on a
// read-only filesystem. `name` may be absent from the directory.
Result<void> check_changeable(int directory, const std::string& name, const std::string& path);

// The Error of a refused change, with what a person can do about it.
tl::unexpected<Error> fail_change(int code, std::string_view doing, const std::string& path);

}  // namespace storpol
