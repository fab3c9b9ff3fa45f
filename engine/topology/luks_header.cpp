// SPDX-License-Identifier: GPL-3.0-or-later
#include <cerrno>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/crypt_mapping.h"

namespace storpol {
namespace {

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (const auto word : split(text, ',')) {
        if (!word.empty()) words.emplace_back(word);
    }
    return words;
}

// "LUKS2", "LUKS1", "PLAIN", ... of "CRYPT-LUKS2-...".
std::string_view live_type(const CryptMapping& mapping) {
    std::string_view uuid = mapping.live == nullptr ? std::string_view() : std::string_view(mapping.live->dm_uuid);
    if (!uuid.starts_with("CRYPT-")) return {};
    uuid.remove_prefix(6);
    return uuid.substr(0, uuid.find('-'));
}

// Why there is no LUKS header to ask for; empty where there may be one.
std::string reason_for_none(const CryptMapping& mapping) {
    if (!mapping.random_key.empty()) return mapping.random_key;
    const auto type = live_type(mapping);
    if (!type.empty() && !type.starts_with("LUKS"))
        return "it is open as " + std::string(type) + ", which has no LUKS header";
    if (type.empty() && mapping.line && mapping.line->is_other_than_luks())
        return to_text(mapping.line_place) + " opens it as something else than LUKS";
    return {};
}

// Where the header is. Not the device itself for header=FILE; FILE:DEVICE is a file on another device, which only the
// boot mounts.
void find_device(const CryptMapping& mapping, LuksHeader& header) {
    header.device = mapping.device;
    const auto detached = mapping.line ? mapping.line->value_of("header") : std::nullopt;
    if (!detached) return;
    header.is_detached = true;
    header.device = *detached;
    if (detached->find(':') != std::string::npos)
        header.unknown =
            "its header is the file " + printable(*detached) + " of another device, which is not mounted here";
}

LuksHeader read_header(const CryptMapping& mapping, Host& host) {
    LuksHeader header;
    header.none = reason_for_none(mapping);
    if (!header.none.empty()) return header;
    find_device(mapping, header);
    if (!header.unknown.empty()) return header;
    if (!header.device.starts_with('/')) {
        header.unknown = header.device.empty() ? "what lies below it is not known"
                                               : printable(header.device) + " names no device and no file";
        return header;
    }
    const auto facts = host.luks(header.device);
    if (!facts) {
        const bool is_luks = live_type(mapping).starts_with("LUKS");
        if (facts.error().code == EINVAL && is_luks)
            header.unknown = header.device + " has no LUKS header, though the mapping is LUKS: is it detached?";
        else
            header.unknown = to_text(facts.error());
        return header;
    }
    const auto value = [&](const char* key) {
        const auto at = facts->find(key);
        return at == facts->end() ? std::string() : at->second;
    };
    header.uuid = luks_uuid(value("uuid"));
    if (!mapping.uuid.empty() && !header.uuid.empty() && !same_uuid(mapping.uuid, header.uuid)) {
        header.unknown =
            "the header of " + header.device + " is that of another volume (" + printable(header.uuid) + ")";
        return header;
    }
    header.version = value("version") == "2" ? 2 : value("version") == "1" ? 1 : 0;
    header.integrity = value("integrity");
    header.tokens = words_of(value("tokens"));
    for (auto& flag : words_of(value("flags"))) header.flags.insert(std::move(flag));
    if (header.version == 0) header.unknown = "the header of " + header.device + " is of no version that is known here";
    if (header.version == 1) header.flags.clear();
    return header;
}

}  // namespace

const LuksHeader& CryptMappings::header_of(const CryptMapping& mapping) const {
    if (const auto known = headers_.find(mapping.name); known != headers_.end()) return known->second;
    return headers_.emplace(mapping.name, read_header(mapping, *host_)).first->second;
}

}  // namespace storpol
