// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// crypttab(5), as its readers take it: systemd (cryptsetup-generator.c, add_crypttab_devices) and Debian's scripts
// (cryptsetup lib/cryptsetup/functions) agree on ordinary lines. Pure and linear; any bytes are survived. Edits of a
// line are engine/text/field_edit.h's.
namespace storpol {

inline constexpr int crypttab_key_field = 3;  // fields count from 1, as model/step.h's FieldWords has them
inline constexpr int crypttab_options_field = 4;

struct CrypttabEntry {
    int line = 0;        // from 1
    std::string name;    // \040 and its like undone
    std::string source;  // "UUID=...", "/dev/sda2", likewise
    std::string key;     // "" where there is none: the field is missing, "none" or "-"
    std::vector<std::string> options;
    std::string options_text;  // the whole field as written: "-", "none"; empty where it is missing
    int fields = 0;            // that the line has, from 2

    bool has(std::string_view word) const;                            // "luks"
    std::optional<std::string> value_of(std::string_view key) const;  // "512" of size=512; the last one
    // A new key at each boot: swap and temporary space. Nothing is kept on such a mapping, and one wrong edit makes the
    // boot ask for a passphrase.
    bool has_random_key() const;
    // Opened as something without a LUKS header: plain, loop-AES, TrueCrypt, BitLocker.
    bool is_other_than_luks() const;
    bool operator==(const CrypttabEntry&) const = default;
};

struct CrypttabRejected {  // a line that is neither blank nor a comment and that readers skip
    int line = 0;
    std::string why;
    bool operator==(const CrypttabRejected&) const = default;
};

struct Crypttab {
    std::vector<CrypttabEntry> entries;  // in file order; of two with one name the first counts
    std::vector<CrypttabRejected> rejected;

    const CrypttabEntry* find(std::string_view name) const;
};

Crypttab parse_crypttab(std::string_view text);

}  // namespace storpol
