// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_geometry.h"

#include <endian.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "engine/base/handle.h"
#include "engine/base/text.h"
#include "engine/host/io.h"

namespace storpol {
namespace {

// The parts of the kernel's headers that no header package of all distributions has.
struct XfsGeometry {  // struct xfs_fsop_geom_v1, fs/xfs/libxfs/xfs_fs.h
    std::uint32_t block_size;
    std::uint32_t rt_extent_size;
    std::uint32_t group_blocks;
    std::uint32_t group_count;
    std::uint32_t log_blocks;
    std::uint32_t sector_size;
    std::uint32_t inode_size;
    std::uint32_t inode_percent;
    std::uint64_t data_blocks;
    std::uint64_t rt_blocks;
    std::uint64_t rt_extents;
    std::uint64_t log_start;
    std::array<char, 16> uuid;
    std::uint32_t stripe_unit;
    std::uint32_t stripe_width;
    std::int32_t version;
    std::uint32_t flags;
    std::uint32_t log_sector_size;
    std::uint32_t rt_sector_size;
    std::uint32_t directory_block_size;
};

static_assert(sizeof(XfsGeometry) == 112);
constexpr unsigned long xfs_geometry_request = _IOR('X', 100, XfsGeometry);

struct KernelUuid {  // struct fsuuid2, include/uapi/linux/fs.h (Linux 6.9)
    std::uint8_t length;
    std::array<char, 16> bytes;
};

constexpr unsigned long uuid_request = _IOR(0x15, 0, KernelUuid);

// Kernel Documentation/filesystems/ext4/super.rst.
constexpr std::size_t ext4_superblock_size = 1024;
constexpr off_t ext4_superblock_offset = 1024;
constexpr std::uint64_t ext4_magic = 0xEF53;
constexpr std::uint64_t ext4_has_64bit = 0x80;

std::uint64_t little_endian(std::string_view bytes, std::size_t offset, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[offset + i]);
    return value;
}

void read_ext4(TrimGeometry& geometry, const std::string& device) {
    if (!device.starts_with("/dev/") || device.find("/..") != std::string::npos) return;
    const Fd fd(open(device.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return;
    std::string bytes(ext4_superblock_size, '\0');
    const auto got = pread(fd.get(), bytes.data(), bytes.size(), ext4_superblock_offset);
    if (got != static_cast<ssize_t>(bytes.size())) return;
    if (const auto parsed = parse_ext4_geometry(bytes)) geometry = *parsed;
}

// Where the device cannot be read: mke2fs's own group size, and the device's end, before which the filesystem may end.
void guess_ext4(TrimGeometry& geometry, int fd) {
    struct stat about {};

    struct statvfs room {};

    if (fstat(fd, &about) != 0 || fstatvfs(fd, &room) != 0) return;
    const auto path =
        "/sys/dev/block/" + std::to_string(major(about.st_dev)) + ":" + std::to_string(minor(about.st_dev)) + "/size";
    const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    if (!file || read_to_end(file.get(), text, 64, 0, true) != 0) return;
    const auto sectors = parse_int(trim(text));
    if (!sectors || *sectors <= 0 || room.f_bsize == 0 || room.f_bsize > 65536) return;
    geometry.block = room.f_bsize;
    geometry.group = 8 * geometry.block * geometry.block;  // as many blocks as one bitmap block has bits
    geometry.min_extent_limit = geometry.group;
    geometry.size = static_cast<std::uint64_t>(*sectors) * 512;
}

void read_xfs(TrimGeometry& geometry, int fd) {
    XfsGeometry found{};
    if (ioctl(fd, xfs_geometry_request, &found) != 0) return;
    geometry.uuid = uuid_text(std::string_view(found.uuid.data(), found.uuid.size()));
    geometry.block = found.block_size;
    geometry.group = std::uint64_t{found.group_blocks} * found.block_size;
    // Since Linux 6.13 the addresses of a realtime device follow those of the data device.
    geometry.size = (found.data_blocks + found.rt_blocks) * found.block_size;
    // A slice ends in the middle of free extents: a floor near the size of slices would leave those out.
    geometry.min_extent_limit =
        std::max<std::uint64_t>(found.block_size, std::min<std::uint64_t>(16 << 20, geometry.group / 16));
}

// Every block group has a chunk item: CHUNK_ITEM's key offset is its logical address (btrfs on-disk format).
void read_btrfs_chunks(TrimGeometry& geometry, int fd) {
    std::uint64_t next = 0;
    for (;;) {
        btrfs_ioctl_search_args args{};
        args.key.tree_id = BTRFS_CHUNK_TREE_OBJECTID;
        args.key.min_objectid = args.key.max_objectid = BTRFS_FIRST_CHUNK_TREE_OBJECTID;
        args.key.min_type = args.key.max_type = BTRFS_CHUNK_ITEM_KEY;
        args.key.min_offset = next;
        args.key.max_offset = args.key.max_transid = std::numeric_limits<std::uint64_t>::max();
        args.key.nr_items = std::numeric_limits<std::uint32_t>::max();
        if (ioctl(fd, BTRFS_IOC_TREE_SEARCH, &args) != 0) return geometry.chunks.clear();
        if (args.key.nr_items == 0) return;
        std::size_t at = 0;
        for (std::uint32_t item = 0; item < args.key.nr_items; ++item) {
            btrfs_ioctl_search_header header{};
            if (at + sizeof header > sizeof args.buf) return geometry.chunks.clear();
            std::memcpy(&header, args.buf + at, sizeof header);
            at += sizeof header;
            std::uint64_t length = 0;
            if (header.len < sizeof length || at + header.len > sizeof args.buf) return geometry.chunks.clear();
            std::memcpy(&length, args.buf + at, sizeof length);
            at += header.len;
            geometry.chunks.push_back({header.offset, le64toh(length)});
            next = header.offset + 1;
        }
    }
}

void read_btrfs(TrimGeometry& geometry, int fd) {
    btrfs_ioctl_fs_info_args info{};
    if (ioctl(fd, BTRFS_IOC_FS_INFO, &info) == 0)
        geometry.uuid = uuid_text(std::string_view(reinterpret_cast<const char*>(info.fsid), sizeof info.fsid));
    read_btrfs_chunks(geometry, fd);
}

void read_kernel_uuid(TrimGeometry& geometry, int fd) {
    KernelUuid found{};
    if (ioctl(fd, uuid_request, &found) != 0 || found.length > found.bytes.size()) return;
    geometry.uuid = uuid_text(std::string_view(found.bytes.data(), found.length));
}

}  // namespace

Result<TrimGeometry> parse_ext4_geometry(std::string_view bytes) {
    if (bytes.size() < ext4_superblock_size || little_endian(bytes, 0x38, 2) != ext4_magic)
        return fail(ErrorKind::invalid, "not an ext2, ext3 or ext4 superblock");
    TrimGeometry geometry;
    const auto block_shift = little_endian(bytes, 0x18, 4);
    const auto blocks_per_group = little_endian(bytes, 0x20, 4);
    if (block_shift > 6 || blocks_per_group == 0)  // 1 KiB to 64 KiB
        return fail(ErrorKind::invalid, "an ext4 superblock with impossible sizes");
    geometry.block = std::uint64_t{1024} << block_shift;
    geometry.group = blocks_per_group * geometry.block;
    geometry.offset = little_endian(bytes, 0x14, 4) * geometry.block;
    auto blocks = little_endian(bytes, 0x4, 4);
    if ((little_endian(bytes, 0x60, 4) & ext4_has_64bit) != 0) blocks |= little_endian(bytes, 0x150, 4) << 32U;
    if (blocks > std::numeric_limits<std::uint64_t>::max() / geometry.block)
        return fail(ErrorKind::invalid, "an ext4 superblock with impossible sizes");
    geometry.size = blocks * geometry.block;
    geometry.min_extent_limit = geometry.group;  // no extent spans two groups
    geometry.uuid = uuid_text(bytes.substr(0x68, 16));
    return geometry;
}

std::string uuid_text(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    bool is_zero = true;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes.size() == 16 && (i == 4 || i == 6 || i == 8 || i == 10)) text += '-';
        const auto byte = static_cast<unsigned char>(bytes[i]);
        is_zero = is_zero && byte == 0;
        text += digits[byte >> 4U];
        text += digits[byte & 0xFU];
    }
    return is_zero ? "" : text;
}

TrimGeometry read_trim_geometry(int fd, const std::string& fstype, const std::string& device) {
    TrimGeometry geometry;
    if (fstype == "ext4" || fstype == "ext3" || fstype == "ext2") {
        read_ext4(geometry, device);
        if (geometry.group == 0) guess_ext4(geometry, fd);
    }
    if (fstype == "xfs") read_xfs(geometry, fd);
    if (fstype == "btrfs") read_btrfs(geometry, fd);
    // Both keep the floor in 32 bits, where 4 GiB becomes none.
    if (fstype == "vfat" || fstype == "msdos" || fstype == "f2fs") geometry.min_extent_limit = std::uint64_t{1} << 31U;
    if (geometry.uuid.empty()) read_kernel_uuid(geometry, fd);
    return geometry;
}

}  // namespace storpol
