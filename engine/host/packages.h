// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "engine/host/query.h"

namespace storpol {

class TreeHost;

// The installed version of a package, by dpkg's status file. ENOENT where that does not know it (another package
// manager).
Answer answer_package(const Query& query, TreeHost& tree);

// The same of the running machine. libmount has the version of the util-linux it is of, which needs no file.
Answer answer_live_package(const Query& query, TreeHost& tree);

// "2.38.1-5+deb12u3" of an installed package in the text of /var/lib/dpkg/status; empty where there is none.
std::string dpkg_version(std::string_view status, std::string_view package);

}  // namespace storpol
