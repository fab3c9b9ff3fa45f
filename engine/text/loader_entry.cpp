// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/loader_entry.h"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "engine/base/text.h"

namespace storpol {
namespace {

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string_view take_digits(std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end])) ++end;
    auto digits = text.substr(0, end);
    text.remove_prefix(end);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

// "arch+3-1.conf": an entry that is tried three times more and was once (boot counting).
void take_counter(LoaderEntry& entry) {
    const auto plus = entry.id.rfind('+');
    if (plus == std::string::npos) return;
    const auto counter = std::string_view(entry.id).substr(plus + 1);
    const auto left = counter.substr(0, counter.find('-'));
    if (left.empty() || !std::ranges::all_of(left, is_digit)) return;
    entry.is_exhausted = left.find_first_not_of('0') == std::string_view::npos;
    entry.id.resize(plus);
}

}  // namespace

std::vector<LoaderLine> parse_loader_lines(std::string_view text) {
    std::vector<LoaderLine> lines;
    int number = 0;
    for (const auto bytes : split_lines(text)) {
        ++number;
        const auto line = trim(bytes);
        if (line.empty() || line.front() == '#') continue;
        const auto end = std::min(line.find_first_of(" \t"), line.size());
        lines.push_back({std::string(line.substr(0, end)), std::string(trim(line.substr(end))), number});
    }
    return lines;
}

LoaderEntry parse_loader_entry(std::string_view file_name, std::string_view text) {
    LoaderEntry entry;
    entry.id = file_name.ends_with(".conf") ? file_name.substr(0, file_name.size() - 5) : file_name;
    take_counter(entry);
    for (const auto& line : parse_loader_lines(text)) {
        if (line.key == "title") entry.title = line.value;
        if (line.key == "version") entry.version = line.value;
        if (line.key == "sort-key") entry.sort_key = line.value;
        if (line.key == "machine-id") entry.machine_id = line.value;
        if (line.key == "efi") entry.efi = line.value;
        if (line.key == "uki") entry.uki = line.value;
        if (line.key == "options") entry.options.push_back(line);
        if (line.key == "linux") {
            entry.linux_path = line.value;
            entry.linux_line = line.line;
        }
        if (line.key == "initrd") {
            for (const auto word : split_words(line.value)) entry.initrds.emplace_back(word);
        }
    }
    return entry;
}

int compare_versions(std::string_view one, std::string_view other) {
    while (!one.empty() && !other.empty()) {
        if (is_digit(one.front()) && is_digit(other.front())) {
            const auto a = take_digits(one);
            const auto b = take_digits(other);
            if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
            if (a != b) return a < b ? -1 : 1;
            continue;
        }
        // What is before a release sorts below it: 6.1~rc1 < 6.1.
        if ((one.front() == '~') != (other.front() == '~')) return one.front() == '~' ? -1 : 1;
        if (one.front() != other.front()) {
            return static_cast<unsigned char>(one.front()) < static_cast<unsigned char>(other.front()) ? -1 : 1;
        }
        one.remove_prefix(1);
        other.remove_prefix(1);
    }
    if (one.empty() && other.empty()) return 0;
    if (one.empty()) return other.front() == '~' ? 1 : -1;
    return one.front() == '~' ? -1 : 1;
}

bool loader_entry_before(const LoaderEntry& one, const LoaderEntry& other) {
    if (one.is_exhausted != other.is_exhausted) return other.is_exhausted;
    if (one.sort_key.empty() != other.sort_key.empty()) return !one.sort_key.empty();
    if (!one.sort_key.empty()) {
        const auto a = std::tie(one.sort_key, one.machine_id);
        const auto b = std::tie(other.sort_key, other.machine_id);
        if (a != b) return a < b;
        if (const auto by_version = compare_versions(one.version, other.version); by_version != 0)
            return by_version > 0;
    }
    return compare_versions(one.id, other.id) > 0;
}

}  // namespace storpol
