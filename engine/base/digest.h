// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace storpol {

// SHA-256 of the bytes in lower-case hex: the identity of a file's content in plans, journals and records.
std::string digest_of(std::string_view bytes);

// What stands for the digest where there is no file.
inline constexpr std::string_view no_file_digest = "absent";

}  // namespace storpol
