// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/plan.h"

namespace storpol {

class Host;

// What resources proposed, made into one plan: all edits of a file folded into one replacement with its diff, equal
// generators made one, actions ordered (by what they read and touch, then by domain and target, generators last) and
// numbered. An edit whose digest is not that of the file as `host` reads it is a bug of its resource; two edits of one
// field that contradict each other are one too.
Plan make_plan(std::vector<Action> proposed, std::vector<Gap> gaps, Host& host);

// `diff -u` of two texts with the path as both names; empty for equal texts. An absent side is std::string_view{} (no
// data, other than the empty text of an empty file) and is named /dev/null. The bytes are the files': printable() is
// the reader's.
std::string unified_diff(std::string_view path, std::string_view before, std::string_view after);

}  // namespace storpol
