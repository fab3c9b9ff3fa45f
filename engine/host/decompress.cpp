// SPDX-License-Identifier: GPL-3.0-or-later
// The one file that talks to the compression libraries.
#include "engine/host/decompress.h"

#include <lz4.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "engine/base/handle.h"
#include "engine/host/late_library.h"

namespace storpol {
namespace {

using State = Decompressor::State;

const LateLibrary libz("libz.so.1");
STORPOL_LATE(libz, inflate);
STORPOL_LATE(libz, inflateEnd);
STORPOL_LATE(libz, inflateInit2_);
const LateLibrary libzstd("libzstd.so.1");
STORPOL_LATE(libzstd, ZSTD_createDStream);
STORPOL_LATE(libzstd, ZSTD_decompressStream);
STORPOL_LATE(libzstd, ZSTD_freeDStream);
STORPOL_LATE(libzstd, ZSTD_isError);
const LateLibrary liblzma("liblzma.so.5");
STORPOL_LATE(liblzma, lzma_end);
// Spelt out: the header's types carry attributes, which g++ warns about in a template argument.
const Late<lzma_ret(lzma_stream*, std::uint64_t)> lzma_alone_decoder{liblzma, "lzma_alone_decoder"};
const Late<lzma_ret(lzma_stream*, lzma_action)> lzma_code{liblzma, "lzma_code"};
const Late<lzma_ret(lzma_stream*, std::uint64_t, std::uint32_t)> lzma_stream_decoder{liblzma, "lzma_stream_decoder"};
const LateLibrary liblz4("liblz4.so.1");
STORPOL_LATE(liblz4, LZ4_decompress_safe);

// A dictionary of 64 MiB (xz -9) needs 65; what generators use needs far less.
constexpr std::uint64_t lzma_memory = 128 << 20;

class Gzip final : public Decompressor {
  public:
    Gzip() { is_ready_ = inflateInit2_(&stream_, 15 + 16, ZLIB_VERSION, static_cast<int>(sizeof stream_)) == Z_OK; }

    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;

    ~Gzip() override {
        if (is_ready_) inflateEnd(&stream_);
    }

    State run(std::string_view& in, char* out, std::size_t size, std::size_t& written) override {
        if (!is_ready_) return State::broken;
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
        stream_.avail_in = static_cast<uInt>(in.size());
        stream_.next_out = reinterpret_cast<Bytef*>(out);
        stream_.avail_out = static_cast<uInt>(size);
        const int code = inflate(&stream_, Z_NO_FLUSH);
        in.remove_prefix(in.size() - stream_.avail_in);
        written = size - stream_.avail_out;
        if (code == Z_STREAM_END) return State::ended;
        return code == Z_OK || code == Z_BUF_ERROR ? State::goes_on : State::broken;
    }

  private:
    z_stream stream_{};
    bool is_ready_ = false;
};

void free_zstd(ZSTD_DStream* stream) {
    ZSTD_freeDStream(stream);
}

// Its own bound on the window, 128 MiB, is the one of every reader.
class Zstd final : public Decompressor {
  public:
    State run(std::string_view& in, char* out, std::size_t size, std::size_t& written) override {
        if (!stream_) return State::broken;
        ZSTD_inBuffer input{in.data(), in.size(), 0};
        ZSTD_outBuffer output{out, size, 0};
        const std::size_t left = ZSTD_decompressStream(stream_.get(), &output, &input);
        in.remove_prefix(input.pos);
        written = output.pos;
        if (ZSTD_isError(left) != 0) return State::broken;
        return left == 0 ? State::ended : State::goes_on;
    }

  private:
    Handle<ZSTD_DStream, free_zstd> stream_{ZSTD_createDStream()};
};

class Lzma final : public Decompressor {
  public:
    explicit Lzma(bool is_xz) {
        const auto code = is_xz ? lzma_stream_decoder(&stream_, lzma_memory, std::uint32_t{0})
                                : lzma_alone_decoder(&stream_, lzma_memory);
        is_ready_ = code == LZMA_OK;
    }

    Lzma(const Lzma&) = delete;
    Lzma& operator=(const Lzma&) = delete;

    ~Lzma() override { lzma_end(&stream_); }

    State run(std::string_view& in, char* out, std::size_t size, std::size_t& written) override {
        if (!is_ready_) return State::broken;
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
        stream_.avail_in = in.size();
        stream_.next_out = reinterpret_cast<std::uint8_t*>(out);
        stream_.avail_out = size;
        const auto code = lzma_code(&stream_, LZMA_RUN);
        in.remove_prefix(in.size() - stream_.avail_in);
        written = size - stream_.avail_out;
        if (code == LZMA_STREAM_END) return State::ended;
        return code == LZMA_OK || code == LZMA_BUF_ERROR ? State::goes_on : State::broken;
    }

  private:
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool is_ready_ = false;
};

// linux lib/decompress_unlz4.c: the magic, then blocks, each with its size in front; a size of 0, or one that no block
// has, belongs to what follows the stream.
class Lz4 final : public Decompressor {
  public:
    State run(std::string_view& in, char* out, std::size_t size, std::size_t& written) override {
        written = 0;
        if (given_ == block_size_) {
            const auto state = next_block(in);
            if (state != State::goes_on) return state;
        }
        written = std::min(size, block_size_ - given_);
        std::copy_n(block_.get() + given_, written, out);
        given_ += written;
        return State::goes_on;
    }

    bool may_end() const override { return has_magic_ && packed_size_ == 0 && given_ == block_size_; }

  private:
    static constexpr std::size_t largest_block = 8 << 20;                                    // LEGACY_BLOCKSIZE of lz4
    static constexpr std::size_t largest_packed = largest_block + largest_block / 255 + 16;  // LZ4_compressBound
    static constexpr std::string_view magic{"\x02\x21\x4c\x18", 4};

    static std::size_t little_endian(std::string_view bytes) {
        std::size_t value = 0;
        for (std::size_t i = 4; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[i]);
        return value;
    }

    State next_block(std::string_view& in) {
        while (packed_size_ == 0) {
            if (in.size() < 4) return State::goes_on;
            const auto size = little_endian(in);
            if (in.starts_with(magic))
                has_magic_ = true;
            else if (!has_magic_ || size == 0 || size > largest_packed)
                return has_magic_ ? State::ended : State::broken;
            else
                packed_size_ = size;
            in.remove_prefix(4);
        }
        const auto taken = std::min(in.size(), packed_size_ - packed_.size());
        packed_.append(in.substr(0, taken));
        in.remove_prefix(taken);
        return packed_.size() < packed_size_ ? State::goes_on : unpack();
    }

    State unpack() {
        if (!block_) block_ = std::make_unique<char[]>(largest_block);
        const int got = LZ4_decompress_safe(packed_.data(), block_.get(), static_cast<int>(packed_.size()),
                                            static_cast<int>(largest_block));
        packed_.clear();
        packed_size_ = 0;
        given_ = 0;
        block_size_ = got < 0 ? 0 : static_cast<std::size_t>(got);
        return got < 0 ? State::broken : State::goes_on;
    }

    bool has_magic_ = false;
    std::size_t packed_size_ = 0;  // of the block that is being gathered
    std::string packed_;
    std::unique_ptr<char[]> block_;
    std::size_t block_size_ = 0;
    std::size_t given_ = 0;  // of block_
};

tl::unexpected<Error> fail_form(std::string what, int code) {
    auto error = fail(code == EINVAL ? ErrorKind::invalid : ErrorKind::unsupported, std::move(what));
    error.value().code = code;
    return error;
}

enum class Form { gzip, zstd, xz, lzma, lz4, not_read };

struct Magic {
    std::string_view bytes;
    Form form;
    std::string_view name;
    const LateLibrary* library;
};

// linux lib/decompress.c
const std::array magics{
    Magic{{"\x1f\x8b", 2}, Form::gzip, "gzip", &libz},
    Magic{{"\x28\xb5\x2f\xfd", 4}, Form::zstd, "zstd", &libzstd},
    Magic{{"\xfd\x37zXZ\0", 6}, Form::xz, "xz", &liblzma},
    Magic{{"\x5d\0\0", 3}, Form::lzma, "lzma", &liblzma},
    Magic{{"\x02\x21\x4c\x18", 4}, Form::lz4, "lz4", &liblz4},
    Magic{{"\x04\x22\x4d\x18", 4}, Form::not_read, "lz4 in its frame form, which no kernel takes", nullptr},
    Magic{{"BZh", 3}, Form::not_read, "bzip2", nullptr},
    Magic{{"\x89LZO", 4}, Form::not_read, "lzop", nullptr},
    Magic{{"MZ", 2}, Form::not_read, "a unified kernel image", nullptr},
};

}  // namespace

Result<std::unique_ptr<Decompressor>> make_decompressor(std::string_view start) {
    const auto begins = [&](const Magic& magic) { return start.starts_with(magic.bytes); };
    const auto found = std::ranges::find_if(magics, begins);
    if (found == magics.end()) return fail_form("neither a cpio archive nor compressed in a known form", EINVAL);
    if (found->form == Form::not_read) return fail_form(std::string(found->name) + " is not read", EOPNOTSUPP);
    if (!found->library->is_there())
        return fail_form("the library that reads " + std::string(found->name) + " is not installed", EOPNOTSUPP);
    switch (found->form) {
        case Form::gzip:
            return std::make_unique<Gzip>();
        case Form::zstd:
            return std::make_unique<Zstd>();
        case Form::xz:
            return std::make_unique<Lzma>(true);
        case Form::lzma:
            return std::make_unique<Lzma>(false);
        case Form::lz4:
            return std::make_unique<Lz4>();
        case Form::not_read:
            break;
    }
    STORPOL_BUG("a compressed form out of range");
}

}  // namespace storpol
