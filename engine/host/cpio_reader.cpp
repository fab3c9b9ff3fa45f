// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/cpio_reader.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace storpol {
namespace {

// linux Documentation/driver-api/early-userspace/buffer-format.rst: "070701", then 13 numbers of eight hex digits.
constexpr std::size_t header_size = 110;
constexpr std::size_t magic_length = 6;
constexpr std::size_t inode_field = 0;
constexpr std::size_t mode_field = 1;
constexpr std::size_t links_field = 4;
constexpr std::size_t size_field = 6;
constexpr std::size_t major_field = 7;
constexpr std::size_t minor_field = 8;
constexpr std::size_t name_size_field = 11;
constexpr std::uint64_t type_mask = 0170000;
constexpr std::uint64_t regular = 0100000;
constexpr std::uint64_t longest_name = 4096;  // PATH_MAX: the kernel passes over a longer one
constexpr std::string_view trailer = "TRAILER!!!";

std::uint64_t padded(std::uint64_t size) {
    return (size + 3) & ~std::uint64_t{3};
}

}  // namespace

std::string_view cpio_name(std::string_view name) {
    for (;;) {
        if (name.starts_with('/'))
            name.remove_prefix(1);
        else if (name.starts_with("./"))
            name.remove_prefix(2);
        else
            return name;
    }
}

bool CpioReader::fail(int code) {
    error_ = code;
    return false;
}

std::uint64_t CpioReader::field(std::size_t number) const {
    const char* start = header_.data() + magic_length + number * 8;
    std::uint64_t value = 0;
    const auto read = std::from_chars(start, start + 8, value, 16);
    return read.ec == std::errc() && read.ptr == start + 8 ? value : UINT64_MAX;
}

bool CpioReader::feed(std::string_view& in) {
    while (!in.empty()) {
        if (state_ == State::between) {
            in.remove_prefix(std::min(in.find_first_not_of('\0'), in.size()));
            if (in.empty() || in.front() != '0') return true;
            header_.clear();
            state_ = State::header;
        }
        if (state_ == State::header) {
            const auto taken = std::min(in.size(), header_size - header_.size());
            header_.append(in.substr(0, taken));
            in.remove_prefix(taken);
            if (header_.size() == header_size && !start_name()) return false;
            continue;
        }
        const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(in.size(), left_));
        if (state_ == State::name) name_.append(in.substr(0, taken));
        if (state_ == State::data) data_.append(in.substr(0, taken));
        in.remove_prefix(taken);
        left_ -= taken;
        if (left_ > 0) continue;
        if (state_ == State::name) {
            if (!start_data()) return false;
        } else {
            finish_member();
        }
    }
    return true;
}

bool CpioReader::start_name() {
    const std::string_view magic = std::string_view(header_).substr(0, magic_length);
    if (magic != "070701" && magic != "070702") return fail(EINVAL);
    for (std::size_t number = 0; number < 13; ++number)
        if (field(number) == UINT64_MAX) return fail(EINVAL);
    name_size_ = field(name_size_field);
    data_size_ = field(size_field);
    const auto name_padded = padded(header_size + name_size_) - header_size;
    name_.clear();
    data_.clear();
    if (name_size_ == 0 || name_size_ > longest_name) {
        state_ = State::skip;
        left_ = name_padded + padded(data_size_);
        if (left_ == 0) state_ = State::between;
        return true;
    }
    state_ = State::name;
    left_ = name_padded;
    return true;
}

bool CpioReader::start_data() {
    name_.resize(std::min<std::size_t>(name_.size(), name_size_));
    const auto name = cpio_name(std::string_view(name_).substr(0, name_.find('\0')));
    const bool is_file = (field(mode_field) & type_mask) == regular;
    const bool is_linked = is_file && field(links_field) > 1;
    if (name == trailer) linked_.clear();
    kept_for_.clear();
    const auto choice = choose_(name, data_size_);
    if (choice != Choice::pass_over) {
        if (const auto at = files_.find(name); at != files_.end()) files_.erase(at);
    }
    if (is_file && !take_file(name, choice, is_linked ? inode() : std::string())) return false;
    state_ = kept_for_.empty() || data_size_ == 0 ? State::skip : State::data;
    padding_ = padded(data_size_) - data_size_;
    left_ = padded(data_size_);
    if (left_ == 0) state_ = State::between;
    return true;
}

std::string CpioReader::inode() const {
    return header_.substr(magic_length + inode_field * 8, 8) + header_.substr(magic_length + major_field * 8, 8) +
           header_.substr(magic_length + minor_field * 8, 8);
}

// What is no regular file has taken the place of an earlier one by then.
bool CpioReader::take_file(std::string_view name, Choice choice, const std::string& linked_as) {
    if (choice == Choice::refuse) return fail(EFBIG);
    if (choice != Choice::pass_over) {
        auto& bytes = files_[std::string(name)];
        if (choice == Choice::bytes && data_size_ == 0) bytes = "";
        if (choice == Choice::bytes) kept_for_.emplace_back(name);
    }
    if (linked_as.empty()) return true;
    // Of a file with several names the last one in the archive carries the data (cpio -o).
    if (data_size_ == 0) {
        if (choice != Choice::pass_over) linked_[linked_as].emplace_back(name);
        return true;
    }
    const auto earlier = linked_.find(linked_as);
    if (earlier == linked_.end()) return true;
    for (const auto& one : earlier->second) {
        const auto again = choose_(one, data_size_);
        if (again == Choice::refuse) return fail(EFBIG);
        files_[one].reset();
        if (again == Choice::bytes) kept_for_.push_back(one);
    }
    return true;
}

void CpioReader::finish_member() {
    if (state_ == State::data) {
        data_.resize(data_.size() - static_cast<std::size_t>(padding_));
        for (const auto& name : kept_for_) files_[name] = data_;
        data_.clear();
    }
    state_ = State::between;
}

}  // namespace storpol
