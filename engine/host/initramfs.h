// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/host/cpio_reader.h"

// One file out of an initramfs, as the kernel would unpack it (linux Documentation/driver-api/early-userspace/
// buffer-format.rst): cpio archives, plain or compressed, one behind the other, of which the last that has the file
// wins. Read as a stream; an image never lies in memory whole. Sizes in it are not trusted.
namespace storpol {

struct ImageLimits {
    std::uint64_t unpacked = std::uint64_t{1} << 30U;           // in all; EFBIG beyond
    std::size_t member = 1 << 20;                               // of the wanted file; EFBIG
    std::chrono::milliseconds time = std::chrono::seconds(60);  // ETIMEDOUT; xz on a slow machine takes half of it
};

// Like read(2), but answers a negative errno.
using ReadImage = std::function<ssize_t(char* into, std::size_t size)>;

// The bytes of regular file `member` ("cryptroot/crypttab", a leading "/" or "./" left out on both sides). Each Error
// has its errno in `code`: ENOENT when the image has no such file, EINVAL when it is damaged or no image, EOPNOTSUPP
// when it is in a form that is not read.
Result<std::string> read_image_member(const ReadImage& read, std::string_view member, const ImageLimits& limits = {});
// All files by name, with the bytes of small ones that `is_kept`: one pass where several are asked for.
Result<CpioFiles> image_files_of(int fd, const std::function<bool(std::string_view)>& is_kept);
Result<std::string> image_member_of(int fd, std::string_view member);                  // from its position on
Result<std::string> image_member_of(std::string_view bytes, std::string_view member);  // of an image in memory

}  // namespace storpol
