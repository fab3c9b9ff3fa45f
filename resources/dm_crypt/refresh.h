// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/model/step.h"
#include "engine/topology/crypt_mapping.h"

namespace storpol {

class Host;

// A key for a live change that no person has to type: the key file of its crypttab line or of cryptsetup-keys.d, a
// volume key that unlocking left in a keyring, a TPM2 token without a PIN as far as can be told. None where there is
// none.
std::optional<KeySource> find_key(Host& host, const CryptMapping& mapping, const LuksHeader& header);

// The command that a person can give instead: `cryptsetup refresh` keeps only the flags that it names.
std::string refresh_command(const CryptMapping& mapping, const std::set<std::string>& flags);

}  // namespace storpol
