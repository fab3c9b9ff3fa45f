// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/dm_crypt/refresh.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/base/text.h"
#include "engine/host/host.h"

namespace storpol {
namespace {

std::uint64_t number_of(const CrypttabEntry& line, std::string_view key) {
    const auto text = line.value_of(key);
    const auto number = text ? parse_int(*text) : std::nullopt;
    return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

// keyfile-size= bounds what is read, keyfile-offset= skips (crypttab(5)); Debian has both without the dash too.
KeyFile key_file(const std::string& path, const CrypttabEntry* line) {
    KeyFile file;
    file.path = path;
    if (line == nullptr) return file;
    file.offset = std::max(number_of(*line, "keyfile-offset"), number_of(*line, "offset_keyfile"));
    file.size = number_of(*line, "keyfile-size");
    return file;
}

// Sockets, devices and files of another filesystem ("/key:UUID=...") are none.
bool is_key_file(Host& host, const std::string& path) {
    if (!path.starts_with('/') || path.find(':') != std::string::npos) return false;
    const auto status = host.stat(path);
    return status && status->type == "file" && status->size > 0;
}

// %logon:cryptsetup:root of link-volume-key=@u::%logon:cryptsetup:root
std::optional<LinkedVolumeKey> linked_key(const CrypttabEntry& line) {
    const auto text = line.value_of("link-volume-key");
    if (!text) return std::nullopt;
    const auto at = text->find("::");
    if (at == std::string::npos || at + 2 == text->size()) return std::nullopt;
    return LinkedVolumeKey{text->substr(at + 2)};
}

bool is_on(const std::optional<std::string>& value) {
    return value && (*value == "1" || *value == "yes" || *value == "true" || *value == "on");
}

}  // namespace

std::optional<KeySource> find_key(Host& host, const CryptMapping& mapping, const LuksHeader& header) {
    const auto* line = mapping.line ? &*mapping.line : nullptr;
    if (line != nullptr) {
        // A script makes the key of what stands in the field.
        const bool is_plain_path = !line->value_of("keyscript") && !line->value_of("pkcs11-uri") &&
                                   !line->value_of("fido2-device") && !line->value_of("tpm2-device");
        if (is_plain_path && is_key_file(host, line->key)) return key_file(line->key, line);
        if (auto linked = linked_key(*line)) return *linked;
    }
    if (line == nullptr || line->key.empty()) {
        for (const auto* folder : {"/etc/cryptsetup-keys.d/", "/run/cryptsetup-keys.d/"}) {
            if (mapping.name.find('/') != std::string::npos) break;
            const auto path = folder + mapping.name + ".key";
            if (is_key_file(host, path)) return key_file(path, line);
        }
    }
    const bool has_tpm = std::ranges::find(header.tokens, "systemd-tpm2") != header.tokens.end();
    const bool asks_pin = line != nullptr && is_on(line->value_of("tpm2-pin"));
    if (has_tpm && !asks_pin) return LuksToken{};
    return std::nullopt;
}

std::string refresh_command(const CryptMapping& mapping, const std::set<std::string>& flags) {
    struct Option {
        std::string_view flag, option;
    };

    static constexpr std::array options{
        Option{"allow-discards", "--allow-discards"},
        Option{"no-read-workqueue", "--perf-no_read_workqueue"},
        Option{"no-write-workqueue", "--perf-no_write_workqueue"},
        Option{"same-cpu-crypt", "--perf-same_cpu_crypt"},
        Option{"submit-from-crypt-cpus", "--perf-submit_from_crypt_cpus"},
    };
    std::string command = "cryptsetup refresh";
    for (const auto& [flag, option] : options) {
        if (flags.contains(std::string(flag))) command += " " + std::string(option);
    }
    return command + " " + printable(mapping.name);
}

}  // namespace storpol
