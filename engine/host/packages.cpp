// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/packages.h"

#include <libmount/libmount.h>

#include <cerrno>

#include "engine/base/text.h"
#include "engine/host/late_library.h"
#include "engine/host/tree_host.h"

namespace storpol {
namespace {

const LateLibrary libmount("libmount.so.1");
STORPOL_LATE(libmount, mnt_get_library_version);

// dpkg's file is some ten megabytes at most; one that is larger than what is read of a file says nothing.
constexpr const char* dpkg_status = "/var/lib/dpkg/status";

}  // namespace

std::string dpkg_version(std::string_view status, std::string_view package) {
    const auto wanted = "Package: " + std::string(package);
    bool is_it = false;
    bool is_installed = false;
    for (const auto line : split_lines(status)) {
        if (line.empty()) {
            is_it = false;
            is_installed = false;
        } else if (line == wanted) {
            is_it = true;
        } else if (is_it && line.starts_with("Status: ")) {
            is_installed = line.ends_with(" installed");
        } else if (is_it && is_installed && line.starts_with("Version: ")) {
            return std::string(trim(line.substr(9)));
        }
    }
    return {};
}

Answer answer_live_package(const Query& query, TreeHost& tree) {
    if (query.args.at(0) != "util-linux" || !libmount.is_there()) return answer_package(query, tree);
    const char* version = nullptr;
    mnt_get_library_version(&version);
    return version == nullptr ? answer_package(query, tree) : Answer{version, "", {}};
}

Answer answer_package(const Query& query, TreeHost& tree) {
    const auto& name = query.args.at(0);
    const auto status = tree.answer({QueryKind::file, {dpkg_status}});
    if (status.refusal && status.refusal->kind != ErrorKind::no_such_file) return refuse(query, status.refusal->code);
    const auto version = status.refusal ? std::string() : dpkg_version(status.text, name);
    return version.empty() ? refuse(query, ENOENT) : Answer{version, "", {}};
}

}  // namespace storpol
