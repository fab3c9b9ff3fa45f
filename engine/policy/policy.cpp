// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/policy.h"

#include <algorithm>
#include <cstddef>

#include "engine/base/digest.h"
#include "engine/base/text.h"

namespace storpol {
namespace {

// The position of a file in merge order; -1 for a name there is none of.
std::ptrdiff_t position_of(const std::vector<Policy::File>& files, std::string_view name) {
    const auto found =
        std::find_if(files.begin(), files.end(), [&](const Policy::File& file) { return file.name == name; });
    return found == files.end() ? -1 : found - files.begin();
}

// So that no two lists of texts give the same bytes.
void append_framed(std::string& out, std::string_view text) {
    out += std::to_string(text.size()) + ":";
    out += text;
}

}  // namespace

const PolicyNode* PolicyTable::find(std::string_view key) const {
    for (const PolicyEntry& entry : entries) {
        if (entry.key == key) return &entry.value;
    }
    return nullptr;
}

std::optional<bool> PolicyNode::boolean() const {
    const bool* value = std::get_if<bool>(&inner);
    return value ? std::optional<bool>(*value) : std::nullopt;
}

Condition PolicyNode::condition() const {
    if (const PolicyTable* bounds = table()) {
        if (const PolicyNode* least = bounds->find("at-least"); least && least->number) return AtLeast{*least->number};
        if (const PolicyNode* most = bounds->find("at-most"); most && most->number) return AtMost{*most->number};
    }
    if (number) return Is{*number};
    return Is{text};
}

bool Policy::is_unmanaged(std::string_view address, const std::vector<Place>& places) const {
    std::ptrdiff_t last = -1;
    for (const Place& place : places) last = std::max(last, position_of(files_, place.file));
    return std::any_of(unmanaged_.begin(), unmanaged_.end(), [&](const Unmanaged& entry) {
        return position_of(files_, entry.place.file) > last && glob_match(entry.address, address);
    });
}

bool Policy::is_builtin(const Place& place) const {
    return place.file.starts_with("builtin:");
}

std::string Policy::digest() const {
    std::string framed;
    for (const File& file : files_) {
        append_framed(framed, file.name);
        append_framed(framed, file.bytes);
    }
    return digest_of(framed);
}

std::string_view Policy::line_at(const Place& place) const {
    const std::ptrdiff_t position = position_of(files_, place.file);
    if (position < 0 || place.line <= 0) return {};
    const std::vector<std::string_view> lines = split_lines(files_[static_cast<std::size_t>(position)].bytes);
    const auto index = static_cast<std::size_t>(place.line) - 1;
    return index < lines.size() ? lines[index] : std::string_view{};
}

}  // namespace storpol
