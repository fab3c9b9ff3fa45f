// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/ext4_superblock.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "engine/base/handle.h"
#include "engine/base/text.h"

namespace storpol {
namespace {

// Offsets and values: kernel Documentation/filesystems/ext4/super.rst; names: tune2fs(8) -o.
constexpr std::size_t superblock_size = 1024;
constexpr off_t superblock_offset = 1024;
constexpr std::size_t magic_offset = 0x38;
constexpr std::size_t errors_offset = 0x3C;
constexpr std::size_t default_options_offset = 0x100;
constexpr std::size_t options_offset = 0x200;
constexpr std::size_t options_size = 64;
constexpr unsigned magic = 0xEF53;
constexpr unsigned journal_mask = 0x60;

constexpr std::array<std::pair<unsigned, std::string_view>, 9> flags{{{0x1, "debug"},
                                                                      {0x2, "bsdgroups"},
                                                                      {0x4, "user_xattr"},
                                                                      {0x8, "acl"},
                                                                      {0x10, "uid16"},
                                                                      {0x100, "nobarrier"},
                                                                      {0x200, "block_validity"},
                                                                      {0x400, "discard"},
                                                                      {0x800, "nodelalloc"}}};
constexpr std::array<std::string_view, 4> journal_modes{"", "journal_data", "journal_data_ordered",
                                                        "journal_data_writeback"};
constexpr std::array<std::string_view, 4> errors_words{"", "continue", "remount-ro", "panic"};

unsigned little_endian(std::string_view bytes, std::size_t offset, std::size_t size) {
    unsigned value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[offset + i]);
    return value;
}

}  // namespace

Result<std::string> describe_ext4_superblock(std::string_view bytes) {
    if (bytes.size() < superblock_size || little_endian(bytes, magic_offset, 2) != magic) {
        return fail(ErrorKind::invalid, "not an ext2, ext3 or ext4 superblock");
    }
    const unsigned defaults = little_endian(bytes, default_options_offset, 4);
    std::vector<std::string> names;
    for (const auto& [bit, name] : flags) {
        if ((defaults & bit) != 0) names.emplace_back(name);
    }
    if (const unsigned mode = (defaults & journal_mask) >> 5U; mode != 0) names.emplace_back(journal_modes.at(mode));
    auto options = bytes.substr(options_offset, options_size);
    options = options.substr(0, options.find('\0'));
    const unsigned errors = little_endian(bytes, errors_offset, 2);
    return "default_mount_opts=" + join(names, " ") + "\nmount_opts=" + printable(options) +
           "\nerrors=" + std::string(errors < errors_words.size() ? errors_words.at(errors) : "") + "\n";
}

Answer answer_ext4_super(const Query& query) {
    const auto& path = query.args.at(0);
    if (!path.starts_with("/dev/") || path.find("..") != std::string::npos) return refuse(query, EINVAL);
    const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return refuse(query, errno);
    std::string bytes(superblock_size, '\0');
    const ssize_t got = pread(fd.get(), bytes.data(), bytes.size(), superblock_offset);
    if (got < 0) return refuse(query, errno);
    bytes.resize(static_cast<std::size_t>(got));
    auto described = describe_ext4_superblock(bytes);
    if (!described) return refuse(query, EINVAL);
    return Answer{*described, "", {}};
}

}  // namespace storpol
