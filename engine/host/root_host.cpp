// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>

#include <cerrno>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/host/io.h"
#include "engine/host/packages.h"
#include "engine/host/root_directory.h"
#include "engine/host/tree_host.h"

namespace storpol {
namespace {

class RootHost final : public Host {
  public:
    explicit RootHost(PathWalk walk) : tree_(std::move(walk), true) {}

  private:
    Answer do_ask(const Query& query) override {
        switch (query.kind) {
            case QueryKind::file:
            case QueryKind::link:
            case QueryKind::list:
            case QueryKind::stat:
            case QueryKind::program_exists:
            case QueryKind::image_member:
                return tree_.answer(query);
            case QueryKind::now:
                return Answer{read_clock(), "", {}};
            case QueryKind::uid:
                return Answer{read_user(), "", {}};
            case QueryKind::package:
                return answer_package(query, tree_);
            case QueryKind::unit:
            case QueryKind::journal:
            case QueryKind::ext4_super:
            case QueryKind::dm_table:
            case QueryKind::dm_status:
            case QueryKind::luks:
            case QueryKind::lvs:
                return not_captured(query);  // no manager runs there, and its devices are not this machine's
        }
        STORPOL_BUG("a query kind out of range");
    }

    TreeHost tree_;
};

}  // namespace

Result<PathWalk> open_root_directory(std::string_view directory) {
    if (directory.find('\0') != std::string_view::npos)
        return fail(ErrorKind::invalid, "a NUL byte in the name", printable(directory));
    Fd fd(open(std::string(directory).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return fail_errno(errno, "cannot open the root directory", printable(directory));
    // Its own path is needed only to tell which network mounts lie below it.
    std::string path;
    const int code = read_link_at(AT_FDCWD, "/proc/self/fd/" + std::to_string(fd.get()), path);
    if (code != 0) return fail_errno(code, "cannot tell where the root directory lies", printable(directory));
    return PathWalk(std::move(fd), std::move(path));
}

Result<std::unique_ptr<Host>> make_root_host(std::string_view directory) {
    auto walk = open_root_directory(directory);
    if (!walk) return tl::make_unexpected(walk.error());
    return std::make_unique<RootHost>(std::move(*walk));
}

}  // namespace storpol
