// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/condition.h"
#include "resources/mount/option_set.h"

namespace storpol {

// The word that gives a property this value on this filesystem ("nodiscard", "commit=300"); none where it has no word.
std::optional<std::string> word_that_sets(std::string_view fstype, std::string_view property, const Value& value);

// The value to aim for where a Condition leaves a choice: for a ban the default if it is allowed, else off; for "anything but
// off" what the filesystem recommends (btrfs: async).
std::optional<Value> value_to_set(std::string_view fstype, std::string_view property, const Condition& condition, const MountFacts& facts);

// One options text on its way to what is wanted.
struct LineEdit {
    std::vector<std::string> take_out;
    std::vector<std::string> put_in;
    std::string after;  // the whole text then
};

struct WantedProperty {
    std::string property;
    Condition condition;
    std::string word;  // of words that never reach the kernel: the word itself; empty for properties of the table
};

// Works out the words to change so that a mount with this line has all of `wanted`, touching as few as possible: a word that
// sets it is replaced in place, and taken out where the default is as wanted; new ones go to the end. Checked by reading
// the result: an Error where another word of the line undoes it, or where it would change what the line says otherwise.
Result<LineEdit> edit_options_line(std::string_view fstype, std::string_view options, const std::vector<WantedProperty>& wanted,
                                   const MountFacts& facts);

}  // namespace storpol
