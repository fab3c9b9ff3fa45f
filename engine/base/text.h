// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Small pure helpers on text. Views returned point into the argument.
namespace storpol {

std::string_view trim(std::string_view text);                                // spaces, tabs, CR, LF at both ends
std::vector<std::string_view> split(std::string_view text, char separator);  // "a,,b" gives three parts; "" gives one
std::vector<std::string_view> split_words(std::string_view text);            // by runs of blanks; none for ""
// Lines without their '\n'; a final line without one counts, an empty text has none. A '\r' stays.
std::vector<std::string_view> split_lines(std::string_view text);
std::string join(std::span<const std::string> parts, std::string_view separator);

// The whole text as a decimal number with optional sign; nothing else, no spaces, no overflow.
std::optional<std::int64_t> parse_int(std::string_view text);

// Text of the host made safe to print: control characters and bytes that are not UTF-8 become \xNN.
// '\n' and '\t' too, so that the answer is one line. Backslash stays as it is: for people, not for reading back.
std::string printable(std::string_view text);

// The reversible form captures and journals use: as printable(), and backslash becomes "\\".
std::string escape_bytes(std::string_view bytes);
std::optional<std::string> unescape_bytes(std::string_view text);  // none for a malformed escape

// A JSON string literal with its quotes: how names stand in addresses.
std::string quote_json(std::string_view text);

// `*` any run, `?` one byte, everything else itself ('[' too, as addresses hold it). Linear in practice, never
// exponential.
bool glob_match(std::string_view pattern, std::string_view text);

// The candidate nearest to a mistyped word, if one is near enough to be worth suggesting.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace storpol
