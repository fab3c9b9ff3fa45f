// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "engine/host/dm_text.h"
#include "engine/host/initramfs.h"
#include "engine/host/luks_header.h"
#include "engine/host/lvm.h"
#include "tests/fuzz/target.h"

// What libraries, programs and drives hand to engine/host: images, headers, tables, reports. Each takes any bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace storpol;
    const std::string_view bytes = fuzz::text_of(data, size);
    static_cast<void>(image_member_of(bytes, "cryptroot/crypttab"));

    const auto read_at = [&](std::uint64_t offset, std::size_t wanted, std::string& into) {
        into = offset < bytes.size() ? bytes.substr(static_cast<std::size_t>(offset), wanted) : std::string_view();
        return 0;
    };
    static_cast<void>(parse_luks_header(read_at));

    for (const char* type : {"crypt", "integrity", "thin-pool", "cache", "raid", "thin", "snapshot"}) {
        DmDevice device;
        device.targets.push_back({0, 8, type, without_key(type, bytes)});
        fuzz::require(!describe_dm_table(device).empty(), "each table has a description");
        static_cast<void>(describe_dm_status(device));
    }
    static_cast<void>(describe_lvs(bytes));
    return 0;
}
