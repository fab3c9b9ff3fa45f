// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "engine/base/text.h"
#include "engine/host/io.h"
#include "engine/host/trusted_open.h"
#include "engine/host/user_files.h"

namespace storpol {
namespace {

constexpr std::size_t max_policy = 1 << 20;
constexpr std::string_view builtin_prefix = "builtin:";
constexpr std::string_view host_policy = "/etc/storpol/policy.toml";  // root's alone, whoever calls sudo

Result<PolicySource::Opened> open_builtin(std::string_view name) {
    const auto text = builtin_policy(name.substr(builtin_prefix.size()));
    if (text) return PolicySource::Opened{std::string(name), std::string(name), std::string(*text)};
    auto names = builtin_names();
    return fail(ErrorKind::no_such_file, "there is no such ready policy", printable(name),
                "ready policies: " + join(names, ", "));
}

std::string relative_to(std::string_view name, std::string_view includer) {
    const auto slash = includer.rfind('/');
    if (name.starts_with('/') || slash == std::string_view::npos) return std::string(name);
    return std::string(includer.substr(0, slash + 1)) + std::string(name);
}

std::string directory_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

Result<TrustedFile> open_plain(const std::string& path, bool is_include) {
    // O_NONBLOCK for includes alone: a FIFO there must not hold us, one on the command line ("<(...)") is waited for.
    const int wait = is_include ? O_NONBLOCK : 0;
    Fd fd(open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC | wait));
    if (!fd) return fail_errno(errno, "cannot open", printable(path));
    return TrustedFile{std::move(fd), path};
}

}  // namespace

Result<PolicySource::Opened> DiskPolicySource::open(std::string_view name, std::string_view includer) {
    if (name.starts_with(builtin_prefix)) return open_builtin(name);
    const bool is_include = !includer.empty();
    if (includer.starts_with(builtin_prefix))
        return fail(ErrorKind::invalid, "a ready policy includes ready policies only", printable(name));
    if (is_include && !name.ends_with(".toml"))
        return fail(ErrorKind::invalid, "an include must end in .toml", printable(name));
    if (name.find('\0') != std::string_view::npos)
        return fail(ErrorKind::invalid, "a NUL byte in the name", printable(name));
    const auto path = relative_to(name, includer);
    const auto home = homes_.find(includer);
    return open_file(path, path, home == homes_.end() ? "" : home->second, is_include);
}

Result<PolicySource::Opened> DiskPolicySource::open_file(const std::string& path,
                                                         const std::string& name,
                                                         const std::string& home,
                                                         bool is_include) {
    const bool is_controlled = trust_ == Trust::controlled && geteuid() == 0;
    if (path == "-") {
        auto bytes = read_user_file(path, trust_);
        if (!bytes) return tl::make_unexpected(bytes.error());
        return Opened{name, "-", std::move(*bytes)};
    }
    const bool takes_users = is_include ? !home.empty() : path != host_policy;
    auto opened = is_controlled ? open_trusted(path, takes_users ? sudo_caller() : std::nullopt, home)
                                : open_plain(path, is_include);
    if (!opened) return tl::make_unexpected(opened.error());

    struct stat about {};

    if (fstat(opened->fd.get(), &about) != 0) return fail_errno(errno, "cannot look at it", printable(path));
    if (is_include && !S_ISREG(about.st_mode))
        return fail(ErrorKind::invalid, "it is no regular file", printable(path));
    Opened file{name, std::to_string(about.st_dev) + ":" + std::to_string(about.st_ino), ""};
    const auto expected = S_ISREG(about.st_mode) ? static_cast<std::size_t>(about.st_size) : 0;
    const int code = read_to_end(opened->fd.get(), file.bytes, max_policy, expected, false);
    if (code == EFBIG) return fail(ErrorKind::invalid, "larger than the 1 MiB of a policy", printable(path));
    if (code != 0) return fail_errno(code, "cannot read", printable(path));
    if (takes_users && is_controlled) homes_.insert_or_assign(name, is_include ? home : directory_of(opened->path));
    return file;
}

}  // namespace storpol
