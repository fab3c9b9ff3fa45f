// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/path_walk.h"

#include <fcntl.h>
#include <linux/openat2.h>

#include <algorithm>
#include <cerrno>

#include "engine/base/text.h"
#include "engine/host/io.h"
#include "engine/host/network_mounts.h"
#include "engine/host/never_read.h"

namespace storpol {
namespace {

constexpr int max_links = 40;  // path_resolution(7)

// Components still to walk, the next one last.
using Pending = std::vector<std::string>;

void push_components(Pending& pending, std::string_view path) {
    const auto parts = split(path, '/');
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
        if (!part->empty() && *part != ".") pending.emplace_back(*part);
}

std::string join_pending(std::string path, const Pending& pending) {
    for (auto part = pending.rbegin(); part != pending.rend(); ++part) path += "/" + *part;
    return path.empty() ? "/" : path;
}

bool goes_up(const Pending& pending) {
    return std::ranges::find(pending, "..") != pending.end();
}

void go_up(std::string& path) {
    path.resize(path.empty() ? 0 : path.rfind('/'));
}

// Without openat2(2) (Linux before 5.6; EPERM from container filters that do not know it): looks at each component
// first.
Fd open_step_by_step(const std::string& path, int flags) {
    const bool keeps_last = (flags & O_NOFOLLOW) != 0;
    for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const auto prefix = path.substr(0, end);
        std::string target;
        const bool is_looked_at = end != std::string::npos || !keeps_last;
        const bool is_link = is_looked_at && prefix != "/proc/self" && read_link_at(AT_FDCWD, prefix, target) == 0;
        if (is_link) {
            errno = ELOOP;
            return Fd();
        }
        if (end == std::string::npos) break;
    }
    return Fd(open(path.c_str(), flags | O_CLOEXEC));
}

// /proc/self is a link that names this process; what lies below keeps the name every process knows it by.
bool is_own_proc(std::string_view path) {
    return path.starts_with("/proc/self/") || path.starts_with("/proc/thread-self/");
}

}  // namespace

std::optional<std::string> normal_path(std::string_view path) {
    if (!path.starts_with('/') || path.find('\0') != std::string_view::npos) return std::nullopt;
    Pending pending;
    push_components(pending, path);
    return join_pending("", pending);
}

PathWalk::PathWalk(Fd root, std::string root_path) : root_(std::move(root)), root_path_(std::move(root_path)) {}

PathWalk::Opened PathWalk::open_last(std::string_view path, const Guard& guard) {
    return walk(path, O_PATH | O_NOFOLLOW, true, guard);
}

PathWalk::Opened PathWalk::open_exact(const std::string& path, int flags) {
    Opened opened;
    opened.path = path;
    if (normal_path(path) != path || path.find("/../") != std::string::npos || path.ends_with("/..")) {
        opened.code = EINVAL;
    } else if (is_network(path)) {
        opened.code = EREMOTE;
    } else {
        opened.fd = open_without_links(path, flags);
        opened.code = opened.fd ? 0 : errno;
    }
    return opened;
}

// Tries the whole path first: a success without links means that it is where it says. Else walks to the first link,
// puts its target in place, and tries again.
PathWalk::Opened PathWalk::walk(std::string_view path, int flags, bool keep_last, const Guard& guard) {
    Opened opened;
    opened.code = EINVAL;
    if (!normal_path(path)) return opened;
    Pending pending;
    push_components(pending, path);
    std::string done;  // free of links
    bool may_open = true;
    for (int links = 0;;) {
        opened.path = join_pending(done, pending);
        if (may_open && !goes_up(pending)) {
            opened.code = is_network(opened.path) ? EREMOTE : guard ? guard(opened.path) : 0;
            if (opened.code != 0) return opened;
            opened.fd = open_without_links(opened.path, flags);
            opened.code = opened.fd ? 0 : errno;
            if (opened.code != ELOOP || pending.empty()) return opened;
        }
        may_open = false;
        const auto part = pending.back();
        pending.pop_back();
        if (part == "..") {
            go_up(done);
            may_open = true;
            continue;
        }
        const auto here = done + "/" + part;
        if (is_network(here)) return {Fd(), here, EREMOTE};
        if (guard && guard(here) != 0) return {Fd(), here, guard(here)};
        std::string target;
        const bool is_followed = !keep_last || !pending.empty();
        const int code = is_followed ? read_link(here, target) : EINVAL;
        if (code == EINVAL) {  // no link
            done = here;
            may_open = pending.empty();
            continue;
        }
        if (code != 0) return {Fd(), here, code};
        if (++links > max_links) return {Fd(), here, ELOOP};
        if (target.starts_with('/')) done.clear();
        push_components(pending, target);
        may_open = true;
    }
}

Fd PathWalk::open_without_links(const std::string& path, int flags) {
    if (root_) {
        constexpr auto in_root = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
        return open_at2(root_->get(), path, flags, in_root);
    }
    const auto resolve = is_own_proc(path) ? RESOLVE_NO_MAGICLINKS : RESOLVE_NO_SYMLINKS;
    Fd fd = open_at2(AT_FDCWD, path, flags, static_cast<std::uint64_t>(resolve));
    if (fd || (errno != ENOSYS && errno != EPERM)) return fd;
    return open_step_by_step(path, flags);
}

// `path` is free of links but for its last component.
int PathWalk::read_link(const std::string& path, std::string& target) {
    if (!root_) return read_link_at(AT_FDCWD, path, target);
    const Fd fd = open_without_links(path, O_PATH | O_NOFOLLOW);
    if (!fd) return errno;
    const int code = read_link_at(fd.get(), "", target);
    return code == ENOENT ? EINVAL : code;  // what readlinkat says of a descriptor that is no link
}

bool PathWalk::is_network(std::string_view path) {
    if (!network_mounts_) network_mounts_ = network_mounts(read_own_mountinfo(), root_path_);
    if (network_mounts_->empty()) return false;
    const auto on_host = root_path_ == "/" ? std::string(path) : root_path_ + (path == "/" ? "" : std::string(path));
    const auto covers = [&](const std::string& point) { return is_below(on_host, point); };
    return std::ranges::any_of(*network_mounts_, covers);
}

}  // namespace storpol
