// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/zram/wishes.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/host/swaps.h"
#include "engine/topology/topology.h"
#include "resources/zram/rule.h"

namespace storpol {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20U;

// What belongs to no plane's terms: a share of a memory that is not known.
Condition share_of_nothing(const std::string& text) {
    return Is{Value{text}};
}

// Every owner rounds a percentage in its own way, and MemTotal differs a little between boots and kernels.
Condition size_condition(std::int64_t bytes) {
    return Is{Value{bytes}, std::max(mib, bytes / 100)};
}

Condition condition_of(const ZramAsked& asked, Host& host) {
    const auto& node = *asked.node;
    if (asked.property != "size")
        return asked.property == "resident-limit" ? size_condition(*node.number) : node.condition();
    if (!node.text.ends_with('%')) return size_condition(*node.number);
    const auto memory = memory_bytes(host);
    if (!memory) return share_of_nothing(node.text);
    return size_condition(*memory * *node.number / 100 / mib * mib);
}

}  // namespace

Setting zram_setting(const ZramAsked& asked, Host& host) {
    Setting setting;
    setting.address = make_address("zram", asked.device, asked.property);
    setting.wanted = asked.node->text;
    setting.policy = {asked.node->place};
    setting.condition = condition_of(asked, host);
    return setting;
}

const ZramUnseen& zram_unseen(const Topology& topology, std::span<const Setting> settings) {
    return topology.derived<ZramUnseen>([&] {
        ZramUnseen unseen;
        for (const auto& setting : settings) {
            const auto address = parse_zram_address(setting.address);
            const bool is_unseen = address.property == "level" || address.property == "discard";
            if (is_unseen) unseen[address.device][address.property] = wanted_word(setting.condition);
        }
        return unseen;
    });
}

ZramAddress parse_zram_address(const std::string& address) {
    const auto open = address.find("[\"");
    const auto close = address.find("\"].");
    if (open == std::string::npos || close == std::string::npos || close < open)
        STORPOL_BUG("no setting of zram: " + address);
    return {address.substr(open + 2, close - open - 2), address.substr(close + 3)};
}

std::optional<std::int64_t> memory_bytes(Host& host) {
    const auto text = host.read_file("/proc/meminfo");
    const auto total = text ? meminfo_kib(*text, "MemTotal") : std::nullopt;
    if (!total || *total <= 0 || *total > (std::int64_t{1} << 40U)) return std::nullopt;
    return *total * 1024;
}

std::optional<std::int64_t> wanted_number(const Condition& condition) {
    const auto* is = std::get_if<Is>(&condition);
    const auto* number = is == nullptr ? nullptr : std::get_if<std::int64_t>(&is->value);
    return number == nullptr ? std::nullopt : std::optional<std::int64_t>(*number);
}

std::string wanted_word(const Condition& condition) {
    const auto* is = std::get_if<Is>(&condition);
    return is == nullptr ? std::string() : to_text(is->value);
}

}  // namespace storpol
