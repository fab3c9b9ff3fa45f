// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/host/query.h"

namespace storpol {

// The mount defaults that an ext2, ext3 or ext4 superblock keeps (tune2fs -o and -E mount_opts), as key=value lines.
// `bytes` are the 1024 of the superblock. ErrorKind::invalid where they are none.
Result<std::string> describe_ext4_superblock(std::string_view bytes);

// Reads them from a block device; needs to be allowed to read it.
Answer answer_ext4_super(const Query& query);

}  // namespace storpol
