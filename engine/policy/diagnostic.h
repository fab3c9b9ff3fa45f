// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/model/place.h"

namespace storpol {

class Policy;

// One error in a policy: it never depends on the host.
struct PolicyError {
    Place where;
    std::string says;  // what is wrong and why
    std::string fix;   // what to write instead; may be empty
    std::string note;  // stands after the ~~~~ under the line ("schedulers: none, bfq"); may be empty
    int width = 1;     // bytes underlined from where.column
    std::string line;  // the text of the line, filled in by whoever has the file's text

    auto operator<=>(const PolicyError&) const = default;
    bool operator==(const PolicyError&) const = default;
};

// style.md "Errors": position and sentence, the line with its number, the underline, the fix. Ends in '\n'.
std::string render(const PolicyError& error);

}  // namespace storpol
