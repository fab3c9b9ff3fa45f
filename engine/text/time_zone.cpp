// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/time_zone.h"

#include <cstddef>

namespace storpol {
namespace {

constexpr std::size_t header_size = 44;
constexpr std::size_t type_size = 6;

std::int64_t big_endian(std::string_view bytes) {
    std::uint64_t number = (static_cast<unsigned char>(bytes.front()) & 0x80U) != 0 ? ~std::uint64_t{0} : 0;
    for (const char byte : bytes) number = (number << 8U) | static_cast<unsigned char>(byte);
    return static_cast<std::int64_t>(number);
}

// The counts of one header, in the file's order, and the sizes that follow from them.
struct Block {
    std::size_t at = 0;         // of its data
    std::size_t time_size = 4;  // 8 from the second block on
    std::size_t times = 0;
    std::size_t types = 0;
    std::size_t size = 0;

    std::size_t indexes() const { return at + times * time_size; }

    std::size_t offsets() const { return indexes() + times; }

    std::size_t end() const { return at + size; }
};

std::optional<Block> block_at(std::string_view bytes, std::size_t at, std::size_t time_size) {
    if (bytes.size() < at + header_size || bytes.substr(at, 4) != "TZif") return std::nullopt;
    const auto count = [&](std::size_t index) {
        return static_cast<std::size_t>(big_endian(bytes.substr(at + 20 + index * 4, 4)) & 0xffffffff);
    };
    Block block;
    block.at = at + header_size;
    block.time_size = time_size;
    block.times = count(3);
    block.types = count(4);
    block.size = block.times * (time_size + 1) + block.types * type_size + count(5) + count(2) * (time_size + 4) +
                 count(1) + count(0);
    if (block.types == 0 || block.end() > bytes.size()) return std::nullopt;
    return block;
}

}  // namespace

std::optional<std::int64_t> zone_offset_at(std::string_view compiled, std::int64_t seconds) {
    auto block = block_at(compiled, 0, 4);
    if (!block) return std::nullopt;
    std::string_view footer;
    const bool has_second = compiled[4] >= '2';
    if (has_second) {
        block = block_at(compiled, block->end(), 8);
        if (!block) return std::nullopt;
        footer = compiled.substr(block->end());
    }
    const auto time = [&](std::size_t index) {
        return big_endian(compiled.substr(block->at + index * block->time_size, block->time_size));
    };
    std::size_t before = 0;  // how many changes lie before
    while (before < block->times && time(before) <= seconds) ++before;
    const bool goes_on_by_rule = footer.find(',') != std::string_view::npos;
    if (before == block->times && goes_on_by_rule) return std::nullopt;
    // Before the first change the first type holds.
    const std::size_t type = before == 0 ? 0 : static_cast<unsigned char>(compiled[block->indexes() + before - 1]);
    if (type >= block->types) return std::nullopt;
    return big_endian(compiled.substr(block->offsets() + type * type_size, 4));
}

}  // namespace storpol
