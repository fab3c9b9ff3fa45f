// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/plane.h"

#include "engine/base/result.h"

namespace storpol {

std::string_view to_text(Plane plane) {
    switch (plane) {
        case Plane::live:
            return "live";
        case Plane::persisted:
            return "persisted";
        case Plane::boot:
            return "boot";
        case Plane::evidence:
            return "evidence";
    }
    STORPOL_BUG("a plane outside its enum");
}

std::optional<Plane> parse_plane(std::string_view text) {
    for (const Plane plane : all_planes) {
        if (to_text(plane) == text) return plane;
    }
    return std::nullopt;
}

}  // namespace storpol
