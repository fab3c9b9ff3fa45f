// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/condition.h"

namespace storpol {

namespace {

struct ConditionText {
    std::string operator()(const Is& is) const {
        if (is.slack == 0) return to_text(is.value);
        return to_text(is.value) + " (within " + std::to_string(is.slack) + ")";
    }

    std::string operator()(const AtLeast& at_least) const { return "at least " + std::to_string(at_least.bound); }

    std::string operator()(const AtMost& at_most) const { return "at most " + std::to_string(at_most.bound); }

    std::string operator()(const Not& none_of) const {
        if (none_of.values.empty()) return "not set";
        std::string text = "not ";
        for (std::size_t index = 0; index < none_of.values.size(); ++index) {
            if (index > 0) text += " or ";
            text += to_text(none_of.values[index]);
        }
        return text;
    }
};

}  // namespace

std::string to_text(const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    return std::get<std::string>(value);
}

std::string to_text(const Condition& condition) {
    return std::visit(ConditionText{}, condition);
}

}  // namespace storpol
