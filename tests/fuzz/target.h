// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/base/result.h"

// One target per file: a parser met with any bytes. libFuzzer calls it; where that is not built, replay.cpp does.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace storpol::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// A law of the parser: its violation stops the run and keeps the input.
inline void require(bool holds, std::string_view law) {
    if (!holds) STORPOL_BUG(law);
}

}  // namespace storpol::fuzz
