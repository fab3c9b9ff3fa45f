// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace storpol {

// The four places where one setting holds or does not; DESIGN "Four planes of one setting".
enum class Plane {
    live,       // the running kernel, now
    persisted,  // what the owning service applies next time, by the reader this host really uses
    boot,       // the artefacts that the next boot really uses
    evidence,   // whether it has in fact happened
};

inline constexpr std::array all_planes{Plane::live, Plane::persisted, Plane::boot, Plane::evidence};

std::string_view to_text(Plane plane);
std::optional<Plane> parse_plane(std::string_view text);

}  // namespace storpol
