// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace storpol {

// True for files that no host ever reads and no capture ever holds: secrets, and attributes whose reading acts.
// `path` is a normal absolute path; asked again after links are followed.
bool is_never_read(std::string_view path);

// True when `path` is `directory` or lies below it. Both are normal absolute paths.
bool is_below(std::string_view path, std::string_view directory);

}  // namespace storpol
