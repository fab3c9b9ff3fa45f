// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace storpol {

// The regular files of the archives, by names without a leading "/" or "./", as the last archive that has each holds
// it: the bytes, or none where they were not kept.
using CpioFiles = std::map<std::string, std::optional<std::string>, std::less<>>;

// Picks files out of a stream of newc cpio archives, fed in pieces of any size. Pure.
class CpioReader {
  public:
    // Is a file of that name and size to be looked at: not at all, by its name, or with its bytes? `refuse` is EFBIG.
    enum class Choice { pass_over, name, bytes, refuse };
    using Choose = std::function<Choice(std::string_view name, std::uint64_t size)>;

    explicit CpioReader(Choose choose) : choose_(std::move(choose)) {}

    // Takes bytes off the front of `in`: all of them, or up to the first that begins no archive (where a compressed
    // stream may begin). False for damage, then error() is an errno.
    bool feed(std::string_view& in);

    bool is_between() const { return state_ == State::between; }  // behind an archive's file, or at the very start

    int error() const { return error_; }

    const CpioFiles& files() const { return files_; }

  private:
    enum class State { between, header, name, skip, data };

    bool start_name();
    bool start_data();
    bool take_file(std::string_view name, Choice choice, const std::string& linked_as);
    std::string inode() const;
    void finish_member();
    bool fail(int code);
    std::uint64_t field(std::size_t number) const;  // of the header; UINT64_MAX when it is no number

    Choose choose_;
    State state_ = State::between;
    int error_ = 0;
    std::string header_;
    std::string name_;
    std::uint64_t name_size_ = 0;
    std::uint64_t left_ = 0;     // of the name with its padding, or of what is skipped or kept
    std::uint64_t padding_ = 0;  // behind the kept data
    std::uint64_t data_size_ = 0;
    std::string data_;
    std::vector<std::string> kept_for_;  // the names that `data_` is of
    CpioFiles files_;
    // By inode the files whose data come with a later link to them.
    std::map<std::string, std::vector<std::string>> linked_;
};

// The name as CpioFiles has it.
std::string_view cpio_name(std::string_view name);

}  // namespace storpol
