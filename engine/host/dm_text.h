// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What device-mapper says of a device, as text: tables and status lines to the properties that dm-table and dm-status
// answer (engine/host/query.h). Pure.
namespace storpol {

// One segment: "0 3039232 crypt aes-xts-plain64 :64:logon:cryptsetup:UUID-d0 0 259:0 32768 1 allow_discards".
struct DmTarget {
    std::uint64_t start = 0;   // in sectors of 512 bytes
    std::uint64_t length = 0;  // likewise
    std::string type;
    std::string parameters;  // of the table or the status; of a table never with a key
};

struct DmDevice {
    std::string name;
    std::string uuid;
    std::string number;  // "253:0"
    bool is_suspended = false;
    bool is_read_only = false;
    bool has_live_table = false;
    bool has_inactive_table = false;
    std::vector<DmTarget> targets;
};

// The parameters of a table line with everything that may be a key taken out: the kernel shows the key of a dm-crypt
// mapping in hex unless it lies in a keyring (linux drivers/md/dm-crypt.c crypt_status), and keyed integrity hashes.
std::string without_key(std::string_view type, std::string_view parameters);

// key=value lines. The features of several segments are those that all of them have.
std::string describe_dm_table(const DmDevice& device);
std::string describe_dm_status(const DmDevice& device);

}  // namespace storpol
