// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/model/setting.h"

// The settings of zram devices: one per key of the policy, and what their addresses mean.
namespace storpol {

class Host;
class Topology;
struct ZramAsked;

Setting zram_setting(const ZramAsked& asked, Host& host);

// zram["zram1"].resident-limit
struct ZramAddress {
    std::string device;
    std::string property;
};

ZramAddress parse_zram_address(const std::string& address);

// What is wanted of what no kernel shows (level, discard), by device and property: no difference tells of it, and a
// device that is set up for another reason is to have it. Kept for the run from the settings it is first asked with.
using ZramUnseen = std::map<std::string, std::map<std::string, std::string>>;
const ZramUnseen& zram_unseen(const Topology& topology, std::span<const Setting> settings = {});

// The machine's memory in bytes (MemTotal); none where it cannot be read.
std::optional<std::int64_t> memory_bytes(Host& host);

// The bytes, number or word that is wanted; none where a percentage could not be worked out.
std::optional<std::int64_t> wanted_number(const Condition& condition);
std::string wanted_word(const Condition& condition);

}  // namespace storpol
