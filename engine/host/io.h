// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/handle.h"

// The few system calls that the files of this folder share. Each answers 0 or the errno.
namespace storpol {

// openat2(2) without a libc wrapper. Relative to `at` (AT_FDCWD for none).
Fd open_at2(int at, const std::string& path, int flags, std::uint64_t resolve);

// Reads to the end and appends. EFBIG once there is more than `bound`. `expected` is the size stat knows (0: none): a
// read that ends exactly there, or (`short_read_ends`, true for sysfs and /proc/sys) comes short, needs no second one
// to see the end.
int read_to_end(int fd, std::string& into, std::size_t bound, std::size_t expected, bool short_read_ends);

int write_whole(int fd, std::string_view bytes);

// The target of the link that `fd` (O_PATH|O_NOFOLLOW) or `name` in directory `fd` is.
int read_link_at(int fd, const std::string& name, std::string& target);

// A file under a name that no reader of configuration takes (a dot in front, no known ending), until commit() gives it
// its real one; removed again on every other path. The directory descriptor must outlive it and be open for reading.
class TempFile {
  public:
    TempFile(int directory, unsigned mode);
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    ~TempFile();

    int error() const { return error_; }  // errno of making it, or 0

    int fd() const { return fd_.get(); }

    // fsync, rename over `name`, fsync of the directory. `is_new`: EEXIST when there is one by now. After a failure
    // `renamed` says whether the name already shows the new file.
    int commit(const std::string& name, bool is_new);

    bool renamed() const { return renamed_; }

  private:
    int directory_;
    std::string name_;
    Fd fd_;
    int error_ = 0;
    bool renamed_ = false;
};

inline constexpr std::string_view temp_prefix = ".storpol-";
// Is it a name that TempFile gives?
bool is_temp_name(std::string_view name);
// Takes away what killed TempFiles left in an open directory. Only while nobody else can be writing there.
void remove_temp_files(int directory);

}  // namespace storpol
