// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/place.h"

// Options of dm-crypt mappings as their readers spell and take them, and the words about them on a kernel command line.
// Pure.
namespace storpol {

// Who opens a mapping from text. Each knows other words for the same thing.
enum class CryptReader {
    systemd,         // systemd-cryptsetup, in the initramfs or the system
    debian_scripts,  // cryptsetup-initramfs and cryptdisks of Debian
    dracut_scripts,  // cryptroot-ask of dracut without systemd
    arch_encrypt,    // mkinitcpio's `encrypt` hook: the command line alone
};
std::string_view to_text(CryptReader reader);

// What a mapping may do, in the words of the LUKS2 header (cryptsetup lib/luks2/luks2_json_metadata.c,
// persistent_flags).
inline constexpr std::array<std::string_view, 5> crypt_flags{
    "allow-discards", "no-read-workqueue", "no-write-workqueue", "same-cpu-crypt", "submit-from-crypt-cpus"};

// The flag that an option word sets for this reader; none for words that mean something else or nothing to it.
std::optional<std::string_view> flag_of_option(CryptReader reader, std::string_view word);
// The word to write for a flag; none where this reader has no word for it.
std::optional<std::string_view> option_of_flag(CryptReader reader, std::string_view flag);
// The flag that another reader takes this word for: written by somebody who expected it to work here. None for words
// that are right, or nobody's.
std::optional<std::string_view> flag_meant(CryptReader reader, std::string_view word);

// A word of a command line and where it stands.
struct PlacedArgument {
    std::string name;                   // without value
    std::optional<std::string> value;   // unquoted
    std::string word;                   // as written
    Place place;                        // line 0 where lines mean nothing
    std::optional<std::size_t> offset;  // of `word` in its line, where it stands there as itself
    bool operator==(const PlacedArgument&) const = default;
};

using PlacedArguments = std::vector<PlacedArgument>;

// A line that holds nothing but a command line, from its byte `offset` on; none where the line's bytes are not the
// text.
PlacedArguments place_arguments(std::string_view text, const Place& place, std::optional<std::size_t> offset);

// What systemd's generator makes of luks.*= and, in the initramfs, rd.luks.*= (systemd
// src/cryptsetup/cryptsetup-generator.c, parse_proc_cmdline_item).
struct LuksArguments {
    struct Disk {
        std::string uuid;                         // lower case
        std::string name;                         // empty: luks-UUID
        bool is_created = false;                  // named by uuid= or name=
        const PlacedArgument* options = nullptr;  // its own options=UUID=...
        const PlacedArgument* named_by = nullptr;
    };

    std::vector<Disk> disks;                          // in the order of their first mention
    const PlacedArgument* default_options = nullptr;  // options= without a UUID: the last one
    const PlacedArgument* listed_by = nullptr;        // the first word that makes crypttab lines without one void
    bool is_enabled = true;                           // luks=no
    bool reads_crypttab = true;                       // luks.crypttab=no

    const Disk* find(std::string_view uuid) const;
};

// Points into `arguments`.
LuksArguments read_luks_arguments(const PlacedArguments& arguments, bool in_initramfs);

// The option words of options= with or without a UUID before them.
std::vector<std::string> words_of_luks_options(const PlacedArgument& argument);

// cryptdevice=DEVICE:NAME[:OPTIONS] (mkinitcpio hooks/encrypt).
struct CryptDevice {
    const PlacedArgument* argument = nullptr;
    std::string source;
    std::string name;
    std::vector<std::string> options;
};

std::optional<CryptDevice> read_cryptdevice(const PlacedArguments& arguments);

// "6171f721-1157-533d-a749-b0a49955605c" of that, of "luks-6171..." and of upper case; nothing else is changed.
std::string luks_uuid(std::string_view text);
// Equal but for dashes and case: device-mapper's uuids have no dashes.
bool same_uuid(std::string_view one, std::string_view other);

}  // namespace storpol
