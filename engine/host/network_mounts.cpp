// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/network_mounts.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <map>

#include "engine/base/text.h"
#include "engine/host/io.h"
#include "engine/host/never_read.h"

namespace storpol {
namespace {

bool is_network(std::string_view fstype) {
    // fuseblk is FUSE over a local block device (ntfs-3g). gfs2 and ocfs2 hang with their cluster.
    static constexpr std::array<std::string_view, 18> types{
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "ceph",   "glusterfs", "lustre",
        "9p",  "afs",  "coda", "gfs2", "ocfs2", "fuse",  "autofs", "sshfs",     "virtiofs"};
    return fstype.starts_with("fuse.") || std::ranges::find(types, fstype) != types.end();
}

}  // namespace

// The kernel writes blank, tab, newline and backslash as three octal digits (seq_file mangle_path).
std::string unmangle_mount_path(std::string_view text) {
    const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
    std::string path;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
            is_octal(text[i + 3])) {
            path += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            path += text[i];
        }
    }
    return path;
}

// 36 35 98:0 /root /mnt/nfs rw,noatime shared:1 - nfs4 server:/export rw
std::vector<std::string> network_mounts(std::string_view mountinfo, std::string_view root) {
    std::map<std::string, bool> topmost;  // a later mount on the same point covers the earlier one (autofs, then vfat)
    for (const auto line : split_lines(mountinfo)) {
        const auto separator = line.find(" - ");
        const auto fields = split_words(line.substr(0, separator));
        if (separator == std::string_view::npos || fields.size() < 6) continue;
        const auto after = split_words(line.substr(separator + 3));
        if (after.empty()) continue;
        topmost[unmangle_mount_path(fields[4])] = is_network(after[0]);
    }
    std::vector<std::string> found;
    for (const auto& [point, network] : topmost)
        if (network && !is_below(root, point)) found.push_back(point);
    return found;
}

std::string read_own_mountinfo() {
    const Fd fd(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    std::string text;
    constexpr std::size_t bound = 64 << 20;  // ten thousands of container mounts are a few MiB
    if (fd) read_to_end(fd.get(), text, bound, 0, false);
    return text;
}

}  // namespace storpol
