// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/user_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "engine/base/text.h"
#include "engine/host/io.h"
#include "engine/host/trusted_open.h"

namespace storpol {
namespace {

constexpr std::size_t max_user_file = 256 << 20;  // captures of large hosts

std::string directory_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

Result<std::string> read_stream(int fd, std::string_view name, std::size_t expected) {
    std::string text;
    const int code = read_to_end(fd, text, max_user_file, expected, false);
    if (code != 0) return fail_errno(code, "cannot read", printable(name));
    return text;
}

// Where the bytes go: a plain file gets a new one in its place, and what is none (a terminal, a pipe) is written to.
Result<void> write_in_place(const std::string& path, std::string_view bytes) {
    const Fd fd(open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (!fd) return fail_errno(errno, "cannot open", printable(path));
    const int code = write_whole(fd.get(), bytes);
    if (code != 0) return fail_errno(code, "cannot write", printable(path));
    return {};
}

Result<void> replace_file(const std::string& path, std::string_view bytes, unsigned mode) {
    const auto name = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
    if (name.empty()) return fail(ErrorKind::invalid, "names a directory", printable(path));
    const Fd directory(open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return fail_errno(errno, "cannot open its directory", printable(path));
    TempFile temp(directory.get(), mode);
    int code = temp.error();
    if (code == 0) code = write_whole(temp.fd(), bytes);
    if (code == 0) code = temp.commit(name, false);
    if (code != 0) return fail_errno(code, "cannot write", printable(path));
    return {};
}

}  // namespace

Result<std::string> read_user_file(std::string_view path, Trust trust) {
    const std::string name(path);
    const bool is_controlled = trust == Trust::controlled && geteuid() == 0;
    if (name == "-" && is_controlled)
        return fail(ErrorKind::denied, "apply as root does not take standard input, whose origin it cannot check", "-",
                    "write it to a file");
    if (name == "-") return read_stream(STDIN_FILENO, "standard input", 0);
    if (name.find('\0') != std::string::npos)
        return fail(ErrorKind::invalid, "a NUL byte in the name", printable(name));
    Fd fd;
    if (is_controlled) {
        auto opened = open_trusted(name, sudo_caller(), "");
        if (!opened) return tl::make_unexpected(opened.error());
        fd = std::move(opened->fd);
    } else {
        fd = Fd(open(name.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
        if (!fd) return fail_errno(errno, "cannot open", printable(name));
    }

    struct stat about {};

    if (fstat(fd.get(), &about) != 0) return fail_errno(errno, "cannot look at it", printable(name));
    return read_stream(fd.get(), name, S_ISREG(about.st_mode) ? static_cast<std::size_t>(about.st_size) : 0);
}

Result<void> write_user_file(std::string_view path, std::string_view bytes, unsigned mode) {
    const std::string name(path);
    if (name == "-") {
        const int code = write_whole(STDOUT_FILENO, bytes);
        if (code != 0) return fail_errno(code, "cannot write", "standard output");
        return {};
    }
    if (name.find('\0') != std::string::npos)
        return fail(ErrorKind::invalid, "a NUL byte in the name", printable(name));

    struct stat about {};

    if (::stat(name.c_str(), &about) != 0) return replace_file(name, bytes, mode);
    if (!S_ISREG(about.st_mode)) return write_in_place(name, bytes);
    // A link of the user's stays one: its target is replaced.
    const Handle<char, std::free> real(realpath(name.c_str(), nullptr));
    return replace_file(real ? real.get() : name, bytes, mode);
}

bool user_file_exists(std::string_view path) {
    return access(std::string(path).c_str(), F_OK) == 0;
}

}  // namespace storpol
