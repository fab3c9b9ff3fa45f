// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/plan.h"

#include <array>

#include "engine/base/result.h"

namespace storpol {

std::string_view to_text(When when) {
    switch (when) {
        case When::now:
            return "now";
        case When::next_mount:
            return "next-mount";
        case When::next_boot:
            return "next-boot";
        case When::by_operator:
            return "operator";
        case When::in_image:
            return "in-image";
    }
    STORPOL_BUG("a time of effect outside its enum");
}

std::optional<When> parse_when(std::string_view text) {
    constexpr std::array all{When::now, When::next_mount, When::next_boot, When::by_operator, When::in_image};
    for (const When when : all) {
        if (to_text(when) == text) return when;
    }
    return std::nullopt;
}

std::string_view to_text(Risk risk) {
    switch (risk) {
        case Risk::safe:
            return "safe";
        case Risk::guarded:
            return "guarded";
        case Risk::disruptive:
            return "disruptive";
    }
    STORPOL_BUG("a risk outside its enum");
}

}  // namespace storpol
