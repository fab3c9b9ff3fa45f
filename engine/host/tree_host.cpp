// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/tree_host.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "engine/host/initramfs.h"
#include "engine/host/io.h"
#include "engine/host/luks_header.h"
#include "engine/host/never_read.h"

namespace storpol {
namespace {

constexpr std::size_t max_file = 16 << 20;  // configuration, even generated, is far smaller; an endless file is none
constexpr std::string_view null_device = "/dev/null";

// What a guard says beside errno values.
constexpr int outside_image = -1;
constexpr int is_null_device = -2;
constexpr int is_device_path = -3;

bool is_kernel_file(std::string_view path) {
    return is_below(path, "/sys") || is_below(path, "/proc");
}

// Attributes come whole in one read; other kernel files, and the filesystems mounted below /sys, in pieces.
bool is_attribute(std::string_view path) {
    if (is_below(path, "/proc/sys")) return true;
    const bool is_other = is_below(path, "/sys/fs/cgroup") || is_below(path, "/sys/kernel/debug") ||
                          is_below(path, "/sys/kernel/tracing") || is_below(path, "/sys/kernel/security");
    return is_below(path, "/sys") && !is_other;
}

Answer refusal_of(const Query& query, int code) {
    return code == outside_image ? not_captured(query) : refuse(query, code);
}

Answer read_opened(const Query& query, PathWalk::Opened& opened) {
    std::size_t expected = 0;
    // Kernel files have no size to learn, and reading a directory says EISDIR by itself: a call saved for each.
    if (!is_kernel_file(opened.path)) {
        struct stat found {};

        if (fstat(opened.fd.get(), &found) != 0) return refuse(query, errno);
        if (S_ISDIR(found.st_mode)) return refuse(query, EISDIR);
        if (!S_ISREG(found.st_mode)) return Answer{"", opened.path, {}};
        expected = static_cast<std::size_t>(found.st_size);
    }
    Answer answer{"", opened.path, {}};
    const int code = read_to_end(opened.fd.get(), answer.text, max_file, expected, is_attribute(opened.path));
    return code == 0 ? answer : refuse(query, code);
}

std::string_view type_of(unsigned mode) {
    switch (mode & S_IFMT) {
        case S_IFREG:
            return "file";
        case S_IFDIR:
            return "dir";
        case S_IFLNK:
            return "link";
        case S_IFBLK:
            return "block";
        case S_IFCHR:
            return "char";
        default:
            return "other";
    }
}

std::string device_text(unsigned major, unsigned minor) {
    return std::to_string(major) + ":" + std::to_string(minor);
}

std::string render_stat(const struct statx& found) {
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", found.stx_mode & 07777U);
    std::string text = "type=" + std::string(type_of(found.stx_mode)) + "\nmode=" + mode.data() +
                       "\nuid=" + std::to_string(found.stx_uid) + "\ngid=" + std::to_string(found.stx_gid) +
                       "\nsize=" + std::to_string(found.stx_size) + "\nnlink=" + std::to_string(found.stx_nlink) +
                       "\ndev=" + device_text(found.stx_dev_major, found.stx_dev_minor) +
                       "\nino=" + std::to_string(found.stx_ino) + "\nmtime=" + std::to_string(found.stx_mtime.tv_sec) +
                       "\n";
    const bool is_device = S_ISBLK(found.stx_mode) || S_ISCHR(found.stx_mode);
    if (is_device) text += "rdev=" + device_text(found.stx_rdev_major, found.stx_rdev_minor) + "\n";
    if ((found.stx_attributes & STATX_ATTR_IMMUTABLE) != 0) text += "immutable=1\n";
    if ((found.stx_attributes & STATX_ATTR_APPEND) != 0) text += "append-only=1\n";
    return text;
}

int read_names(int fd, std::vector<std::string>& names) {
    alignas(dirent64) std::array<char, 32768> buffer{};
    for (;;) {
        const auto size = getdents64(fd, buffer.data(), buffer.size());
        if (size < 0) return errno;
        if (size == 0) break;
        for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
            const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
            const std::string_view name(entry->d_name);
            if (name.find('\n') != std::string_view::npos) return EILSEQ;  // would look like two files
            if (name != "." && name != "..") names.emplace_back(name);
            at += entry->d_reclen;
        }
    }
    std::ranges::sort(names);
    return 0;
}

}  // namespace

Answer TreeHost::answer(const Query& query) {
    switch (query.kind) {
        case QueryKind::file:
            return answer_file(query);
        case QueryKind::link:
            return answer_link(query);
        case QueryKind::list:
            return answer_list(query);
        case QueryKind::stat:
            return answer_stat(query);
        case QueryKind::program_exists:
            return answer_program(query);
        case QueryKind::image_member:
            return answer_image_member(query);
        case QueryKind::luks:
            return answer_luks(walk_, query);
        case QueryKind::now:
        case QueryKind::unit:
        case QueryKind::uid:
        case QueryKind::ext4_super:
        case QueryKind::dm_table:
        case QueryKind::dm_status:
        case QueryKind::lvs:
        case QueryKind::journal:
        case QueryKind::package:
            break;
    }
    STORPOL_BUG("not a question about a path");
}

int TreeHost::guard(std::string_view path) const {
    if (path == null_device) return is_null_device;
    const bool is_foreign = is_below(path, "/proc") || is_below(path, "/sys") || is_below(path, "/dev");
    return is_image_ && is_foreign ? outside_image : 0;
}

Answer TreeHost::answer_file(const Query& query) {
    const auto file_guard = [this](std::string_view path) {
        if (is_never_read(path)) return EPERM;
        const int code = guard(path);
        return code == 0 && is_below(path, "/dev") ? is_device_path : code;
    };
    // O_NONBLOCK: a FIFO must not hold us.
    auto opened = walk_.open(query.args.at(0), O_RDONLY | O_NONBLOCK | O_NOCTTY, file_guard);
    if (opened.code == is_null_device) return Answer{"", std::string(null_device), {}};
    if (opened.code == is_device_path) return read_device_path(query);
    if (opened.code == ENXIO) opened.code = ENOENT;  // a socket, or a device node without its device
    if (opened.code != 0) return refusal_of(query, opened.code);
    return read_opened(query, opened);
}

// Opening a device node can act (a watchdog starts, a tape winds): it is looked at first, and only a plain file
// (/dev/shm) read.
Answer TreeHost::read_device_path(const Query& query) {
    const auto device_guard = [this](std::string_view path) { return is_never_read(path) ? EPERM : guard(path); };
    auto opened = walk_.open(query.args.at(0), O_PATH, device_guard);
    if (opened.code == is_null_device) return Answer{"", std::string(null_device), {}};
    if (opened.code != 0) return refusal_of(query, opened.code);

    struct stat found {};

    if (fstat(opened.fd.get(), &found) != 0) return refuse(query, errno);
    if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return Answer{"", opened.path, {}};
    auto reopened = walk_.open_exact(opened.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    return reopened.code != 0 ? refuse(query, reopened.code) : read_opened(query, reopened);
}

Answer TreeHost::answer_link(const Query& query) {
    const auto opened = walk_.open_last(query.args.at(0), [this](std::string_view path) { return guard(path); });
    if (opened.code == is_null_device) return refuse(query, EINVAL);
    if (opened.code != 0) return refusal_of(query, opened.code);
    Answer answer;
    const int code = read_link_at(opened.fd.get(), "", answer.text);
    if (code != 0) return refuse(query, code == ENOENT ? EINVAL : code);  // readlinkat of what is no link
    return answer;
}

Answer TreeHost::answer_list(const Query& query) {
    const auto opened =
        walk_.open(query.args.at(0), O_RDONLY | O_DIRECTORY, [this](std::string_view path) { return guard(path); });
    if (opened.code == is_null_device) return refuse(query, ENOTDIR);
    if (opened.code != 0) return refusal_of(query, opened.code);
    std::vector<std::string> names;
    const int code = read_names(opened.fd.get(), names);
    if (code != 0) return refuse(query, code);
    Answer answer{"", opened.path, {}};
    for (const auto& name : names) answer.text += name + "\n";
    return answer;
}

// STATX_MNT_ID_UNIQUE, Linux 6.8: unlike mountinfo's, this number is given to one mount only. Older headers lack the
// name; older kernels leave the bit clear.
constexpr unsigned unique_mount_id = 0x4000;

Answer TreeHost::answer_stat(const Query& query) {
    const auto opened = walk_.open(query.args.at(0), O_PATH, [this](std::string_view path) { return guard(path); });
    // The same everywhere and always, also in an image without a /dev.
    if (opened.code == is_null_device)
        return Answer{"type=char\nmode=0666\nuid=0\ngid=0\nsize=0\nnlink=1\nrdev=1:3\n", std::string(null_device), {}};
    if (opened.code != 0) return refusal_of(query, opened.code);

    struct statx found {};

    if (statx(opened.fd.get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS | unique_mount_id, &found) != 0)
        return refuse(query, errno);
    auto text = render_stat(found);
    if ((found.stx_mask & unique_mount_id) != 0) text += "mnt-id=" + std::to_string(found.stx_mnt_id) + "\n";
    return Answer{text, opened.path, {}};
}

Answer TreeHost::answer_program(const Query& query) {
    const auto opened = walk_.open(query.args.at(0), O_PATH, [this](std::string_view path) { return guard(path); });
    if (opened.code == is_null_device || opened.code == ENOENT || opened.code == ENOTDIR) return Answer{"no", "", {}};
    if (opened.code != 0) return refusal_of(query, opened.code);

    struct stat found {};

    if (fstat(opened.fd.get(), &found) != 0) return refuse(query, errno);
    const bool runs = S_ISREG(found.st_mode) && (found.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
    return Answer{runs ? "yes" : "no", "", {}};
}

Answer TreeHost::answer_image_member(const Query& query) {
    const auto& member = query.args.at(1);
    const auto image_guard = [this](std::string_view path) {
        const int code = is_never_read(path) ? EPERM : guard(path);
        return code == 0 && is_below(path, "/dev") ? EINVAL : code;
    };
    // Key files that lie in an image are no less secret there.
    const auto inside = normal_path("/" + member);
    if (!inside || is_never_read(*inside)) return refuse(query, inside ? EPERM : EINVAL);
    const auto opened = walk_.open(query.args.at(0), O_RDONLY | O_NONBLOCK | O_NOCTTY, image_guard);
    if (opened.code == is_null_device) return refuse(query, EINVAL);
    if (opened.code != 0) return refusal_of(query, opened.code == ENXIO ? ENOENT : opened.code);

    struct stat found {};

    if (fstat(opened.fd.get(), &found) != 0) return refuse(query, errno);
    if (!S_ISREG(found.st_mode)) return refuse(query, S_ISDIR(found.st_mode) ? EISDIR : EINVAL);
    const auto& files = image_files(query.args.at(0), opened.fd.get(), found);
    if (!files) return refuse(query, files.error().code);
    const auto at = files->find(cpio_name(member));
    if (at == files->end()) return refuse(query, ENOENT);
    if (at->second) return Answer{*at->second, "", {}};
    auto bytes = image_member_of(opened.fd.get(), member);
    if (!bytes) return refuse(query, bytes.error().code);
    return Answer{std::move(*bytes), "", {}};
}

const Result<CpioFiles>& TreeHost::image_files(const std::string& path, int fd, const struct stat& found) {
    std::string stamp;
    for (const auto number : {static_cast<std::int64_t>(found.st_dev), static_cast<std::int64_t>(found.st_ino),
                              static_cast<std::int64_t>(found.st_size), static_cast<std::int64_t>(found.st_ctim.tv_sec),
                              static_cast<std::int64_t>(found.st_ctim.tv_nsec)})
        stamp += std::to_string(number) + " ";
    const auto known = images_.find(path);
    if (known != images_.end() && known->second.stamp == stamp) return known->second.files;
    // What may be a key is read when it is asked for, and not kept.
    const auto is_kept = [](std::string_view name) {
        return name.find("key") == std::string_view::npos && !is_never_read("/" + std::string(name));
    };
    images_.insert_or_assign(path, Image{stamp, image_files_of(fd, is_kept)});
    lseek(fd, 0, SEEK_SET);
    return images_.at(path).files;
}

std::string read_clock() {
    const auto seconds = time(nullptr);
    tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    const auto size = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text.data(), size};
}

std::string read_user() {
    return std::to_string(geteuid());
}

}  // namespace storpol
