// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/reading.h"

#include "engine/base/result.h"

namespace storpol {

std::string_view to_text(Verdict verdict) {
    switch (verdict) {
        case Verdict::in_sync:
            return "in-sync";
        case Verdict::absent:
            return "absent";
        case Verdict::unknown:
            return "unknown";
        case Verdict::drift:
            return "drift";
    }
    STORPOL_BUG("a verdict outside its enum");
}

}  // namespace storpol
