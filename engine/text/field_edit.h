// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace storpol {

// Changes words of one comma-separated field on one line of a file that people also edit (fstab, crypttab), as
// model/step.h's FieldWords says it. Lines and fields count from 1, fields are separated by spaces and tabs. Every
// other byte stays: blanks, CR, a missing final newline, bytes that are no UTF-8.
//
// The nth word put in takes the place of the nth word taken out; further ones go to the end of the field, also behind
// "defaults". A field that would become empty becomes "defaults". The field behind the last one is made, one blank
// after it. An Error, and nothing changed, when the line, the field or a word to take out is not there, or when a word
// to put in could not stand in such a field.
Result<std::string> edit_words(std::string_view bytes,
                               int line,
                               int field,
                               std::span<const std::string> take_out,
                               std::span<const std::string> put_in);

}  // namespace storpol
