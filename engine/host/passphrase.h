// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace storpol {

// A secret that a person typed: in memory that is locked and wiped again, and nowhere else.
class Passphrase {
  public:
    Passphrase();
    Passphrase(const Passphrase&) = delete;
    Passphrase& operator=(const Passphrase&) = delete;
    ~Passphrase();

    std::string_view bytes() const { return {bytes_.data(), size_}; }

    bool append(char byte);  // false when it is full

  private:
    std::array<char, 512> bytes_{};  // as cryptsetup(8) bounds one typed
    std::size_t size_ = 0;
};

// Asks at the controlling terminal, without echo. Whatever ends it (also a signal) leaves the terminal as it was.
// ErrorKind::unsupported where there is none.
Result<std::unique_ptr<Passphrase>> ask_passphrase(const std::string& prompt, const char* terminal = "/dev/tty");

}  // namespace storpol
