// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/host/dm_text.h"
#include "engine/host/query.h"

// The one door to device-mapper (libdevmapper). Each function answers 0 or an errno: ENOENT where no device has that
// name, ENXIO where the kernel has no device-mapper at all, EACCES without the right to ask, EOPNOTSUPP without the
// library. Names are as /sys/block/dm-N/dm/name has them.
namespace storpol {

enum class DmContent { info, table, status };

// A status read leaves a thin pool's metadata alone. Parameters never hold a key, and no copy of one stays in memory.
int read_dm_device(const std::string& name, DmContent content, DmDevice& device);

// Loads a table beside the live one, also when it is the same. resume_dm_device() swaps it in.
int load_dm_table(const std::string& name, const std::vector<DmTarget>& targets, bool is_read_only);
int clear_dm_table(const std::string& name);  // the one beside the live one
// Suspends by itself where a table waits to be swapped in; then waits for udev to have seen it, but not for ever.
int resume_dm_device(const std::string& name);

Answer answer_dm(const Query& query);  // dm-table and dm-status

}  // namespace storpol
