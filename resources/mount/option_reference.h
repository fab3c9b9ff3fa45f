// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace storpol {

// The option table as a chapter of the reference page, in Markdown: per filesystem what each option is called, its
// default, whether it is of one mount or of the superblock, and what a remount can do.
std::string render_option_reference();

}  // namespace storpol
