// SPDX-License-Identifier: GPL-3.0-or-later
#include <cerrno>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/host/live_steps.h"
#include "engine/host/unit_query.h"

namespace storpol {

Result<std::string> state_of(const StartUnit& step) {
    const auto answer = UnitQuery().answer({QueryKind::unit, {step.unit}});
    if (answer.refusal) return tl::make_unexpected(*answer.refusal);
    const auto properties = parse_properties(answer.text);
    const auto state = properties.find("ActiveState");
    return state == properties.end() ? std::string("unknown") : state->second;
}

Result<std::vector<Step>> undo_of(const StartUnit& step) {
    const auto now = state_of(step);
    if (!now) return tl::make_unexpected(now.error());
    const bool runs = *now == "active" || *now == "activating" || *now == "reloading";
    if (runs != step.stop) return std::vector<Step>{};  // it is in that state already
    return std::vector<Step>{StartUnit{step.unit, !step.stop}};
}

Result<std::string> perform(const StartUnit& step) {
    const int code = UnitQuery().start(step.unit, step.stop);
    const auto* const doing =
        step.stop ? "the service manager did not stop it" : "the service manager did not start it";
    if (code == ECANCELED) {
        return fail(ErrorKind::failed, std::string(doing) + ": its job failed", printable(step.unit),
                    "systemctl status " + printable(step.unit));
    }
    if (code != 0) return fail_errno(code, doing, printable(step.unit));
    return state_of(step);
}

}  // namespace storpol
