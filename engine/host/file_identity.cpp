// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "engine/base/text.h"

namespace storpol {
namespace {

constexpr const char* access_acl = "system.posix_acl_access";

// security.ima and security.evm vouch for the old content; trusted.* belongs to the filesystem below (overlayfs).
bool is_kept(std::string_view name) {
    if (name == "security.ima" || name == "security.evm") return false;
    return name.starts_with("security.") || name.starts_with("user.") || name == access_acl;
}

Result<std::string> read_attribute_names(int fd, const std::string& path) {
    std::string names(65536, '\0');  // XATTR_LIST_MAX
    const auto size = flistxattr(fd, names.data(), names.size());
    if (size < 0 && errno == ENOTSUP) return std::string();
    if (size < 0) return fail_change(errno, "cannot list the extended attributes", path);
    names.resize(static_cast<std::size_t>(size));
    return names;
}

Result<void> copy_attribute(int from, int to, const std::string& name, const std::string& path) {
    std::string value(65536, '\0');  // XATTR_SIZE_MAX
    const auto size = fgetxattr(from, name.c_str(), value.data(), value.size());
    if (size < 0 && (errno == ENODATA || errno == ENOTSUP)) return {};
    if (size < 0) return fail_change(errno, "cannot read the attribute " + printable(name), path);
    if (fsetxattr(to, name.c_str(), value.data(), static_cast<std::size_t>(size), 0) == 0 || errno == ENOTSUP)
        return {};
    return fail_change(errno, "cannot keep the attribute " + printable(name), path);
}

Result<void> set_owner_and_mode(int fd, uid_t owner, gid_t group, unsigned mode, const std::string& path) {
    if (fchown(fd, owner, group) != 0) return fail_change(errno, "cannot set the owner", path);
    // A default ACL of the directory has given the new file an ACL that neither the old file nor the mode asks for.
    if (fremovexattr(fd, access_acl) != 0 && errno != ENODATA && errno != ENOTSUP)
        return fail_change(errno, "cannot take away the inherited ACL", path);
    if (fchmod(fd, mode & 07777U) != 0) return fail_change(errno, "cannot set the mode", path);
    return {};
}

std::string_view fix_for(int code) {
    switch (code) {
        case EROFS:
            return "mount the filesystem writable, or change the image it comes from";
        case ENOSPC:
        case EDQUOT:
            return "free some space there and apply again";
        case EBUSY:
            return "the file is a mount point (containers bind-mount single files): change it where it comes from";
        case EPERM:
            return "see lsattr and the security policy of this host; storpol clears no such mark";
        case EACCES:
            return "apply as root";
        default:
            return "";
    }
}

Result<void> check_marks(const struct statx& found, std::string_view what, const std::string& path) {
    const auto* mark = (found.stx_attributes & STATX_ATTR_IMMUTABLE) != 0 ? "immutable (chattr +i)"
                       : (found.stx_attributes & STATX_ATTR_APPEND) != 0  ? "append-only (chattr +a)"
                                                                          : nullptr;
    if (mark == nullptr) return {};
    auto error =
        fail(ErrorKind::denied, std::string(what) + " is marked " + mark + ", which only an administrator takes back",
             path, "if the mark is a mistake, remove it with chattr");
    error.value().code = EPERM;
    return error;
}

}  // namespace

tl::unexpected<Error> fail_change(int code, std::string_view doing, const std::string& path) {
    auto error = fail_errno(code, doing, printable(path));
    error.value().fix = fix_for(code);
    return error;
}

Result<void> copy_identity(int from, int to, const std::string& path) {
    struct stat old {};

    if (fstat(from, &old) != 0) return fail_change(errno, "cannot look at it", path);
    const auto done = set_owner_and_mode(to, old.st_uid, old.st_gid, old.st_mode, path);
    if (!done) return done;
    const auto names = read_attribute_names(from, path);
    if (!names) return tl::make_unexpected(names.error());
    for (const auto name : split(*names, '\0')) {
        if (!is_kept(name)) continue;
        const auto copied = copy_attribute(from, to, std::string(name), path);
        if (!copied) return copied;
    }
    return {};
}

Result<void> set_identity(int to, unsigned mode, const std::string& path) {
    // A user who is not root can only make files of their own.
    const bool is_root = geteuid() == 0;
    return set_owner_and_mode(to, is_root ? 0 : geteuid(), is_root ? 0 : getegid(), mode & 0777U, path);
}

Result<void> check_changeable(int directory, const std::string& name, const std::string& path) {
    struct statvfs filesystem {};

    if (fstatvfs(directory, &filesystem) == 0 && (filesystem.f_flag & ST_RDONLY) != 0)
        return fail_change(EROFS, "cannot change it", path);

    struct statx found {};

    if (statx(directory, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &found) != 0)
        return fail_change(errno, "cannot look at its directory", path);
    auto unmarked = check_marks(found, "its directory", path);
    if (!unmarked) return unmarked;
    if (statx(directory, name.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &found) != 0) {
        if (errno == ENOENT) return {};
        return fail_change(errno, "cannot look at it", path);
    }
    unmarked = check_marks(found, "it", path);
    if (!unmarked) return unmarked;
    if ((found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) return fail_change(EBUSY, "cannot change it", path);
    if (found.stx_nlink > 1)
        return fail(ErrorKind::unsupported,
                    "it has " + std::to_string(found.stx_nlink) +
                        " hard links; replacing it would leave the other names with the old content",
                    printable(path), "remove the other names (find -samefile), or edit it by hand");
    return {};
}

}  // namespace storpol
