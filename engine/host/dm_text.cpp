// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/dm_text.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/base/text.h"

namespace storpol {
namespace {

using Words = std::vector<std::string_view>;

// What stands for a key that the table itself holds.
constexpr std::string_view hidden_key = "hidden";

std::string_view word_at(const Words& words, std::size_t at) {
    return at < words.size() ? words[at] : std::string_view();
}

// "2 allow_discards sector_size:4096" at `at`: the counted words. A count that is none or too large counts what is
// there.
std::vector<std::string> counted(const Words& words, std::size_t at) {
    const auto count = parse_int(word_at(words, at)).value_or(0);
    std::vector<std::string> found;
    for (std::size_t i = at + 1; i < words.size() && static_cast<std::int64_t>(found.size()) < count; ++i)
        found.emplace_back(words[i]);
    return found;
}

// One segment's properties; `features` apart, as those of several segments are joined otherwise.
struct Segment {
    std::map<std::string, std::string> properties;
    std::string list_name;  // "flags" or "features"; empty where the target has neither
    std::vector<std::string> list;
};

// aes-xts-plain64 :64:logon:cryptsetup:UUID-d0 0 259:0 32768 2 allow_discards integrity:28:aead
Segment crypt_table(const Words& words) {
    Segment found;
    found.list_name = "flags";
    found.properties["cipher"] = word_at(words, 0);
    found.properties["key"] = word_at(words, 1).starts_with(':') ? "keyring" : "table";
    for (auto& option : counted(words, 5)) {
        if (option.starts_with("integrity:")) {
            const auto parts = split(option, ':');
            found.properties["integrity"] = parts.back();
        } else {
            found.list.push_back(std::move(option));
        }
    }
    return found;
}

Segment table_of(const DmTarget& target) {
    const auto words = split_words(target.parameters);
    Segment found;
    if (target.type == "crypt") return crypt_table(words);
    if (target.type == "integrity") {  // 252:2 0 4 J 2 internal_hash:crc32c allow_discards
        found.list_name = "flags";
        found.list = counted(words, 4);
    } else if (target.type == "thin-pool") {  // 253:1 253:2 128 0 1 no_discard_passdown
        found.list_name = "features";
        found.list = counted(words, 4);
        found.properties["data"] = word_at(words, 1);
    } else if (target.type == "cache") {  // 253:2 253:1 253:3 128 2 metadata2 writethrough smq 0
        found.list_name = "features";
        found.list = counted(words, 4);
        found.properties["data"] = word_at(words, 2);
    } else if (target.type == "snapshot") {  // 253:3 253:4 P 8 1 discard_zeroes_cow
        found.list_name = "features";
        found.list = counted(words, 4);
    } else if (target.type == "thin") {  // 253:4 1
        found.properties["pool"] = word_at(words, 0);
    } else if (target.type == "raid") {  // raid1 3 0 region_size 4096 2 253:1 253:2 253:3 253:4
        found.properties["level"] = word_at(words, 0);
    }
    return found;
}

bool is_discard_word(std::string_view word) {
    static constexpr std::array<std::string_view, 3> words{"discard_passdown", "no_discard_passdown", "ignore_discard"};
    return std::ranges::find(words, word) != words.end();
}

// 1 12/1024 100/3200 - rw no_discard_passdown queue_if_no_space - 1024, or "Fail" alone.
Segment thin_pool_status(const Words& words) {
    Segment found;
    found.list_name = "features";
    if (words.size() < 5) return found;
    found.properties["metadata"] = words[1];
    found.properties["data"] = words[2];
    found.properties["mode"] = words[4];
    for (const auto word : words)
        if (is_discard_word(word)) found.list.emplace_back(word);
    return found;
}

Segment status_of(const DmTarget& target) {
    const auto words = split_words(target.parameters);
    if (target.type == "thin-pool") return thin_pool_status(words);
    Segment found;
    if (target.type != "cache") return found;
    // 8 75/1024 128 1024/8192 1 2 3 4 5 6 0 3 metadata2 writethrough no_discard_passdown 2 migration_threshold 2048 ...
    found.list_name = "features";
    found.list = counted(words, 11);
    return found;
}

// Into one: a list's words that every segment has, and the first segment's word for all else.
Segment joined(Segment first, const Segment& next) {
    for (const auto& [key, value] : next.properties) first.properties.try_emplace(key, value);
    const auto is_missing = [&](const std::string& word) {
        return std::ranges::find(next.list, word) == next.list.end();
    };
    if (first.list_name.empty()) first.list_name = next.list_name;
    std::erase_if(first.list, is_missing);
    return first;
}

template <class Describe>
Segment describe(const std::vector<DmTarget>& targets, Describe describe_one) {
    if (targets.empty()) return {};
    auto found = describe_one(targets.front());
    for (std::size_t i = 1; i < targets.size(); ++i) found = joined(std::move(found), describe_one(targets[i]));
    return found;
}

std::string render(const std::map<std::string, std::string>& properties) {
    std::string text;
    for (const auto& [key, value] : properties) text += key + "=" + printable(value) + "\n";
    return text;
}

// "hmac(sha256):0011..." of an integrity option: the key behind the last colon that follows an algorithm.
std::string integrity_option(std::string_view option) {
    for (const std::string_view name : {"internal_hash:", "journal_crypt:", "journal_mac:"}) {
        if (!option.starts_with(name)) continue;
        const auto key = option.find(':', name.size());
        return std::string(option.substr(0, key)) +
               (key == std::string_view::npos ? "" : ":" + std::string(hidden_key));
    }
    return std::string(option);
}

}  // namespace

std::string without_key(std::string_view type, std::string_view parameters) {
    if (type != "crypt" && type != "integrity") return std::string(parameters);
    std::string kept;
    const auto words = split_words(parameters);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) kept += " ";
        const bool is_key = type == "crypt" && i == 1 && !words[i].starts_with(':');
        if (is_key)
            kept += hidden_key;
        else
            kept += type == "integrity" ? integrity_option(words[i]) : std::string(words[i]);
    }
    return kept;
}

std::string describe_dm_table(const DmDevice& device) {
    auto found = describe(device.targets, table_of);
    std::vector<std::string> types;
    for (const auto& target : device.targets)
        if (std::ranges::find(types, target.type) == types.end()) types.push_back(target.type);
    found.properties["target"] = join(types, ",");
    if (device.targets.size() > 1) found.properties["segments"] = std::to_string(device.targets.size());
    if (device.is_read_only) found.properties["read-only"] = "1";
    if (device.is_suspended) found.properties["suspended"] = "1";
    if (!found.list_name.empty()) found.properties[found.list_name] = join(found.list, ",");
    return render(found.properties);
}

std::string describe_dm_status(const DmDevice& device) {
    auto found = describe(device.targets, status_of);
    found.properties["features"] = join(found.list, ",");
    return render(found.properties);
}

}  // namespace storpol
