// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/setting.h"

#include "engine/base/result.h"
#include "engine/base/text.h"

namespace storpol {

std::string make_address(std::string_view domain, std::string_view name, std::string_view property) {
    std::string address(domain);
    if (!name.empty()) address += '[' + quote_json(name) + ']';
    if (!property.empty()) {
        address += '.';
        address += property;
    }
    return address;
}

const Condition& Setting::condition_on(Plane plane) const {
    const auto own = on_plane.find(plane);
    return own == on_plane.end() ? condition : own->second;
}

std::string_view to_text(DifferenceKind kind) {
    switch (kind) {
        case DifferenceKind::fresh:
            return "new";
        case DifferenceKind::changed:
            return "changed";
        case DifferenceKind::moved:
            return "moved";
    }
    STORPOL_BUG("a kind of difference outside its enum");
}

std::string_view to_text(Severity severity) {
    switch (severity) {
        case Severity::info:
            return "info";
        case Severity::warning:
            return "warning";
    }
    STORPOL_BUG("a severity outside its enum");
}

}  // namespace storpol
