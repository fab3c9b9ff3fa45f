// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/host/query.h"

namespace storpol {

// lvs(8)'s JSON report as a line for each volume, sorted: "vg0/pool type=thin-pool discards=passdown
// kernel-discards=passdown data-percent=6.11 metadata-percent=10.94 active=yes". ErrorKind::invalid when it is none.
Result<std::string> describe_lvs(std::string_view report);

// Runs lvs: it locks, may wake disks and needs root, so it is asked only for what nothing else tells. EACCES without
// root, ENOENT where LVM is not installed.
Result<std::string> read_lvs();
Answer answer_lvs(const Query& query);

// The words behind one volume's name in such lines; empty when it is not there.
std::map<std::string, std::string> volume_of(std::string_view lines, std::string_view name);

}  // namespace storpol
