// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_disks.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "engine/base/text.h"

namespace storpol {
namespace {

constexpr std::uint64_t sector = 512;  // of every counter, whatever the disk's own is

std::string read_small(const std::string& path) {
    const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 512> buffer{};
    const auto size = fd ? read(fd.get(), buffer.data(), buffer.size()) : -1;
    return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
}

std::string read_again(int fd) {
    std::array<char, 512> buffer{};
    const auto size = pread(fd, buffer.data(), buffer.size(), 0);
    return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
}

void add(DiskCounters& sum, const DiskCounters& one) {
    sum.use.reads += one.use.reads;
    sum.use.writes += one.use.writes;
    sum.use.waited += one.use.waited;
    sum.written_bytes += one.written_bytes;
    sum.discards += one.discards;
    sum.discarded_bytes += one.discarded_bytes;
}

}  // namespace

//     8452        0   620610     1830     5290     3400   169416     7215        0     5140    11320      812        0
//  6422528     2270      611        4
// Kernel Documentation/block/stat.rst: reads, merged, sectors, ms; the same of writes; in flight, ms, ms; the same four
// of discards; flushes, ms.
std::optional<DiskCounters> parse_disk_counters(std::string_view text) {
    std::vector<std::uint64_t> numbers;
    for (const auto word : split_words(trim(text))) {
        const auto number = parse_int(word);
        if (!number || *number < 0) return std::nullopt;
        numbers.push_back(static_cast<std::uint64_t>(*number));
    }
    constexpr std::size_t without_discards = 11;
    constexpr std::size_t with_discards = 15;
    if (numbers.size() < without_discards) return std::nullopt;
    DiskCounters counters;
    counters.use = DiskUse{numbers[0], numbers[4], std::chrono::milliseconds(numbers[3] + numbers[7])};
    counters.written_bytes = numbers[6] * sector;
    counters.counts_discards = numbers.size() >= with_discards;
    if (counters.counts_discards) {
        counters.discards = numbers[11];
        counters.discarded_bytes = numbers[13] * sector;
    }
    return counters;
}

DiskWatch::DiskWatch(const std::vector<std::string>& disks) {
    for (const auto& disk : disks) {
        const auto folder = "/sys/block/" + disk;
        Fd file(open((folder + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
        const auto counters = file ? parse_disk_counters(read_again(file.get())) : std::nullopt;
        const bool counts = trim(read_small(folder + "/queue/iostats")) != "0";
        counts_discards_ = counts_discards_ && counters && counters->counts_discards && counts;
        has_bfq_ = has_bfq_ || read_small(folder + "/queue/scheduler").find("[bfq]") != std::string::npos;
        if (counters) files_.push_back(std::move(file));
    }
    counts_discards_ = counts_discards_ && !files_.empty();
}

DiskCounters DiskWatch::read() const {
    DiskCounters sum;
    sum.counts_discards = counts_discards_;
    for (const auto& file : files_) {
        if (const auto counters = parse_disk_counters(read_again(file.get()))) add(sum, *counters);
    }
    return sum;
}

}  // namespace storpol
