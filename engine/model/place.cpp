// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/place.h"

namespace storpol {

std::string to_text(const Place& place) {
    std::string text = place.file;
    if (place.line <= 0) return text;
    text += ':' + std::to_string(place.line);
    if (place.column > 0) text += ':' + std::to_string(place.column);
    return text;
}

}  // namespace storpol
