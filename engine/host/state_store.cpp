// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/state_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "engine/base/text.h"
#include "engine/host/io.h"
#include "engine/host/path_walk.h"
#include "engine/host/root_directory.h"

namespace storpol {
namespace {

constexpr std::size_t max_file = 256 << 20;  // a journal of many shared files with their old contents
constexpr const char* state_directory = "/var/lib/storpol";

unsigned directory_mode(std::string_view name) {
    return name == "journal" ? 0700 : 0755;
}

// Journals hold old contents of files that not everybody may read.
unsigned file_mode(std::string_view name) {
    return name.starts_with("journal/") ? 0600 : 0644;
}

bool is_name(std::string_view name) {
    const auto is_plain = [](std::string_view part) {
        return !part.empty() && !part.starts_with('.') && part.find('\0') == std::string_view::npos;
    };
    return std::ranges::all_of(split(name, '/'), is_plain);
}

// A directory of storpol's own, opened without following a link in its place; made when `make`.
Result<Fd> open_own_directory(int above, const std::string& name, unsigned mode, bool make, const std::string& path) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    Fd fd(openat(above, name.c_str(), flags));
    if (!fd && errno == ENOENT && make) {
        if (mkdirat(above, name.c_str(), mode) != 0 && errno != EEXIST)
            return fail_errno(errno, "cannot make the directory", path);
        fd = Fd(openat(above, name.c_str(), flags));
        if (fd && fchmod(fd.get(), mode) != 0) return fail_errno(errno, "cannot set the mode", path);
        if (fd && fsync(above) != 0) return fail_errno(errno, "cannot flush the directory above", path);
    }
    if (!fd) return fail_errno(errno, "cannot open the directory", path);

    struct stat about {};

    if (fstat(fd.get(), &about) != 0) return fail_errno(errno, "cannot look at it", path);
    const bool is_ours = about.st_uid == 0 || about.st_uid == geteuid();
    if (make && (!is_ours || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0))
        return fail(ErrorKind::denied, "somebody else can write there, so what it says cannot be trusted", path,
                    "chown root:root and chmod go-w the directory, after looking at what is in it");
    return fd;
}

class DiskStateStore final : public StateStore {
  public:
    // `lock_path` is absolute on the same tree; its directory is made.
    DiskStateStore(PathWalk walk, std::string lock_path) : walk_(std::move(walk)), lock_path_(std::move(lock_path)) {}

    Result<std::string> read(std::string_view name) override;
    Result<std::vector<std::string>> list(std::string_view directory) override;
    Result<void> replace(std::string_view name, std::string_view bytes) override;
    Result<void> append(std::string_view name, std::string_view bytes) override;
    Result<void> remove(std::string_view name) override;
    Result<void> lock() override;

  private:
    struct Place {
        Fd directory;
        std::string name;  // in it
        std::string path;  // whole, for people
    };

    Result<Place> open_place(std::string_view name, bool make);
    Result<Fd> open_machine_directory(const std::string& path, bool make);

    PathWalk walk_;
    std::string lock_path_;
    Fd lock_;
};

// What leads to storpol's own directory belongs to the machine, which may well have moved it behind a link (/var on
// another disk): followed, in an image within the image.
Result<Fd> DiskStateStore::open_machine_directory(const std::string& path, bool make) {
    auto opened = walk_.open(path, O_RDONLY | O_DIRECTORY);
    if (opened.code == 0) return std::move(opened.fd);
    if (opened.code != ENOENT || !make || path == "/")
        return fail_errno(opened.code, "cannot open the directory", path);
    const auto slash = path.rfind('/');
    const auto above = open_machine_directory(slash == 0 ? "/" : path.substr(0, slash), make);
    if (!above) return tl::make_unexpected(above.error());
    return open_own_directory(above->get(), path.substr(slash + 1), 0755, true, path);
}

Result<DiskStateStore::Place> DiskStateStore::open_place(std::string_view name, bool make) {
    if (!is_name(name)) return fail(ErrorKind::invalid, "not a name of the state directory", printable(name));
    auto above = open_machine_directory("/var/lib", make);
    if (!above) return tl::make_unexpected(above.error());
    std::string path = state_directory;
    auto directory = open_own_directory(above->get(), "storpol", 0755, make, path);
    auto parts = split(name, '/');
    const std::string last(parts.back());
    parts.pop_back();
    for (const auto part : parts) {
        if (!directory) break;
        path += "/" + std::string(part);
        auto below = open_own_directory(directory->get(), std::string(part), directory_mode(part), make, path);
        directory = std::move(below);
    }
    if (!directory) return tl::make_unexpected(directory.error());
    return Place{std::move(*directory), last, path + "/" + last};
}

Result<std::string> DiskStateStore::read(std::string_view name) {
    const auto place = open_place(name, false);
    if (!place) return tl::make_unexpected(place.error());
    const Fd fd(openat(place->directory.get(), place->name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!fd) return fail_errno(errno, "cannot open", place->path);

    struct stat about {};

    if (fstat(fd.get(), &about) != 0) return fail_errno(errno, "cannot look at it", place->path);
    if (!S_ISREG(about.st_mode)) return fail(ErrorKind::invalid, "no regular file", place->path);
    std::string text;
    const int code = read_to_end(fd.get(), text, max_file, static_cast<std::size_t>(about.st_size), false);
    if (code != 0) return fail_errno(code, "cannot read", place->path);
    return text;
}

Result<std::vector<std::string>> DiskStateStore::list(std::string_view directory) {
    std::vector<std::string> names;
    auto place = open_place(std::string(directory) + "/x", false);
    if (!place && place.error().kind == ErrorKind::no_such_file) return names;
    if (!place) return tl::make_unexpected(place.error());
    DIR* listing = fdopendir(place->directory.get());
    if (listing == nullptr) return fail_errno(errno, "cannot list", std::string(directory));
    place->directory.release();
    const Handle<DIR, closedir> closer(listing);
    errno = 0;
    while (const auto* entry = readdir(listing))
        if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    if (errno != 0) return fail_errno(errno, "cannot list", std::string(directory));
    std::ranges::sort(names);
    return names;
}

Result<void> DiskStateStore::replace(std::string_view name, std::string_view bytes) {
    const auto place = open_place(name, true);
    if (!place) return tl::make_unexpected(place.error());
    TempFile temp(place->directory.get(), 0600);
    int code = temp.error();
    if (code == 0) code = fchmod(temp.fd(), file_mode(name)) == 0 ? 0 : errno;
    if (code == 0) code = write_whole(temp.fd(), bytes);
    if (code == 0) code = temp.commit(place->name, false);
    if (code != 0) return fail_errno(code, "cannot write", place->path);
    return {};
}

Result<void> DiskStateStore::append(std::string_view name, std::string_view bytes) {
    const auto place = open_place(name, true);
    if (!place) return tl::make_unexpected(place.error());
    const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    Fd fd(openat(place->directory.get(), place->name.c_str(), flags));
    const bool is_new = !fd && errno == ENOENT;
    if (is_new) fd = Fd(openat(place->directory.get(), place->name.c_str(), flags | O_CREAT | O_EXCL, file_mode(name)));
    if (!fd) return fail_errno(errno, "cannot open", place->path);

    struct stat about {};

    if (fstat(fd.get(), &about) != 0) return fail_errno(errno, "cannot look at it", place->path);
    int code = 0;
    if (!S_ISREG(about.st_mode)) return fail(ErrorKind::invalid, "no regular file", place->path);
    if (is_new) code = fchmod(fd.get(), file_mode(name)) == 0 ? 0 : errno;
    if (code == 0) code = write_whole(fd.get(), bytes);
    if (code == 0) code = fsync(fd.get()) == 0 ? 0 : errno;
    if (code == 0 && is_new) code = fsync(place->directory.get()) == 0 ? 0 : errno;
    if (code == 0) return {};
    // Half a line would be read as a torn one, and the next would be glued to it.
    const bool cut = ftruncate(fd.get(), about.st_size) == 0;
    return fail_errno(code, cut ? "cannot write" : "cannot write, nor take back the part written", place->path);
}

Result<void> DiskStateStore::remove(std::string_view name) {
    const auto place = open_place(name, false);
    if (!place && place.error().kind == ErrorKind::no_such_file) return {};
    if (!place) return tl::make_unexpected(place.error());
    if (unlinkat(place->directory.get(), place->name.c_str(), 0) != 0)
        return errno == ENOENT ? Result<void>() : fail_errno(errno, "cannot remove", place->path);
    if (fsync(place->directory.get()) != 0) return fail_errno(errno, "cannot flush the directory", place->path);
    return {};
}

Result<void> DiskStateStore::lock() {
    if (lock_) return {};
    const auto slash = lock_path_.rfind('/');
    const auto directory = lock_path_.substr(0, slash);
    const auto above = open_machine_directory(directory.substr(0, directory.rfind('/')), true);
    if (!above) return tl::make_unexpected(above.error());
    const auto own = open_own_directory(above->get(), "storpol", 0755, true, directory);
    if (!own) return tl::make_unexpected(own.error());
    const auto name = lock_path_.substr(slash + 1);
    Fd fd(openat(own->get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    if (!fd) return fail_errno(errno, "cannot open the lock", lock_path_);
    // Who may open a file for reading may lock it: nobody but root is to hold up an apply.
    fchmod(fd.get(), 0600);
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        const int code = errno;
        std::string holder;
        read_to_end(fd.get(), holder, 64, 0, false);
        const auto pid = parse_int(trim(holder));
        auto error = fail_errno(code, "another storpol apply is at work", lock_path_);
        if (code == EWOULDBLOCK) error.value().what = "another storpol is changing this machine";
        if (code == EWOULDBLOCK && pid) error.value().what += " (process " + std::to_string(*pid) + ")";
        if (code == EWOULDBLOCK) error.value().fix = "wait until it is done, then try again";
        error.value().kind = ErrorKind::failed;
        return error;
    }
    // For people who ask who holds it; the lock itself is the flock, so that a refused write harms nothing.
    if (ftruncate(fd.get(), 0) == 0) write_whole(fd.get(), std::to_string(getpid()) + "\n");
    lock_ = std::move(fd);
    // A run that was killed while it replaced a file has left its half beside it.
    for (const auto* entry : {"x", "journal/x"}) {
        if (const auto place = open_place(entry, false)) remove_temp_files(place->directory.get());
    }
    return {};
}

}  // namespace

std::unique_ptr<StateStore> make_state_store() {
    return std::make_unique<DiskStateStore>(PathWalk(), "/run/storpol/lock");
}

Result<std::unique_ptr<StateStore>> make_root_state_store(std::string_view directory) {
    auto walk = open_root_directory(directory);
    if (!walk) return tl::make_unexpected(walk.error());
    return std::make_unique<DiskStateStore>(std::move(*walk), std::string(state_directory) + "/lock");
}

}  // namespace storpol
