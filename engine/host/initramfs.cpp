// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/initramfs.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "engine/host/decompress.h"

namespace storpol {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t piece = 256 << 10;
constexpr std::size_t small_file = 64 << 10;
constexpr std::size_t small_files = 16 << 20;  // all of them

tl::unexpected<Error> fail_image(int code, std::string what) {
    auto error = fail(kind_of_errno(code), std::move(what));
    if (code == EINVAL) error.value().kind = ErrorKind::invalid;
    if (code == EOPNOTSUPP) error.value().kind = ErrorKind::unsupported;
    error.value().code = code;
    return error;
}

// What is read of the image and not taken yet.
class Source {
  public:
    explicit Source(const ReadImage& read) : read_(read), buffer_(piece) {}

    std::string_view& rest() { return rest_; }

    // Reads more behind the rest; false at the end or after an error.
    bool refill() {
        if (is_at_end_ || error_ != 0) return false;
        std::copy(rest_.begin(), rest_.end(), buffer_.begin());
        const auto held = rest_.size();
        if (held == buffer_.size()) return false;  // nobody takes from it
        const auto got = read_(buffer_.data() + held, buffer_.size() - held);
        if (got < 0) error_ = static_cast<int>(-got);
        is_at_end_ = got == 0;
        rest_ = {buffer_.data(), held + (got > 0 ? static_cast<std::size_t>(got) : 0)};
        return got > 0;
    }

    int error() const { return error_; }

  private:
    const ReadImage& read_;
    std::vector<char> buffer_;
    std::string_view rest_;
    bool is_at_end_ = false;
    int error_ = 0;
};

class ImageReader {
  public:
    ImageReader(const ReadImage& read, CpioReader::Choose choose, const ImageLimits& limits)
        : source_(read), cpio_(std::move(choose)), limits_(limits), deadline_(Clock::now() + limits.time) {}

    Result<CpioFiles> run() {
        for (;;) {
            while (source_.rest().size() < magic_size && source_.refill()) continue;
            if (source_.error() != 0) return fail_image(source_.error(), "cannot read the image");
            if (source_.rest().empty()) break;
            const bool is_plain = source_.rest().front() == '0' || source_.rest().front() == '\0';
            auto taken = is_plain ? take_plain() : take_compressed();
            if (!taken) return tl::make_unexpected(taken.error());
        }
        if (!cpio_.is_between()) return fail_image(EINVAL, "the image ends in the middle of an archive");
        return cpio_.files();
    }

  private:
    Result<void> spend(std::size_t bytes) {
        unpacked_ += bytes;
        if (unpacked_ > limits_.unpacked) return fail_image(EFBIG, "the image unpacks to more than is ever read");
        if (Clock::now() > deadline_) return fail_image(ETIMEDOUT, "the image takes too long to read");
        return {};
    }

    Result<void> feed(std::string_view& in) {
        if (cpio_.feed(in)) return {};
        if (cpio_.error() == EFBIG) return fail_image(EFBIG, "the file in the image is too large");
        return fail_image(cpio_.error(), "the image holds a damaged cpio archive");
    }

    Result<void> take_plain() {
        do {
            const auto before = source_.rest().size();
            if (auto fed = feed(source_.rest()); !fed) return fed;
            if (auto fine = spend(before - source_.rest().size()); !fine) return fine;
        } while (source_.rest().empty() && source_.refill());
        return {};
    }

    Result<void> take_compressed() {
        auto stream = make_decompressor(source_.rest().substr(0, magic_size));
        if (!stream) return tl::make_unexpected(stream.error());
        for (;;) {
            const auto before = source_.rest().size();
            std::size_t written = 0;
            const auto state = (*stream)->run(source_.rest(), out_.get(), piece, written);
            if (state == Decompressor::State::broken)
                return fail_image(EINVAL, "the image is damaged: it does not unpack");
            std::string_view unpacked(out_.get(), written);
            if (auto fed = feed(unpacked); !fed) return fed;
            if (!unpacked.empty()) return fail_image(EINVAL, "the image unpacks to something else than cpio archives");
            if (auto fine = spend(written); !fine) return fine;
            if (state == Decompressor::State::ended) return check_end();
            if (written > 0 || source_.rest().size() != before || source_.refill()) continue;
            if (source_.error() != 0) return fail_image(source_.error(), "cannot read the image");
            if ((*stream)->may_end()) return check_end();
            return fail_image(EINVAL, "the image is cut short");
        }
    }

    // An archive does not go on behind the stream that holds its start (linux init/initramfs.c).
    Result<void> check_end() const {
        if (cpio_.is_between()) return {};
        return fail_image(EINVAL, "the image ends in the middle of an archive");
    }

    Source source_;
    CpioReader cpio_;
    const ImageLimits& limits_;
    Clock::time_point deadline_;
    std::uint64_t unpacked_ = 0;
    std::unique_ptr<char[]> out_ = std::make_unique<char[]>(piece);
};

ReadImage reader_of(int fd) {
    return [fd](char* into, std::size_t size) {
        ssize_t got = 0;
        do got = read(fd, into, size);
        while (got < 0 && errno == EINTR);
        return got < 0 ? -static_cast<ssize_t>(errno) : got;
    };
}

}  // namespace

Result<std::string> read_image_member(const ReadImage& read, std::string_view member, const ImageLimits& limits) {
    using Choice = CpioReader::Choice;
    const std::string wanted(cpio_name(member));
    const auto choose = [&](std::string_view name, std::uint64_t size) {
        if (name != wanted) return Choice::pass_over;
        return size > limits.member ? Choice::refuse : Choice::bytes;
    };
    auto files = ImageReader(read, choose, limits).run();
    if (!files) return tl::make_unexpected(files.error());
    const auto found = files->find(wanted);
    if (found == files->end() || !found->second) return fail_image(ENOENT, "the image has no such file");
    return std::move(*found->second);
}

Result<CpioFiles> image_files_of(int fd, const std::function<bool(std::string_view)>& is_kept) {
    using Choice = CpioReader::Choice;
    std::size_t kept = 0;
    const auto choose = [&](std::string_view name, std::uint64_t size) {
        if (size > small_file || kept + size > small_files || !is_kept(name)) return Choice::name;
        kept += size;
        return Choice::bytes;
    };
    return ImageReader(reader_of(fd), choose, ImageLimits{}).run();
}

Result<std::string> image_member_of(int fd, std::string_view member) {
    return read_image_member(reader_of(fd), member);
}

Result<std::string> image_member_of(std::string_view bytes, std::string_view member) {
    const auto from_bytes = [&bytes](char* into, std::size_t size) {
        const auto taken = std::min(size, bytes.size());
        std::copy_n(bytes.data(), taken, into);
        bytes.remove_prefix(taken);
        return static_cast<ssize_t>(taken);
    };
    return read_image_member(from_bytes, member);
}

}  // namespace storpol
