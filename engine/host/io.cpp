// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace storpol {
namespace {

constexpr std::string_view temp_letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::size_t temp_random = 6;

std::string make_temp_name() {
    std::array<unsigned char, temp_random> bytes{};
    // Guessing the name gains nothing (O_EXCL|O_NOFOLLOW), so that a refusal of getrandom only means more collisions.
    if (getrandom(bytes.data(), bytes.size(), GRND_NONBLOCK) < 0) bytes.fill(static_cast<unsigned char>(getpid()));
    std::string name(temp_prefix);
    for (const auto byte : bytes) name += temp_letters[byte % temp_letters.size()];
    return name;
}

int rename_in(int directory, const std::string& from, const std::string& to, bool is_new) {
    const unsigned flags = is_new ? RENAME_NOREPLACE : 0U;
    if (syscall(SYS_renameat2, directory, from.c_str(), directory, to.c_str(), flags) == 0) return 0;
    // Filesystems without RENAME_NOREPLACE answer EINVAL; the caller has just looked that there is none.
    if (errno != EINVAL && errno != ENOSYS) return errno;
    return renameat(directory, from.c_str(), directory, to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

Fd open_at2(int at, const std::string& path, int flags, std::uint64_t resolve) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.resolve = resolve;
    int fd = -1;
    int tries = 0;
    // RESOLVE_IN_ROOT answers EAGAIN when something was renamed meanwhile (man 2 openat2).
    do fd = static_cast<int>(syscall(SYS_openat2, at, path.c_str(), &how, sizeof how));
    while (fd < 0 && (errno == EINTR || (errno == EAGAIN && (flags & O_NONBLOCK) == 0)) && ++tries < 100);
    return Fd(fd);
}

int read_to_end(int fd, std::string& into, std::size_t bound, std::size_t expected, bool short_read_ends) {
    constexpr std::size_t page = 4096;  // no attribute is larger
    constexpr std::size_t chunk = 65536;
    if (expected > bound) return EFBIG;
    const auto start = into.size();
    // One more than expected: a file that grew shows it.
    auto step = expected > 0 ? expected + 1 : short_read_ends ? page : chunk;
    for (;;) {
        const auto held = into.size();
        into.resize(held + step);
        const auto got = read(fd, into.data() + held, step);
        const int code = errno;
        into.resize(held + (got > 0 ? static_cast<std::size_t>(got) : 0));
        if (got < 0 && code == EINTR) continue;
        if (got < 0) return code;
        if (into.size() - start > bound) return EFBIG;
        if (got == 0) return 0;
        if (short_read_ends && static_cast<std::size_t>(got) < step) return 0;
        if (expected > 0 && into.size() - start == expected) return 0;
        step = chunk;
    }
}

int write_whole(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto done = write(fd, bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return errno;
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
    return 0;
}

int read_link_at(int fd, const std::string& name, std::string& target) {
    std::array<char, 4096> buffer{};  // PATH_MAX: no filesystem stores a longer one
    const auto size = readlinkat(fd, name.c_str(), buffer.data(), buffer.size());
    if (size < 0) return errno;
    target.assign(buffer.data(), static_cast<std::size_t>(size));
    return 0;
}

TempFile::TempFile(int directory, unsigned mode) : directory_(directory) {
    for (int tries = 0; tries < 100 && !fd_; ++tries) {
        name_ = make_temp_name();
        fd_.reset(openat(directory, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
        error_ = fd_ ? 0 : errno;
        if (error_ != 0 && error_ != EEXIST) return;
    }
}

TempFile::~TempFile() {
    if (fd_ && !renamed_) unlinkat(directory_, name_.c_str(), 0);
}

int TempFile::commit(const std::string& name, bool is_new) {
    if (fsync(fd_.get()) != 0) return errno;
    const int refused = rename_in(directory_, name_, name, is_new);
    if (refused != 0) return refused;
    renamed_ = true;
    return fsync(directory_) == 0 ? 0 : errno;
}

bool is_temp_name(std::string_view name) {
    return name.starts_with(temp_prefix) && name.size() == temp_prefix.size() + temp_random &&
           name.find_first_not_of(temp_letters, temp_prefix.size()) == std::string_view::npos;
}

void remove_temp_files(int directory) {
    DIR* listing = fdopendir(dup(directory));
    if (listing == nullptr) return;
    const Handle<DIR, closedir> closer(listing);
    while (const auto* entry = readdir(listing)) {
        struct stat about {};

        const bool is_ours = is_temp_name(entry->d_name) &&
                             fstatat(directory, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
                             S_ISREG(about.st_mode);
        if (is_ours) unlinkat(directory, entry->d_name, 0);
    }
}

}  // namespace storpol
