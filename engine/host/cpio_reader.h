// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace storpol {

// Picks one file out of a stream of newc cpio archives, fed in pieces of any size. Keeps the wanted file and nothing
// else. Pure.
class CpioReader {
  public:
    CpioReader(std::string_view wanted, std::size_t largest);

    // Takes bytes off the front of `in`: all of them, or up to the first that begins no archive (where a compressed
    // stream may begin). False for damage, then error() is an errno.
    bool feed(std::string_view& in);

    bool is_between() const { return state_ == State::between; }  // behind an archive's file, or at the very start

    int error() const { return error_; }

    // The file as the last archive that has it holds it.
    const std::optional<std::string>& found() const { return found_; }

  private:
    enum class State { between, header, name, skip, data };

    bool start_name();
    bool start_data();
    void finish_member();
    bool fail(int code);
    std::uint64_t field(std::size_t number) const;  // of the header; UINT64_MAX when it is no number

    std::string wanted_;
    std::size_t largest_;
    State state_ = State::between;
    int error_ = 0;
    std::string header_;
    std::string name_;
    std::uint64_t name_size_ = 0;
    std::uint64_t left_ = 0;     // of the name with its padding, or of what is skipped or kept
    std::uint64_t padding_ = 0;  // behind the kept data
    std::uint64_t data_size_ = 0;
    std::string data_;
    std::optional<std::string> found_;
    std::string link_;  // inode of the wanted file when its data come with a later link to it
};

}  // namespace storpol
