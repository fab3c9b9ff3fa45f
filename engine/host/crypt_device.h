// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/step.h"

// The one door to libcryptsetup: changes of headers and of open mappings. Flags are in the words of `cryptsetup
// luksDump` ("allow-discards"), sorted.
namespace storpol {

// Words of flags that this build knows.
bool is_crypt_flag(const std::string& word);

// Puts flags into the header and takes some out; the others stay, those included that only a newer library can name.
// The header is the one with `step.uuid`, else ErrorKind::changed.
Result<void> store_luks_flags(const SetLuksFlags& step);

// The flags of an open mapping.
Result<std::vector<std::string>> active_crypt_flags(const std::string& mapping);

// Gives the mapping its table anew with the flags of `step`, while it is in use. Wants the key again, as the kernel
// does not give it out. Where it fails the old table is in use.
Result<void> refresh_mapping(const RefreshMapping& step);

}  // namespace storpol
