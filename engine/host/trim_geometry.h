// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/host/trim_slices.h"

namespace storpol {

// What the kernel, or for ext4 the superblock on `device` ("/dev/sda1"), tells of a mounted filesystem. What cannot be
// had stays empty: it is then trimmed in one call.
TrimGeometry read_trim_geometry(int fd, const std::string& fstype, const std::string& device);

// The same of an ext2, ext3 or ext4 superblock's 1024 bytes; ErrorKind::invalid where they are none.
Result<TrimGeometry> parse_ext4_geometry(std::string_view bytes);

// "0b0e7b5c-3f1a-4d7e-9b43-1f3a5c7d9e11" of 16 bytes (dashes only then); empty for zeros.
std::string uuid_text(std::string_view bytes);

}  // namespace storpol
