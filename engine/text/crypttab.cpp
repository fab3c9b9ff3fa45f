// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/crypttab.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"
#include "engine/text/fstab.h"

namespace storpol {
namespace {

constexpr std::array<std::string_view, 3> random_devices{"/dev/urandom", "/dev/random", "/dev/hwrng"};
// Words that make a mapping something else than LUKS (crypttab(5)); "cipher=" alone says nothing.
constexpr std::array<std::string_view, 6> other_kinds{"plain", "tcrypt", "bitlk", "loopaes", "truecrypt", "fvault2"};

std::vector<std::string> words_of(std::string_view field) {
    std::vector<std::string> words;
    for (const auto word : split(field, ',')) {
        if (!word.empty()) words.emplace_back(word);
    }
    return words;
}

// cryptdata UUID=f6a93539-a91a-5ef4-b848-7e6c56e300f8 none luks,discard
CrypttabEntry parse_fields(const std::vector<std::string_view>& fields, int line) {
    CrypttabEntry entry;
    entry.line = line;
    entry.fields = static_cast<int>(fields.size());
    entry.name = unescape_fstab_field(fields[0]);
    entry.source = unescape_fstab_field(fields[1]);
    if (fields.size() > 2 && fields[2] != "none" && fields[2] != "-") entry.key = unescape_fstab_field(fields[2]);
    if (fields.size() > 3) entry.options_text = fields[3];
    if (fields.size() > 3 && fields[3] != "none" && fields[3] != "-") entry.options = words_of(fields[3]);
    return entry;
}

}  // namespace

bool CrypttabEntry::has(std::string_view word) const {
    return std::ranges::any_of(options, [&](const std::string& option) { return option == word; });
}

std::optional<std::string> CrypttabEntry::value_of(std::string_view wanted) const {
    std::optional<std::string> found;
    for (const auto& option : options) {
        if (option.size() > wanted.size() && option.starts_with(wanted) && option[wanted.size()] == '=')
            found = option.substr(wanted.size() + 1);
    }
    return found;
}

bool CrypttabEntry::has_random_key() const {
    if (std::ranges::find(random_devices, std::string_view(key)) != random_devices.end()) return true;
    return has("swap") || has("tmp") || value_of("tmp").has_value();
}

bool CrypttabEntry::is_other_than_luks() const {
    return std::ranges::any_of(other_kinds, [&](std::string_view word) { return has(word); });
}

const CrypttabEntry* Crypttab::find(std::string_view name) const {
    const auto found = std::ranges::find(entries, name, &CrypttabEntry::name);
    return found == entries.end() ? nullptr : &*found;
}

Crypttab parse_crypttab(std::string_view text) {
    Crypttab table;
    int number = 0;
    for (const auto bytes : split_lines(text)) {
        ++number;
        const auto line = trim(bytes);
        if (line.empty() || line.front() == '#') continue;
        const auto fields = split_words(line);
        if (fields.size() < 2) {
            table.rejected.push_back({number, "it names no device"});
            continue;
        }
        table.entries.push_back(parse_fields(fields, number));
    }
    return table;
}

}  // namespace storpol
