// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/file_performer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/file_identity.h"
#include "engine/host/io.h"
#include "engine/host/never_read.h"

namespace storpol {

// A file beside its directory, as it was when opened. Without a directory, or without a file, there is none.
struct FilePerformer::Target {
    std::string path;
    std::string name;
    Fd directory;
    Fd file;

    struct stat about {};

    std::string bytes;
    std::string digest{no_file_digest};
};

namespace {

constexpr std::size_t max_file = 16 << 20;

std::string directory_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

tl::unexpected<Error> fail_link(const std::string& path) {
    return fail(ErrorKind::unsupported,
                "a symbolic link stands there or on the way, so that the file is managed elsewhere (or masked)",
                printable(path), "change what the link leads to, or remove the link if it is a mistake");
}

// Reads `name` in the directory as it is now; ENOENT is an absent file, a link an Error.
Result<void> read_present(
    int directory, const std::string& name, const std::string& path, Fd& file, std::string& bytes) {
    // O_NONBLOCK: a FIFO in its place must not hold us.
    file = Fd(openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file && errno == ENOENT) return {};
    if (!file && errno == ELOOP) return fail_link(path);
    if (!file) return fail_errno(errno, "cannot open", printable(path));

    struct stat about {};

    if (fstat(file.get(), &about) != 0) return fail_errno(errno, "cannot look at it", printable(path));
    if (!S_ISREG(about.st_mode)) return fail(ErrorKind::unsupported, "it is no regular file", printable(path));
    bytes.clear();
    const int code = read_to_end(file.get(), bytes, max_file, static_cast<std::size_t>(about.st_size), false);
    if (code != 0) return fail_errno(code, "cannot read", printable(path));
    return {};
}

Result<void> check_digest(const std::string& found, const std::string& before, const std::string& path) {
    if (found == before) return {};
    const auto says = found == no_file_digest    ? "it is gone since it was read"
                      : before == no_file_digest ? "somebody has made it since it was looked for"
                                                 : "its content has changed since it was read";
    return fail(ErrorKind::changed, says, printable(path), "plan again");
}

// The last look, right before the name changes hands.
Result<void> check_still(int directory, const std::string& name, const std::string& before, const std::string& path) {
    Fd file;
    std::string bytes;
    const auto read = read_present(directory, name, path, file, bytes);
    if (!read) return read;
    return check_digest(file ? digest_of(bytes) : std::string(no_file_digest), before, path);
}

tl::unexpected<Error> fail_commit(int code, bool renamed, const std::string& path) {
    if (code == EEXIST)
        return fail(ErrorKind::changed, "somebody has made it since it was looked for", path, "plan again");
    if (!renamed) return fail_change(code, "cannot put the new content in place", path);
    return fail_change(code, "the new content is in place, but may not survive a power cut: cannot flush", path);
}

}  // namespace

// Configuration that may be written lies here; /usr and /run belong to packages and to the boot.
Result<void> check_place(const std::string& path) {
    const bool is_inside = is_below(path, "/etc") || is_below(path, "/boot");
    if (normal_path(path) == path && is_inside && path != "/etc" && path != "/boot") return {};
    return fail(ErrorKind::unsupported, "storpol changes files below /etc and /boot only", printable(path));
}

Result<FilePerformer::Target> FilePerformer::open_target(const std::string& path) {
    const auto placed = check_place(path);
    if (!placed) return tl::make_unexpected(placed.error());
    Target target;
    target.path = path;
    target.name = path.substr(path.rfind('/') + 1);
    auto opened = walk_.open_exact(directory_of(path), O_RDONLY | O_DIRECTORY);
    if (opened.code == ENOENT) return target;
    if (opened.code == ELOOP || opened.code == EXDEV) return fail_link(path);
    if (opened.code != 0) return fail_errno(opened.code, "cannot open its directory", printable(path));
    target.directory = std::move(opened.fd);
    const auto read = read_present(target.directory.get(), target.name, path, target.file, target.bytes);
    if (!read) return tl::make_unexpected(read.error());
    if (!target.file) return target;
    if (fstat(target.file.get(), &target.about) != 0) return fail_errno(errno, "cannot look at it", printable(path));
    target.digest = digest_of(target.bytes);
    return target;
}

// A directory of ours that is missing (/etc/sysctl.d on a small system), and those above it.
Result<Fd> FilePerformer::make_directory(const std::string& path) {
    auto opened = walk_.open_exact(path, O_RDONLY | O_DIRECTORY);
    if (opened.code == 0) return std::move(opened.fd);
    if (opened.code != ENOENT || path == "/etc" || path == "/boot")
        return fail_errno(opened.code, "cannot open the directory", printable(path));
    const auto parent = make_directory(directory_of(path));
    if (!parent) return tl::make_unexpected(parent.error());
    const auto name = path.substr(path.rfind('/') + 1);
    if (mkdirat(parent->get(), name.c_str(), 0755) != 0 && errno != EEXIST)
        return fail_change(errno, "cannot make the directory", path);
    Fd made(openat(parent->get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made) return fail_change(errno, "cannot open the directory just made", path);
    const auto owned = set_identity(made.get(), 0755, path);
    if (!owned) return tl::make_unexpected(owned.error());
    if (fsync(parent->get()) != 0) return fail_change(errno, "cannot flush the directory above", path);
    return made;
}

Result<std::string> FilePerformer::state(const std::string& path) {
    auto target = open_target(path);
    if (!target) return tl::make_unexpected(target.error());
    return target->digest;
}

Result<std::vector<Step>> FilePerformer::undo_of(const ReplaceFile& step) {
    const auto target = open_target(step.path);
    if (!target) return tl::make_unexpected(target.error());
    if (!target->file) return std::vector<Step>{DeleteFile{step.path, digest_of(step.bytes)}};
    return std::vector<Step>{
        ReplaceFile{step.path, digest_of(step.bytes), target->bytes, target->about.st_mode & 07777U}};
}

Result<std::vector<Step>> FilePerformer::undo_of(const DeleteFile& step) {
    const auto target = open_target(step.path);
    if (!target) return tl::make_unexpected(target.error());
    if (!target->file)
        return fail(ErrorKind::changed, "it is gone since it was read", printable(step.path), "plan again");
    if (geteuid() == 0 && (target->about.st_uid != 0 || target->about.st_gid != 0))
        return fail(ErrorKind::unsupported,
                    "it belongs to " + std::to_string(target->about.st_uid) + ":" +
                        std::to_string(target->about.st_gid) + ", which undoing the deletion could not give back",
                    printable(step.path), "delete it by hand, or give it to root first");
    return std::vector<Step>{
        ReplaceFile{step.path, std::string(no_file_digest), target->bytes, target->about.st_mode & 0777U}};
}

Result<std::string> FilePerformer::perform(const ReplaceFile& step) {
    auto target = open_target(step.path);
    if (!target) return tl::make_unexpected(target.error());
    auto fine = check_digest(target->digest, step.before, step.path);
    if (!fine) return tl::make_unexpected(fine.error());
    if (!target->directory) {
        auto made = make_directory(directory_of(step.path));
        if (!made) return tl::make_unexpected(made.error());
        target->directory = std::move(*made);
    }
    const int directory = target->directory.get();
    fine = check_changeable(directory, target->name, step.path);
    if (!fine) return tl::make_unexpected(fine.error());
    TempFile temp(directory, 0600);
    if (temp.error() != 0) return fail_change(temp.error(), "cannot make a new file beside it", step.path);
    // Owner and mode before content: nobody reads what the old file kept from them.
    fine = target->file ? copy_identity(target->file.get(), temp.fd(), step.path)
                        : set_identity(temp.fd(), step.mode, step.path);
    if (!fine) return tl::make_unexpected(fine.error());
    const int written = write_whole(temp.fd(), step.bytes);
    if (written != 0) return fail_change(written, "cannot write the new content", step.path);
    fine = check_still(directory, target->name, step.before, step.path);
    if (!fine) return tl::make_unexpected(fine.error());
    const int code = temp.commit(target->name, !target->file);
    if (code != 0) return fail_commit(code, temp.renamed(), step.path);
    return state(step.path);
}

Result<std::string> FilePerformer::perform(const DeleteFile& step) {
    const auto target = open_target(step.path);
    if (!target) return tl::make_unexpected(target.error());
    const auto same = check_digest(target->digest, step.before, step.path);
    if (!same) return tl::make_unexpected(same.error());
    if (!target->file) return target->digest;
    const int directory = target->directory.get();
    const auto changeable = check_changeable(directory, target->name, step.path);
    if (!changeable) return tl::make_unexpected(changeable.error());
    const auto still = check_still(directory, target->name, step.before, step.path);
    if (!still) return tl::make_unexpected(still.error());
    if (unlinkat(directory, target->name.c_str(), 0) != 0) return fail_change(errno, "cannot delete", step.path);
    if (fsync(directory) != 0)
        return fail_change(errno, "it is deleted, but may be back after a power cut: cannot flush", step.path);
    return state(step.path);
}

void FilePerformer::clean_up(const std::string& path) {
    if (!check_place(path)) return;
    auto opened = walk_.open_exact(directory_of(path), O_RDONLY | O_DIRECTORY);
    if (opened.code != 0) return;
    remove_temp_files(opened.fd.get());
}

}  // namespace storpol
