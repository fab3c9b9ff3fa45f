// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.h"
#include "resources/mount/options.h"

// One word's value in the one spelling of options.h. Shared by the files of this folder.
namespace storpol {

// "commit=010" -> "8", "allocsize=64m" -> "67108864", "compress-force=zstd:99" -> "force-zstd:15", "nodiscard" ->
// "off". An Error where the kernel refuses the value.
Result<std::string> value_of_word(const OptionSpec& spec, std::string_view word);

// The same back: the word that sets `value`, with its value as the kernel shows it; none where this row cannot.
std::optional<std::string> word_for_value(const OptionSpec& spec, std::string_view value);

// Numbers as the kernel reads them (kstrtouint, base 0): "300", "0x12c", "0454".
std::optional<std::int64_t> parse_option_number(std::string_view text);
// Digits, then one of k, m, g or nothing (fs/xfs suffix_kstrtoint, lib memparse).
std::optional<std::int64_t> parse_option_size(std::string_view text);

}  // namespace storpol
