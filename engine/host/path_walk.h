// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/handle.h"

namespace storpol {

// Opens a path of the machine (or of an image) and tells where it lies after all links, without ever touching what must
// not be touched: each path is checked by its text before a system call sees it, and each link is followed by us, so
// that no kernel walk enters a network mount.
class PathWalk {
  public:
    struct Opened {
        Fd fd;
        std::string path;  // after all links, normal
        int code = 0;      // errno of a refusal, else 0
    };

    // Asked before anything is opened, with a path whose links so far are followed: an errno to refuse with, or 0.
    using Guard = std::function<int(std::string_view path)>;

    PathWalk() = default;                      // the running machine
    PathWalk(Fd root, std::string root_path);  // the tree below a directory, whose own path is given

    // `path` must be absolute. ELOOP after 40 links (as the kernel).
    Opened open(std::string_view path, int flags, const Guard& guard = {}) { return walk(path, flags, false, guard); }

    // The last component is not followed: O_PATH of the link or the thing itself.
    Opened open_last(std::string_view path, const Guard& guard = {});
    // Only when `path` is normal and holds no link at all (ELOOP otherwise), its last component included.
    Opened open_exact(const std::string& path, int flags);

  private:
    Opened walk(std::string_view path, int flags, bool keep_last, const Guard& guard);
    Fd open_without_links(const std::string& path, int flags);
    int read_link(const std::string& path, std::string& target);
    bool is_network(std::string_view path);

    std::optional<Fd> root_;
    std::string root_path_ = "/";
    std::optional<std::vector<std::string>> network_mounts_;  // read once, at the first question
};

// "/a//b/./c/" as "/a/b/c"; ".." stays, as only a walk can take it away. None for a relative path or one with a NUL.
std::optional<std::string> normal_path(std::string_view path);

}  // namespace storpol
