// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/luks_header.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "engine/base/digest.h"
#include "engine/base/text.h"

namespace storpol {
namespace {

using Json = nlohmann::json;

// Both on-disk formats are big-endian: LUKS1 On-Disk Format Specification 1.2.3; LUKS2 On-Disk Format Specification
// 1.1.3, section 2.
constexpr std::string_view magic{"LUKS\xba\xbe", 6};
constexpr std::string_view second_magic{"SKUL\xba\xbe", 6};
constexpr std::size_t version_offset = 6;
constexpr std::size_t size_offset = 8;
constexpr std::size_t sequence_offset = 16;
constexpr std::size_t algorithm_offset = 72;
constexpr std::size_t algorithm_size = 32;
constexpr std::size_t uuid_offset = 168;
constexpr std::size_t uuid_size = 40;
constexpr std::size_t own_offset_offset = 256;
constexpr std::size_t checksum_offset = 448;
constexpr std::size_t checksum_size = 64;
constexpr std::size_t luks1_size = 592;
constexpr std::size_t binary_size = 4096;
// The sizes that a LUKS2 header may have, and so the places where its second copy can lie.
constexpr std::array<std::uint64_t, 9> header_sizes{0x4000,  0x8000,   0x10000,  0x20000, 0x40000,
                                                    0x80000, 0x100000, 0x200000, 0x400000};

std::uint64_t big_endian(std::string_view bytes, std::size_t offset, std::size_t size) {
    std::uint64_t value = 0;
    for (const char byte : bytes.substr(offset, size)) value = value << 8U | static_cast<unsigned char>(byte);
    return value;
}

std::string text_at(std::string_view bytes, std::size_t offset, std::size_t size) {
    const auto field = bytes.substr(offset, size);
    return std::string(field.substr(0, field.find('\0')));
}

tl::unexpected<Error> fail_header(std::string what) {
    return fail(ErrorKind::invalid, std::move(what));
}

// One valid copy of a LUKS2 header.
struct Copy {
    std::uint64_t size = 0;
    std::uint64_t sequence = 0;
    std::string uuid;
    Json json;
};

// SHA-256 over the binary part, its own field zeroed, and the JSON area.
bool has_right_checksum(const std::string& header) {
    auto copy = header;
    std::fill_n(copy.begin() + checksum_offset, checksum_size, '\0');
    const auto wanted = digest_of(copy);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string found;
    for (const char byte : std::string_view(header).substr(checksum_offset, wanted.size() / 2)) {
        found += digits[static_cast<unsigned char>(byte) >> 4U];
        found += digits[static_cast<unsigned char>(byte) & 15U];
    }
    return found == wanted;
}

std::optional<Copy> read_copy(const ReadAt& read_at, std::uint64_t offset, int& code) {
    std::string header;
    code = read_at(offset, binary_size, header);
    if (code != 0 || header.size() != binary_size) return std::nullopt;
    const auto size = big_endian(header, size_offset, 8);
    const bool is_ours = header.starts_with(offset == 0 ? magic : second_magic) &&
                         big_endian(header, version_offset, 2) == 2 &&
                         big_endian(header, own_offset_offset, 8) == offset &&
                         std::ranges::find(header_sizes, size) != header_sizes.end() && (offset == 0 || size == offset);
    // Every tool writes SHA-256; another algorithm is not checked and so not believed.
    if (!is_ours || text_at(header, algorithm_offset, algorithm_size) != "sha256") return std::nullopt;
    std::string area;
    code = read_at(offset + binary_size, size - binary_size, area);
    if (code != 0 || area.size() != size - binary_size) return std::nullopt;
    header += area;
    if (!has_right_checksum(header)) return std::nullopt;
    auto json = Json::parse(area.substr(0, area.find('\0')), nullptr, false);
    if (!json.is_object()) return std::nullopt;
    return Copy{size, big_endian(header, sequence_offset, 8), text_at(header, uuid_offset, uuid_size), std::move(json)};
}

const Json& member(const Json& json, const char* name) {
    static const Json none;
    if (!json.is_object()) return none;
    const auto found = json.find(name);
    return found == json.end() ? none : *found;
}

std::vector<std::string> strings_of(const Json& array) {
    std::vector<std::string> found;
    if (array.is_array())
        for (const auto& one : array)
            if (one.is_string()) found.push_back(one.get<std::string>());
    std::ranges::sort(found);
    return found;
}

StoredLuksHeader describe(const Copy& copy) {
    StoredLuksHeader header;
    header.version = 2;
    header.uuid = copy.uuid;
    const auto& config = member(copy.json, "config");
    header.flags = strings_of(member(config, "flags"));
    header.requirements = strings_of(member(member(config, "requirements"), "mandatory"));
    for (const auto& token : member(copy.json, "tokens"))
        if (const auto& type = member(token, "type"); type.is_string())
            header.tokens.push_back(type.get<std::string>());
    std::ranges::sort(header.tokens);
    for (const auto& segment : member(copy.json, "segments"))
        if (const auto& type = member(member(segment, "integrity"), "type"); type.is_string())
            header.integrity = type.get<std::string>();
    return header;
}

Result<StoredLuksHeader> read_luks2(const ReadAt& read_at) {
    int code = 0;
    auto first = read_copy(read_at, 0, code);
    if (code != 0) return fail_errno(code, "cannot read", "");
    std::optional<Copy> second;
    for (const auto offset : header_sizes) {
        if (first && offset != first->size) continue;  // a whole first copy says where the second lies
        second = read_copy(read_at, offset, code);
        if (code != 0 && !first) return fail_errno(code, "cannot read", "");
        if (second) break;
    }
    if (!first && !second) return fail_header("no whole LUKS header");
    const bool is_second = !first || (second && second->uuid == first->uuid && second->sequence > first->sequence);
    return describe(is_second ? *second : *first);
}

int read_exact(int fd, std::uint64_t offset, std::size_t size, std::string& into) {
    into.resize(size);
    std::size_t held = 0;
    while (held < size) {
        const auto got = pread(fd, into.data() + held, size - held, static_cast<off_t>(offset + held));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) break;
        held += static_cast<std::size_t>(got);
    }
    into.resize(held);
    return 0;
}

Result<Fd> open_device(PathWalk& walk, const std::string& device) {
    auto looked = walk.open(device, O_PATH);
    if (looked.code != 0) return fail_errno(looked.code, "cannot open", printable(device));

    struct stat found {};

    if (fstat(looked.fd.get(), &found) != 0) return fail_errno(errno, "cannot look at it", printable(device));
    if (!S_ISBLK(found.st_mode) && !S_ISREG(found.st_mode))
        return fail(ErrorKind::invalid, "neither a block device nor a file", printable(device));
    auto opened = walk.open_exact(looked.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (opened.code != 0) return fail_errno(opened.code, "cannot open", printable(device));
    return std::move(opened.fd);
}

std::string printable_list(const std::vector<std::string>& words) {
    return printable(join(words, ","));
}

}  // namespace

Result<StoredLuksHeader> parse_luks_header(const ReadAt& read_at) {
    std::string start;
    const int code = read_at(0, luks1_size, start);
    if (code != 0) return fail_errno(code, "cannot read", "");
    const bool is_luks1 =
        start.size() == luks1_size && start.starts_with(magic) && big_endian(start, version_offset, 2) == 1;
    if (!is_luks1) return read_luks2(read_at);
    StoredLuksHeader header;
    header.version = 1;
    header.uuid = text_at(start, uuid_offset, uuid_size);
    return header;
}

Result<StoredLuksHeader> read_luks_header(PathWalk& walk, const std::string& device) {
    const auto fd = open_device(walk, device);
    if (!fd) return tl::make_unexpected(fd.error());
    const auto read_at = [&](std::uint64_t offset, std::size_t size, std::string& into) {
        return read_exact(fd->get(), offset, size, into);
    };
    auto header = parse_luks_header(read_at);
    // A tool that writes its two copies just now may leave none whole for a moment.
    if (!header && header.error().kind == ErrorKind::invalid) header = parse_luks_header(read_at);
    if (!header && header.error().where.empty()) header.error().where = printable(device);
    return header;
}

Answer answer_luks(PathWalk& walk, const Query& query) {
    const auto header = read_luks_header(walk, query.args.at(0));
    if (!header) return refuse(query, header.error().code == 0 ? EINVAL : header.error().code);
    std::string text = "version=" + std::to_string(header->version) + "\nuuid=" + printable(header->uuid) +
                       "\nflags=" + printable_list(header->flags) + "\n";
    if (!header->integrity.empty()) text += "integrity=" + printable(header->integrity) + "\n";
    if (!header->tokens.empty()) text += "tokens=" + printable_list(header->tokens) + "\n";
    if (!header->requirements.empty()) text += "requirements=" + printable_list(header->requirements) + "\n";
    return Answer{text, "", {}};
}

}  // namespace storpol
