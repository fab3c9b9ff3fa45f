// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "resources/mount/option_change.h"
#include "resources/mount/wishes.h"

namespace storpol {

Value option_value(const std::string& text);  // "300" is a number, all else a word: the terms of a mount's Conditions

// The value to aim for. A Condition may leave a choice: of a ban the default if that is allowed, else off; of "anything
// but off" what the filesystem recommends (btrfs discards asynchronously). None where no value will do.
std::optional<WantedValue> target_value(std::string_view fstype, const MountWish& wish, const MountFacts& facts);

// The change of one options text after which all wishes hold. An Error says why there is none.
struct LineChange {
    OptionEdit edit;
    std::string after;  // the whole text then; "defaults" rather than nothing
};

Result<LineChange> change_line(std::string_view fstype,
                               std::string_view options,
                               const std::vector<const MountWish*>& wishes,
                               const MountFacts& facts);

}  // namespace storpol
