// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/crypt_options.h"

#include <algorithm>
#include <cctype>
#include <span>

#include "engine/base/text.h"
#include "engine/text/kernel_cmdline.h"
#include "engine/text/unit_file.h"

namespace storpol {
namespace {

struct Word {
    std::string_view word;
    std::string_view flag;
};

// The first word of a flag is the one to write. systemd src/cryptsetup/cryptsetup.c, parse_one_option: the alias is not
// documented. A misspelt word never fails a boot, it does nothing.
constexpr std::array systemd_words{
    Word{"discard", "allow-discards"},
    Word{"allow-discards", "allow-discards"},
    Word{"no-read-workqueue", "no-read-workqueue"},
    Word{"no-write-workqueue", "no-write-workqueue"},
    Word{"same-cpu-crypt", "same-cpu-crypt"},
    Word{"submit-from-crypt-cpus", "submit-from-crypt-cpus"},
};
// cryptsetup debian/functions, crypttab_validate_option.
constexpr std::array debian_words{
    Word{"discard", "allow-discards"},
    Word{"no-read-workqueue", "no-read-workqueue"},
    Word{"no-write-workqueue", "no-write-workqueue"},
    Word{"same-cpu-crypt", "same-cpu-crypt"},
    Word{"submit-from-crypt-cpus", "submit-from-crypt-cpus"},
};
// dracut modules.d/70crypt/cryptroot-ask.sh.
constexpr std::array dracut_words{Word{"allow-discards", "allow-discards"}};
// mkinitcpio hooks/encrypt.
constexpr std::array arch_words{
    Word{"allow-discards", "allow-discards"},         Word{"discard", "allow-discards"},
    Word{"no-read-workqueue", "no-read-workqueue"},   Word{"perf-no_read_workqueue", "no-read-workqueue"},
    Word{"no-write-workqueue", "no-write-workqueue"}, Word{"perf-no_write_workqueue", "no-write-workqueue"},
};

std::span<const Word> words_of(CryptReader reader) {
    switch (reader) {
        case CryptReader::systemd:
            return systemd_words;
        case CryptReader::debian_scripts:
            return debian_words;
        case CryptReader::dracut_scripts:
            return dracut_words;
        case CryptReader::arch_encrypt:
            return arch_words;
    }
    return {};
}

bool is_uuid(std::string_view text) {
    if (text.size() != 36) return false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool dash = at == 8 || at == 13 || at == 18 || at == 23;
        if (dash ? text[at] != '-' : std::isxdigit(static_cast<unsigned char>(text[at])) == 0) return false;
    }
    return true;
}

// "UUID=rest" in its two parts; the first empty where it does not begin with a uuid.
std::pair<std::string, std::string_view> split_uuid(std::string_view value) {
    const auto equals = value.find('=');
    if (equals == std::string_view::npos) return {{}, value};
    const auto uuid = luks_uuid(value.substr(0, equals));
    if (!is_uuid(uuid)) return {{}, value};
    return {uuid, value.substr(equals + 1)};
}

class LuksReader {
  public:
    LuksReader(const PlacedArguments& arguments, bool in_initramfs) {
        for (const auto& argument : arguments) {
            std::string_view name = argument.name;
            if (in_initramfs && name.starts_with("rd.")) name.remove_prefix(3);
            take(name, argument);
        }
    }

    LuksArguments found;

  private:
    LuksArguments::Disk& disk(const std::string& uuid) {
        const auto at = std::ranges::find(found.disks, uuid, &LuksArguments::Disk::uuid);
        if (at != found.disks.end()) return *at;
        found.disks.push_back({uuid, {}, false, nullptr, nullptr});
        return found.disks.back();
    }

    void create(const std::string& uuid, std::string name, const PlacedArgument& argument) {
        auto& named = disk(uuid);
        named.is_created = true;
        if (!name.empty()) named.name = std::move(name);
        named.named_by = &argument;
        if (found.listed_by == nullptr) found.listed_by = &argument;
    }

    void take(std::string_view name, const PlacedArgument& argument) {
        // Without a value a switch is on.
        const auto is_on = [&] { return !argument.value || parse_unit_boolean(*argument.value).value_or(true); };
        if (name == "luks") found.is_enabled = is_on();
        if (same_argument(name, "luks.crypttab")) found.reads_crypttab = is_on();
        if (!argument.value) return;
        const auto [uuid, rest] = split_uuid(*argument.value);
        if (same_argument(name, "luks.uuid")) {
            create(luks_uuid(*argument.value), {}, argument);
        } else if (same_argument(name, "luks.name") && !uuid.empty()) {
            create(uuid, std::string(rest), argument);
        } else if (same_argument(name, "luks.key") && !uuid.empty()) {
            disk(uuid);
        } else if (same_argument(name, "luks.options")) {
            (uuid.empty() ? found.default_options : disk(uuid).options) = &argument;
        }
    }
};

}  // namespace

std::string_view to_text(CryptReader reader) {
    switch (reader) {
        case CryptReader::systemd:
            return "systemd-cryptsetup";
        case CryptReader::debian_scripts:
            return "Debian's cryptsetup scripts";
        case CryptReader::dracut_scripts:
            return "dracut's cryptroot-ask";
        case CryptReader::arch_encrypt:
            return "mkinitcpio's encrypt hook";
    }
    return {};
}

std::optional<std::string_view> flag_of_option(CryptReader reader, std::string_view word) {
    for (const auto& known : words_of(reader)) {
        if (known.word == word) return known.flag;
    }
    return std::nullopt;
}

std::optional<std::string_view> option_of_flag(CryptReader reader, std::string_view flag) {
    for (const auto& known : words_of(reader)) {
        if (known.flag == flag) return known.word;
    }
    return std::nullopt;
}

std::optional<std::string_view> flag_meant(CryptReader reader, std::string_view word) {
    if (flag_of_option(reader, word)) return std::nullopt;
    for (const auto other :
         {CryptReader::systemd, CryptReader::debian_scripts, CryptReader::dracut_scripts, CryptReader::arch_encrypt}) {
        if (const auto flag = flag_of_option(other, word)) return flag;
    }
    if (word == "discards" || word == "allow-discard" || word == "trim") return "allow-discards";
    return std::nullopt;
}

PlacedArguments place_arguments(std::string_view text, const Place& place, std::optional<std::size_t> offset) {
    PlacedArguments placed;
    const auto line = KernelCommandLine::parse(text);
    for (const auto& argument : line.arguments()) {
        PlacedArgument word;
        word.name = argument.name;
        word.value = argument.value;
        word.word = text.substr(argument.begin, argument.end - argument.begin);
        word.place = place;
        if (offset) word.offset = *offset + argument.begin;
        placed.push_back(std::move(word));
    }
    return placed;
}

const LuksArguments::Disk* LuksArguments::find(std::string_view uuid) const {
    const auto at = std::ranges::find_if(disks, [&](const Disk& disk) { return same_uuid(disk.uuid, uuid); });
    return at == disks.end() ? nullptr : &*at;
}

LuksArguments read_luks_arguments(const PlacedArguments& arguments, bool in_initramfs) {
    return LuksReader(arguments, in_initramfs).found;
}

std::vector<std::string> words_of_luks_options(const PlacedArgument& argument) {
    std::vector<std::string> words;
    if (!argument.value) return words;
    for (const auto word : split(split_uuid(*argument.value).second, ',')) {
        if (!word.empty()) words.emplace_back(word);
    }
    return words;
}

// cryptdevice=UUID=34678185-9342-59cb-b525-897a1e80b8d7:cryptlvm:allow-discards
std::optional<CryptDevice> read_cryptdevice(const PlacedArguments& arguments) {
    std::optional<CryptDevice> found;
    for (const auto& argument : arguments) {
        if (argument.name != "cryptdevice" || !argument.value) continue;
        const auto parts = split(*argument.value, ':');
        CryptDevice device;
        device.argument = &argument;
        device.source = parts[0];
        device.name = parts.size() > 1 && !parts[1].empty() ? std::string(parts[1]) : "root";
        if (parts.size() > 2) {
            for (const auto word : split(parts[2], ',')) {
                if (!word.empty()) device.options.emplace_back(word);
            }
        }
        found = std::move(device);
    }
    return found;
}

std::string luks_uuid(std::string_view text) {
    if (text.starts_with("luks-")) text.remove_prefix(5);
    std::string uuid(text);
    std::ranges::transform(uuid, uuid.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return uuid;
}

bool same_uuid(std::string_view one, std::string_view other) {
    const auto digits = [](std::string_view text) {
        auto plain = luks_uuid(text);
        std::erase(plain, '-');
        return plain;
    };
    const auto wanted = digits(one);
    return !wanted.empty() && wanted == digits(other);
}

}  // namespace storpol
