// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/host/path_walk.h"
#include "engine/host/query.h"

// What a LUKS header says without any secret. Read by ourselves and not by libcryptsetup, whose reading takes a lock
// that can wait, and writes: with its lock it repairs a damaged copy of a header on the way. A plan does neither.
namespace storpol {

struct StoredLuksHeader {
    int version = 0;  // 1 or 2
    std::string uuid;
    std::vector<std::string> flags;  // persistent activation flags, sorted; a LUKS1 header has none
    std::vector<std::string> requirements;
    std::vector<std::string> tokens;  // their types, sorted
    std::string integrity;            // of its segment; empty for none
};

// Reads `size` bytes at `offset`; fewer where they end. 0 or an errno.
using ReadAt = std::function<int(std::uint64_t offset, std::size_t size, std::string& into)>;

// ErrorKind::invalid where there is no whole header (neither of the two copies that LUKS2 keeps).
Result<StoredLuksHeader> parse_luks_header(const ReadAt& read_at);

// Of a block device or a header file, through the walk.
Result<StoredLuksHeader> read_luks_header(PathWalk& walk, const std::string& device);
Answer answer_luks(PathWalk& walk, const Query& query);

}  // namespace storpol
