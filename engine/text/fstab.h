// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// fstab(5) as libmount reads it, with the place of every byte. Our tokenizer finds the lines and the fields; each entry
// line alone is handed to libmount for acceptance and meaning, so a bad line costs itself only and line numbers are
// exact. Nothing is written here: an edit replaces one span of the bytes that were parsed and keeps all others.
namespace storpol {

// Bytes [begin, end) of the text that was parsed.
struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const { return end - begin; }

    bool operator==(const Span&) const = default;
};

// The fields of a line count from 1 in DESIGN's steps (FieldWords::field); the array below counts from 0.
inline constexpr int fstab_options_field = 4;

struct FstabEntry {
    int line = 0;        // from 1
    std::string source;  // \040 and its like undone; a tag with its quotes, UUID="..." as written
    std::string target;
    std::string fstype;
    std::string options;  // empty where the field is missing; libmount reads that as no options at all
    int freq = 0;
    int passno = 0;
    Span bytes;                                 // of the line, without its line end
    std::array<std::optional<Span>, 6> fields;  // as written, still escaped; none where the line has no such field

    bool has_options_field() const { return fields[fstab_options_field - 1].has_value(); }

    bool operator==(const FstabEntry&) const = default;
};

// A line that is neither blank nor a comment and that libmount skips. mount(8) says so once and goes on without it.
struct FstabRejected {
    int line = 0;
    std::string why;
    bool operator==(const FstabRejected&) const = default;
};

struct Fstab {
    std::vector<FstabEntry> entries;  // in file order; of two with one target the later is mounted over the earlier
    std::vector<FstabRejected> rejected;
};

// Linear in the text. Survives any bytes: CR, a BOM (which is part of the first field, as for libmount), NUL, no final
// newline.
Fstab parse_fstab(std::string_view text);

// One field as fstab spells it and back: blank, tab, newline and backslash are three octal digits. A field that would
// be taken for a comment or for nothing ("#x", "") has no spelling that all readers share; '#' is escaped too.
std::string escape_fstab_field(std::string_view field);
std::string unescape_fstab_field(std::string_view field);

}  // namespace storpol
