// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace storpol {

// Variables as files of assignments leave them that a shell sources one after the other: /etc/default/grub and the
// files of /etc/default/grub.d. The value must be evaluated, not searched for: a later file replaces it, and
// X="$X more" appends. Evaluated are literals, quotes, continued lines and plain references; what depends on anything
// else (a condition, a command, another file) is unknown with its line. Nothing is run. Linear in the text; values
// have a limit, as references can double them.
class ShellAssignments {
  public:
    struct Origin {  // of one byte of a value
        std::uint32_t file = 0;
        std::uint32_t line = 0;      // from 1
        std::uint32_t offset = 0;    // in that line, from 0
        std::uint32_t is_plain = 1;  // stands there as itself, not escaped
        bool operator==(const Origin&) const = default;
    };

    struct Value {
        std::string text;
        std::vector<Origin> origins;  // one per byte
        std::string unknown;          // why it cannot be told; then the text means nothing
        std::uint32_t file = 0;       // of the last assignment
        std::uint32_t line = 0;
    };

    void source(std::string path, std::string_view bytes);

    // None where nothing assigns it (a shell then reads "").
    const Value* find(std::string_view name) const;

    const std::string& path_of(std::uint32_t file) const { return paths_[file]; }

    // Why nothing at all can be told: a file sources another one, or runs code that may assign anything.
    const std::string& unknown() const { return unknown_; }

  private:
    friend class ShellReader;
    std::vector<std::string> paths_;
    std::map<std::string, Value, std::less<>> values_;
    std::string unknown_;
    std::size_t budget_ = std::size_t{16} << 20U;  // bytes of values made so far, in all
};

}  // namespace storpol
