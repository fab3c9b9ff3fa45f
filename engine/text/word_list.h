// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <string_view>

#include "engine/base/text.h"

namespace storpol {

// Whether a comma-separated list ("allow_discards,no_read_workqueue") has this word.
inline bool has_word(std::string_view list, std::string_view word) {
    const auto words = split(list, ',');
    return std::ranges::find(words, word) != words.end();
}

}  // namespace storpol
