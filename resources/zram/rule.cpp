// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/zram/rule.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/host/zram_state.h"
#include "resources/keys.h"

namespace storpol {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20U;
constexpr std::int64_t most_size = std::int64_t{16} << 40U;
constexpr int most_percent = 200;

// kernel drivers/block/zram/backend_*.c: ZSTD_minCLevel() and zstd_max_clevel(), LZ4HC_MAX_CLEVEL, zlib's levels; lz4
// takes an acceleration, so that more is faster and larger.
struct NamedLevels {
    std::string_view algorithm;
    ZramLevels levels;
};

constexpr std::array<NamedLevels, 7> levels_of{{
    {"zstd", {true, false, -131072, 22}},
    {"lz4", {true, false, 1, 65537}},
    {"lz4hc", {true, false, 1, 16}},
    {"deflate", {true, false, 1, 9}},
    {"lzo", {true, true, 0, 0}},
    {"lzo-rle", {true, true, 0, 0}},
    {"842", {true, true, 0, 0}},
}};

using Objection = std::optional<Key::Objection>;

Objection check_size(const std::string&, const std::string& text) {
    if (!text.ends_with('%')) return std::nullopt;
    const auto percent = parse_percent(text);
    if (!percent) return std::nullopt;
    if (*percent == 0)
        return Key::Objection{"a size of 0% is no device at all", "write a share of the memory, such as \"50%\""};
    if (*percent > most_percent)
        return Key::Objection{text +
                                  " of the memory is more than compression gives back: managing it costs memory, "
                                  "and a machine that fills it has none left",
                              "write at most \"200%\""};
    return std::nullopt;
}

Objection check_algorithm(const std::string&, const std::string& text) {
    const bool is_word = !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (is_word) return std::nullopt;
    return Key::Objection{"\"" + printable(text) + "\" is no name of an algorithm",
                          "write a name alone, such as \"zstd\"; its level is a key of its own"};
}

std::vector<Key> device_keys() {
    Key size = key_of("size", KeyType::size_or_percent,
                      "How much can be swapped out to it, before compression: a share of the memory, or bytes. What it "
                      "takes of the memory is what the pages compress to. Compared within 1 % or 1 MiB, as every "
                      "owner of zram rounds in its own way.");
    size.min = mib;
    size.max = most_size;
    size.check = check_size;
    Key algorithm = key_of("algorithm", KeyType::word,
                           "How pages are compressed: `zstd` smallest, `lz4` fastest, `lzo-rle` the kernel's default. "
                           "/sys/block/zram0/comp_algorithm lists what a kernel has.");
    algorithm.check = check_algorithm;
    Key level =
        key_of("level", KeyType::integer,
               "Of the algorithm (zstd, lz4hc, deflate: higher is smaller and slower; lz4: higher is faster and "
               "larger). Linux 6.12 or newer. No kernel shows it, so what is live stays unknown; it takes effect "
               "when the device is set up.");
    level.min = -131072;
    level.max = 65537;
    Key priority = key_of("priority", KeyType::integer,
                          "Of the swap area: the kernel fills the one with the highest first. -1: none given.");
    priority.min = -1;
    priority.max = 32767;
    Key limit = key_of("resident-limit", KeyType::size,
                       "How much memory it may take at most; \"0B\" is no limit. On swap a limit that is reached makes "
                       "writes fail without end, so choose `size` such that it never is.");
    limit.min = 0;
    limit.max = most_size;
    Key discard = key_of("discard", KeyType::word,
                         "Whether swap slots are discarded: `once` (when it is taken into use), `pages` (when they are "
                         "freed), `on` (both), `off`. zram frees a page with its slot without it. Nobody can read it "
                         "back, so what is live stays unknown.");
    discard.choices = {"on", "once", "pages", "off"};
    return {size, algorithm, level, priority, limit, discard};
}

Objection check_device(const std::string& name, const std::string& text) {
    if (!text.empty()) return std::nullopt;
    if (name == "zram0") return Key::Objection{"zram0 is [zram] itself", "write its keys under [zram]"};
    if (zram_number(name) && !name.starts_with('/')) return std::nullopt;
    return Key::Objection{"\"" + printable(name) + "\" is neither a key of [zram] nor a zram device",
                          "write a device as [zram.zram1]"};
}

PolicyError error_at(const PolicyNode& node, std::string says, std::string fix) {
    PolicyError error;
    error.where = node.place;
    error.says = std::move(says);
    error.fix = std::move(fix);
    error.width = static_cast<int>(node.text.size());
    return error;
}

void check_level(const PolicyTable& table, Notes& notes) {
    const auto* level = table.find("level");
    const auto* algorithm = table.find("algorithm");
    if (level == nullptr || !level->number) return;
    if (algorithm == nullptr) {
        notes.add(error_at(*level, "a level means nothing without its algorithm: it is another scale for each",
                           "write the algorithm beside it, such as algorithm = \"zstd\""));
        return;
    }
    const auto levels = zram_levels(algorithm->text);
    if (levels.none) {
        notes.add(error_at(*level, algorithm->text + " has no levels", "take the line out"));
    } else if (levels.known && (*level->number < levels.least || *level->number > levels.most)) {
        notes.add(error_at(*level,
                           "level " + level->text + " is out of the range of " + algorithm->text + ", " +
                               std::to_string(levels.least) + " to " + std::to_string(levels.most),
                           "write a level in that range"));
    }
}

void add_device(const std::string& device, const PolicyTable& table, std::vector<ZramAsked>& asked, Notes& notes) {
    check_level(table, notes);
    for (const auto& entry : table.entries) {
        if (entry.value.table() == nullptr) asked.push_back({device, entry.key, &entry.value});
    }
}

}  // namespace

ZramLevels zram_levels(std::string_view algorithm) {
    const auto found = std::ranges::find(levels_of, algorithm, &NamedLevels::algorithm);
    return found == levels_of.end() ? ZramLevels{} : found->levels;
}

PolicyKeys zram_keys() {
    Key zram = key_of("zram", KeyType::table,
                      "Compressed swap in memory. These keys are of zram0; another device is a table of its own, "
                      "`[zram.zram1]`.");
    zram.keys = device_keys();
    Key other = key_of("*", KeyType::table, "Another device: `[zram.zram1]`, with the same keys.");
    other.keys = device_keys();
    other.check = check_device;
    zram.keys.push_back(other);
    return {{zram}};
}

std::vector<ZramAsked> read_zram_policy(const Policy& policy, Notes& notes) {
    std::vector<ZramAsked> asked;
    const auto* zram = policy.find("zram");
    if (zram == nullptr || zram->table() == nullptr) return asked;
    add_device("zram0", *zram->table(), asked, notes);
    std::map<int, const PolicyEntry*> others;
    for (const auto& entry : zram->table()->entries) {
        const auto number = zram_number(entry.key);
        if (entry.value.table() != nullptr && number) others[*number] = &entry;
    }
    for (const auto& [number, entry] : others) add_device(entry->key, *entry->value.table(), asked, notes);
    return asked;
}

}  // namespace storpol
