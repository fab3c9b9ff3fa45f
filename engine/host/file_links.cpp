// SPDX-License-Identifier: GPL-3.0-or-later
// Symbolic links of configuration: what `systemctl enable` and `mask` make and remove.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/file_identity.h"
#include "engine/host/file_performer.h"
#include "engine/host/io.h"

namespace storpol {
namespace {

// Where it leads, or no_file_digest; an Error where something else than a link stands there.
Result<std::string> read_link_in(int directory, const std::string& name, const std::string& path) {
    std::string target;
    const int code = read_link_at(directory, name, target);
    if (code == 0) return target;
    if (code == ENOENT) return std::string(no_file_digest);
    if (code == EINVAL)
        return fail(ErrorKind::unsupported, "something else than a symbolic link stands there", printable(path),
                    "look what it is, and move it away if it is a mistake");
    return fail_errno(code, "cannot read the link", printable(path));
}

std::string directory_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

}  // namespace

Result<std::string> FilePerformer::link_state(const std::string& path) {
    const auto placed = check_place(path);
    if (!placed) return tl::make_unexpected(placed.error());
    const auto directory = walk_.open_exact(directory_of(path), O_PATH | O_DIRECTORY);
    if (directory.code == ENOENT) return std::string(no_file_digest);
    if (directory.code != 0) return fail_errno(directory.code, "cannot open its directory", printable(path));
    return read_link_in(directory.fd.get(), path.substr(path.rfind('/') + 1), path);
}

Result<std::vector<Step>> FilePerformer::undo_of(const SetLink& step) {
    const auto now = link_state(step.path);
    if (!now) return tl::make_unexpected(now.error());
    const auto after = step.target.empty() ? std::string(no_file_digest) : step.target;
    return std::vector<Step>{SetLink{step.path, after, *now == no_file_digest ? std::string() : *now}};
}

Result<std::string> FilePerformer::perform(const SetLink& step) {
    const auto placed = check_place(step.path);
    if (!placed) return tl::make_unexpected(placed.error());
    const auto directory = make_directory(directory_of(step.path));
    if (!directory) return tl::make_unexpected(directory.error());
    const auto name = step.path.substr(step.path.rfind('/') + 1);
    const auto now = read_link_in(directory->get(), name, step.path);
    if (!now) return tl::make_unexpected(now.error());
    if (*now != step.before)
        return fail(ErrorKind::changed, "it has changed since it was read", printable(step.path), "plan again");
    int code = 0;
    if (!step.target.empty()) {
        const auto temp = std::string(temp_prefix) + name;
        unlinkat(directory->get(), temp.c_str(), 0);  // of a run that was killed
        if (symlinkat(step.target.c_str(), directory->get(), temp.c_str()) != 0)
            return fail_change(errno, "cannot make the link", step.path);
        if (renameat(directory->get(), temp.c_str(), directory->get(), name.c_str()) != 0) code = errno;
        if (code != 0) unlinkat(directory->get(), temp.c_str(), 0);
    } else if (*now != no_file_digest && unlinkat(directory->get(), name.c_str(), 0) != 0) {
        code = errno;
    }
    if (code != 0) return fail_change(code, "cannot put the link in place", step.path);
    if (fsync(directory->get()) != 0) return fail_change(errno, "cannot flush the directory", step.path);
    return link_state(step.path);
}

}  // namespace storpol
