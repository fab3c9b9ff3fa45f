// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "engine/base/result.h"

// Compressed streams as they stand inside an initramfs, in pieces. The libraries are loaded when a stream needs one.
namespace storpol {

class Decompressor {
  public:
    enum class State { goes_on, ended, broken };

    virtual ~Decompressor() = default;

    // Takes bytes off the front of `in`, writes at most `size` bytes to `out` and says how many. Goes on without having
    // written or taken anything when it needs more input. At its end it leaves what follows in `in`.
    virtual State run(std::string_view& in, char* out, std::size_t size, std::size_t& written) = 0;

    // No input follows any more: does the stream end well here? (That of lz4 has no other end.)
    virtual bool may_end() const { return false; }
};

inline constexpr std::size_t magic_size = 6;  // bytes that tell the forms apart

// By the first bytes: gzip, zstd, xz, lzma or lz4 (in the kernel's legacy form), with memory for each bounded.
// EOPNOTSUPP for a form that is known and not read (bzip2, lzop) or whose library is missing, EINVAL for none.
Result<std::unique_ptr<Decompressor>> make_decompressor(std::string_view start);

}  // namespace storpol
