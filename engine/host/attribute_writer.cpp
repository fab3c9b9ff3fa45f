// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/attribute_writer.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "engine/base/handle.h"
#include "engine/base/text.h"
#include "engine/host/io.h"
#include "engine/host/never_read.h"
#include "engine/host/path_walk.h"
#include "engine/host/swaps.h"

namespace storpol {
namespace {

constexpr std::size_t max_value = 4096;  // a page: what sysfs and /proc/sys take at once

bool is_attribute_path(const std::string& path) {
    const bool is_plain = normal_path(path) == path && path.find("/../") == std::string::npos && !path.ends_with("/..");
    const bool is_inside =
        (is_below(path, "/proc/sys") && path != "/proc/sys") || (is_below(path, "/sys") && path != "/sys");
    return is_plain && is_inside && !is_never_read(path);
}

// Links on the way (/sys/block/sda) are the kernel's own; the filesystem it ends on says whether they really were.
Result<Fd> open_attribute(const std::string& path, int flags) {
    if (!is_attribute_path(path))
        return fail(ErrorKind::unsupported, "kernel values lie below /proc/sys and /sys only", printable(path));
    Fd fd(open(path.c_str(), flags | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
    if (!fd) {
        const int code = errno;
        auto error = fail_errno(code, "cannot open the kernel value", printable(path));
        if (code == EROFS) error.value().fix = "in a container only its host can set this";
        if (code == EACCES) error.value().fix = "apply as root";
        return error;
    }

    struct statfs filesystem {};

    if (fstatfs(fd.get(), &filesystem) != 0) return fail_errno(errno, "cannot look at it", printable(path));
    if (filesystem.f_type != SYSFS_MAGIC && filesystem.f_type != PROC_SUPER_MAGIC)
        return fail(ErrorKind::unsupported, "it is no value of the kernel: neither sysfs nor procfs holds it",
                    printable(path));
    return fd;
}

tl::unexpected<Error> fail_write(int code, const WriteAttribute& step) {
    const auto refused = "the kernel refused \"" + printable(step.value) + "\"";
    auto error = fail_errno(code, refused, printable(step.path));
    switch (code) {
        case EINVAL:
        case ERANGE:
            error.value().fix = "give a value that this kernel takes; the old one stays";
            break;
        case EBUSY:
            error.value().fix = "something uses it now; apply again later";
            break;
        case EROFS:
            error.value().fix = "in a container only its host can set this";
            break;
        case EPERM:
        case EACCES:
            error.value().fix = "apply as root on the host itself, not in a container";
            break;
        default:
            break;
    }
    return error;
}

// What is written to zram's mem_limit shows in the fourth column of mm_stat alone (kernel
// Documentation/admin-guide/blockdev/zram.rst).
Result<std::string> read_zram_limit(const std::string& path) {
    const auto shown = path.substr(0, path.rfind('/')) + "/mm_stat";
    const auto text = read_attribute(shown);
    if (!text) return text;
    const auto memory = parse_zram_memory(*text);
    if (!memory) return fail(ErrorKind::invalid, "the kernel's text is not understood", printable(shown));
    return std::to_string(memory->limit);
}

}  // namespace

Result<std::string> read_attribute(const std::string& path) {
    if (path.starts_with("/sys/block/zram") && path.ends_with("/mem_limit")) return read_zram_limit(path);
    const auto fd = open_attribute(path, O_RDONLY);
    if (!fd) return tl::make_unexpected(fd.error());
    std::string text;
    const int code = read_to_end(fd->get(), text, std::size_t{1} << 20, 0, true);
    if (code != 0) return fail_errno(code, "cannot read the kernel value", printable(path));
    return std::string(trim(text));
}

Result<std::string> write_attribute(const WriteAttribute& step) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (step.value.empty() || step.value.size() > max_value || std::ranges::any_of(step.value, is_control))
        return fail(ErrorKind::invalid, "not a value to write: \"" + printable(step.value.substr(0, 80)) + "\"",
                    printable(step.path), "a value is one line of printable text");
    {
        const auto fd = open_attribute(step.path, O_WRONLY);
        if (!fd) return tl::make_unexpected(fd.error());
        // One write(2): the kernel takes each as a value of its own.
        const auto size = write(fd->get(), step.value.data(), step.value.size());
        if (size < 0) return fail_write(errno, step);
        if (static_cast<std::size_t>(size) != step.value.size())
            return fail(ErrorKind::failed, "the kernel took only a part of \"" + printable(step.value) + "\"",
                        printable(step.path));
    }
    return read_attribute(step.path);
}

}  // namespace storpol
