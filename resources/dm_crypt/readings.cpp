// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/dm_crypt/readings.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/word_list.h"
#include "engine/topology/discard_layer.h"
#include "engine/topology/topology.h"

namespace storpol {
namespace {

Value value_of(const CryptProperty& property, bool is_on) {
    return Value{std::string(is_on ? property.on : property.off)};
}

std::string value_in(const std::map<std::string, std::string>& facts, const char* key) {
    const auto at = facts.find(key);
    return at == facts.end() ? std::string() : at->second;
}

bool is_follower(const Layer& layer) {
    return layer.is_dm() &&
           (layer.kind == LayerKind::linear || layer.kind == LayerKind::striped || layer.kind == LayerKind::thin_pool);
}

// Above `layer`, each once, lower ones first: the walk down from the top is turned around.
void walk_up(const Stacks& all, const Layer& layer, std::set<const Layer*>& seen, std::vector<const Layer*>& out) {
    for (const auto* above : all.above(layer)) {
        if (!is_follower(*above) || !seen.insert(above).second) continue;
        // Thin volumes have limits of their own, and what else LVM keeps on a pool (vg-pool) holds no data.
        if (above->kind != LayerKind::thin_pool) walk_up(all, *above, seen, out);
        out.push_back(above);
    }
}

// Whether a device takes discards now; none where the kernel does not say.
std::optional<bool> takes_discards(Host& host, const Layer& layer) {
    const auto bytes = queue_attribute(host, layer.device, "discard_max_bytes");
    const auto number = bytes ? parse_int(*bytes) : std::nullopt;
    return number ? std::optional(*number > 0) : std::nullopt;
}

// All that lies below takes them, as far as is known: only then does a table that is loaded anew.
bool all_below_take(Host& host, const Layer& layer, const std::set<const Layer*>& will) {
    return std::ranges::all_of(layer.below, [&](const Layer* below) {
        return will.contains(below) || takes_discards(host, *below).value_or(false);
    });
}

// A thin pool judges anew whether it can pass discards down when its table is loaded (drivers/md/dm-thin.c,
// pool_io_hints): its table says what it was asked for, its status what came of that.
bool is_stale_pool(Host& host, const Layer& pool, const std::set<const Layer*>& will) {
    const auto table = host.dm_table(pool.name);
    const auto status = host.dm_status(pool.name);
    if (!table || !status) return false;
    const auto asked = value_in(*table, "features");
    const auto in_effect = value_in(*status, "features");
    const bool wants = !has_word(asked, "no_discard_passdown") && !has_word(asked, "ignore_discard");
    const auto data = data_layers(pool, host);
    const bool can = std::ranges::all_of(data, [&](const Layer* below) {
        return will.contains(below) || (will.empty() ? false : takes_discards(host, *below).value_or(false));
    });
    return has_word(in_effect, "discard_passdown") != (wants && can);
}

// A flag that nothing sets is off: dm-crypt's own default (kernel drivers/md/dm-crypt.c).
Reading reading_of(const FlagAnswer& answer, const CryptProperty& property, const CryptOpening& opening) {
    Reading reading;
    reading.source = answer.source;
    reading.shadows = answer.shadows;
    if (!answer.is_on) {
        reading.state = Unknown{answer.why};
    } else if (*answer.is_on) {
        reading.state = Found{value_of(property, true), {}};
    } else {
        const auto by = opening.by.empty() ? std::string() : "; opened by " + opening.by;
        reading.state = Unset{value_of(property, false), "dm-crypt default" + by};
    }
    return reading;
}

}  // namespace

Result<std::set<std::string>> live_crypt_flags(Host& host, const CryptMapping& mapping) {
    const auto table = host.dm_table(mapping.name);
    if (!table) return tl::unexpected<Error>(table.error());
    const auto target = value_in(*table, "target");
    if (target != "crypt")
        return fail(ErrorKind::invalid, "its table is of target " + printable(target), "/dev/mapper/" + mapping.name);
    std::set<std::string> flags;
    const auto words = value_in(*table, "flags");
    for (const auto word : split(words, ',')) {
        std::string flag(word);
        std::ranges::replace(flag, '_', '-');
        if (!flag.empty()) flags.insert(std::move(flag));
    }
    return flags;
}

std::string reason_never_to_discard(const CryptMapping& mapping, const LuksHeader& header) {
    auto integrity = header.integrity;
    if (integrity.empty() && mapping.live != nullptr) integrity = mapping.live->integrity;
    if (integrity.empty()) return {};
    return "authenticated encryption (integrity " + printable(integrity) +
           ") never passes discards, whatever the options say; keep the filesystem out of trims (discard = \"never\"), "
           "or "
           "list it under [[accept]]";
}

std::vector<const Layer*> followers_of(const Topology& topology, Host& host, const Layer& mapping) {
    std::set<const Layer*> seen;
    std::vector<const Layer*> found;
    walk_up(stacks(topology, host), mapping, seen, found);
    std::ranges::reverse(found);
    return found;
}

std::vector<const Layer*> stale_followers(const Topology& topology, Host& host, const Layer& mapping, bool allows) {
    std::vector<const Layer*> stale;
    const bool passes = allows && all_below_take(host, mapping, {});
    std::set<const Layer*> will;  // what takes discards once it is loaded anew
    if (passes) will.insert(&mapping);
    for (const auto* layer : followers_of(topology, host, mapping)) {
        if (layer->kind == LayerKind::thin_pool) {
            if (is_stale_pool(host, *layer, will)) stale.push_back(layer);
            continue;
        }
        const auto now = takes_discards(host, *layer);
        const bool then = passes && all_below_take(host, *layer, will);
        if (then) will.insert(layer);
        if (now && *now != then) stale.push_back(layer);
    }
    return stale;
}

Observation CryptReadings::observe(const CryptMapping& mapping, const CryptProperty& property, bool wants_on) const {
    Observation observation;
    observation[Plane::live] = live(mapping, property);
    observation[Plane::persisted] = persisted(mapping, property, wants_on);
    observation[Plane::boot] = boot(mapping, property);
    return observation;
}

Reading CryptReadings::live(const CryptMapping& mapping, const CryptProperty& property) const {
    Reading reading;
    reading.source = "/dev/mapper/" + printable(mapping.name);
    if (mapping.live == nullptr) {
        const auto devices = host_.list("/sys/block");
        if (devices || devices.error().kind == ErrorKind::no_such_file) {
            reading.state = Absent{"the mapping is not open"};
        } else {
            reading.state = Unknown{"whether it is open is not known: " + to_text(devices.error())};
        }
        return reading;
    }
    const auto flags = live_crypt_flags(host_, mapping);
    if (!flags) {
        reading.state = Unknown{to_text(flags.error())};
        return reading;
    }
    const bool is_on = flags->contains(std::string(property.flag));
    reading.state = Found{value_of(property, is_on), {}};
    if (property.flag != "allow-discards") return reading;
    // What lies above took up the limits when it was loaded, and holds on to them whatever the mapping does since.
    const auto stale = stale_followers(topology_, host_, *mapping.live, is_on);
    if (stale.empty()) return reading;
    std::string names;
    for (const auto* layer : stale) names += (names.empty() ? "" : ", ") + layer->name;
    const auto word = std::string(is_on ? property.on : property.off) + ", not taken up by " + names;
    reading.state = Found{Value{word}, {}};
    return reading;
}

Reading CryptReadings::persisted(const CryptMapping& mapping, const CryptProperty& property, bool wants_on) const {
    auto header = mappings_.header_of(mapping);
    // Where crypttab is to hold it, a header that cannot be read need not be known.
    if (prefers_crypttab_ && wants_on) header.unknown.clear();
    return reading_of(flag_of(mapping.persisted, header, property.flag), property, mapping.persisted);
}

Reading CryptReadings::boot(const CryptMapping& mapping, const CryptProperty& property) const {
    if (!mapping.in_initramfs) return {Absent{"the initramfs does not open it"}, "", {}};
    return reading_of(flag_of(mapping.boot, mappings_.header_of(mapping), property.flag), property, mapping.boot);
}

}  // namespace storpol
