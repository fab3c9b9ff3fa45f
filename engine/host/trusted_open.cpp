// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trusted_open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "engine/base/text.h"
#include "engine/host/io.h"
#include "engine/host/never_read.h"

namespace storpol {
namespace {

constexpr int max_links = 40;

std::string octal(mode_t mode) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777U));
    return text.data();
}

tl::unexpected<Error> fail_trust(std::string says, const std::string& path, const struct stat& about, std::string fix) {
    return fail(ErrorKind::denied,
                std::move(says) + " (owner " + std::to_string(about.st_uid) + ", group " +
                    std::to_string(about.st_gid) + ", mode " + octal(about.st_mode) +
                    "), so apply as root does not take the policy",
                printable(path), std::move(fix));
}

class TrustedWalk {
  public:
    TrustedWalk(std::optional<uid_t> user, const std::string& user_below) : user_(user), user_below_(user_below) {}

    Result<TrustedFile> open(const std::string& path) {
        push(path);
        auto started = start_at_root();
        if (!started) return tl::make_unexpected(started.error());
        while (!pending_.empty()) {
            const auto part = pending_.back();
            pending_.pop_back();
            if (part == "..") {
                auto up = go_up();
                if (!up) return tl::make_unexpected(up.error());
                continue;
            }
            auto opened = step(part);
            if (!opened) return tl::make_unexpected(opened.error());
            if (*opened) return TrustedFile{std::move(*opened), join_names() + "/" + part};
        }
        return fail(ErrorKind::invalid, "it is a directory", printable(path));
    }

  private:
    void push(std::string_view path) {
        const auto parts = split(path, '/');
        for (auto part = parts.rbegin(); part != parts.rend(); ++part)
            if (!part->empty() && *part != ".") pending_.emplace_back(*part);
    }

    std::string join_names() const {
        std::string path;
        for (const auto& name : names_) path += "/" + name;
        return path;
    }

    Result<void> start_at_root() {
        names_.clear();
        directories_.clear();
        directories_.emplace_back(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));

        struct stat about {};

        if (fstat(directories_.back().get(), &about) != 0) return fail_errno(errno, "cannot look at it", "/");
        return check(about, "/");
    }

    Result<void> go_up() {
        if (names_.empty()) return {};
        names_.pop_back();
        directories_.pop_back();
        return {};
    }

    // One component further: the open file when it is the last, an empty Fd else.
    Result<Fd> step(const std::string& part) {
        const int above = directories_.back().get();
        const auto path = join_names() + "/" + part;
        Fd fd(openat(above, part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (!fd) return fail_errno(errno, "cannot open", printable(path));

        struct stat about {};

        if (fstat(fd.get(), &about) != 0) return fail_errno(errno, "cannot look at it", printable(path));
        auto trusted = check(about, path);
        if (!trusted) return tl::make_unexpected(trusted.error());
        if (S_ISLNK(about.st_mode)) return follow(fd.get(), path);
        if (S_ISDIR(about.st_mode)) {
            names_.push_back(part);
            directories_.push_back(std::move(fd));
            return Fd();
        }
        if (!pending_.empty()) return fail_errno(ENOTDIR, "cannot open", printable(path));
        return open_file(above, part, path);
    }

    Result<Fd> open_file(int above, const std::string& part, const std::string& path) {
        Fd fd(openat(above, part.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        if (!fd) return fail_errno(errno, "cannot open", printable(path));

        struct stat about {};

        if (fstat(fd.get(), &about) != 0) return fail_errno(errno, "cannot look at it", printable(path));
        if (!S_ISREG(about.st_mode))
            return fail_trust("it is no regular file", path, about, "write the policy to a file");
        auto trusted = check(about, path);
        if (!trusted) return tl::make_unexpected(trusted.error());
        return fd;
    }

    Result<Fd> follow(int link, const std::string& path) {
        std::string target;
        const int code = ++links_ > max_links ? ELOOP : read_link_at(link, "", target);
        if (code != 0) return fail_errno(code, "cannot follow the link", printable(path));
        if (target.starts_with('/')) {
            auto started = start_at_root();
            if (!started) return tl::make_unexpected(started.error());
        }
        push(target);
        return Fd();
    }

    bool is_user_place(const std::string& path, bool is_directory) const {
        return user_below_.empty() || is_below(path, user_below_) || (is_directory && is_below(user_below_, path));
    }

    Result<void> check(const struct stat& about, const std::string& path) const {
        const bool is_directory = S_ISDIR(about.st_mode);
        const bool is_user = user_ && about.st_uid == *user_ && is_user_place(path, is_directory);
        if (about.st_uid != 0 && !is_user)
            return fail_trust(user_ ? "it belongs neither to root nor, as its place asks, to the sudo caller"
                                    : "it does not belong to root",
                              path, about, "chown root " + printable(path) + ", after reading it");
        if (S_ISLNK(about.st_mode)) return {};  // a link's own mode means nothing
        const bool is_sticky = is_directory && (about.st_mode & S_ISVTX) != 0;
        if ((about.st_mode & S_IWOTH) != 0 && !is_sticky)
            return fail_trust("everybody can write it", path, about, "chmod o-w " + printable(path));
        if ((about.st_mode & S_IWGRP) != 0 && about.st_gid != 0 && about.st_gid != about.st_uid)
            return fail_trust("a group can write it", path, about, "chmod g-w " + printable(path));
        return {};
    }

    std::optional<uid_t> user_;
    const std::string& user_below_;
    std::vector<std::string> pending_;  // the next one last
    std::vector<std::string> names_;    // of the directories below "/"
    std::vector<Fd> directories_;       // "/" and those
    int links_ = 0;
};

}  // namespace

Result<TrustedFile> open_trusted(const std::string& path, std::optional<uid_t> user, const std::string& user_below) {
    if (path.find('\0') != std::string::npos)
        return fail(ErrorKind::invalid, "a NUL byte in the name", printable(path));
    if (path.starts_with('/')) return TrustedWalk(user, user_below).open(path);
    std::array<char, PATH_MAX> directory{};
    if (getcwd(directory.data(), directory.size()) == nullptr)
        return fail_errno(errno, "cannot tell the working directory", printable(path));
    return TrustedWalk(user, user_below).open(std::string(directory.data()) + "/" + path);
}

std::optional<uid_t> sudo_caller() {
    if (geteuid() != 0) return std::nullopt;
    const char* text = std::getenv("SUDO_UID");
    const auto number = text == nullptr ? std::nullopt : parse_int(text);
    if (!number || *number <= 0 || *number >= UINT32_MAX) return std::nullopt;
    return static_cast<uid_t>(*number);
}

}  // namespace storpol
