// SPDX-License-Identifier: GPL-3.0-or-later
// Why a layer stops discards: kernel drivers/md, block/blk-settings.c, drivers/scsi/sd.c; Linux 6.1 and 6.12.
#include "engine/topology/discard_layer.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/host/host.h"
#include "engine/text/word_list.h"
#include "engine/topology/crypt_mapping.h"
#include "engine/topology/discard_disk.h"

namespace storpol {
namespace {

using Passes = DiscardHop::Passes;

std::optional<std::uint64_t> queue_number(Host& host, const Layer& layer, std::string_view name) {
    const auto text = queue_attribute(host, layer.device, name);
    if (!text) return std::nullopt;
    const auto number = parse_int(*text);
    if (!number || *number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

std::string property(const Result<std::map<std::string, std::string>>& properties, const char* key) {
    if (!properties) return {};
    const auto at = properties->find(key);
    return at == properties->end() ? std::string() : at->second;
}

bool all_pass(std::span<const DiscardHop> below) {
    return std::ranges::all_of(below, [](const DiscardHop& hop) { return hop.passes == Passes::yes; });
}

bool any_blocks(std::span<const DiscardHop> below) {
    return std::ranges::any_of(below, [](const DiscardHop& hop) { return hop.passes == Passes::no; });
}

void block(DiscardHop& hop, std::string why, std::string cure = {}, std::string cost = {}) {
    hop.passes = Passes::no;
    hop.blocks = std::move(why);
    hop.cure = std::move(cure);
    hop.cost = std::move(cost);
}

void cannot_tell(DiscardHop& hop, std::string why) {
    hop.passes = Passes::unknown;
    hop.note = std::move(why);
}

// What any layer gets from those below it, unless it has a reason of its own.
void inherit(DiscardHop& hop, std::span<const DiscardHop> below) {
    if (any_blocks(below)) {
        hop.passes = Passes::no;
        if (hop.max_bytes.value_or(0) > 0) {
            hop.note = "still accepts discards that a layer below drops, so fstrim reports success for nothing";
        }
    } else if (!all_pass(below)) {
        hop.passes = Passes::unknown;
    }
}

// A dm table takes up the limits of what lies below it when it is loaded, and never again (drivers/md/dm-table.c).
bool is_stale(const DiscardHop& hop, std::span<const DiscardHop> below) {
    return hop.max_bytes == 0U && !below.empty() && all_pass(below);
}

void look_at_stacked(DiscardHop& hop, std::span<const DiscardHop> below) {
    inherit(hop, below);
    if (!is_stale(hop, below)) return;
    block(hop, "its table was loaded while a layer below refused discards, and keeps that limit",
          "load the same table once more (storpol apply does; lvchange --refresh does not)",
          "the device pauses for a moment, and its read-ahead is reset");
}

// What makes the mapping refuse: the place that opens it without the flag, and a header that could say it and does not.
std::string what_opens_it(const Layer& layer, const Topology& topology, Host& host) {
    const auto& mappings = crypt_mappings(topology, host);
    const auto* mapping = mappings.find(layer.name);
    if (mapping == nullptr) return {};
    const auto& header = mappings.header_of(*mapping);
    const auto answer = flag_of(mapping->persisted, header, "allow-discards");
    if (answer.is_on == true) return answer.source + " lets discards through at the next opening";
    std::string text = answer.source;
    if (const auto* deciding = mapping->persisted.deciding()) text = deciding->where;
    if (header.version == 2 && text != header.where()) text += (text.empty() ? "" : ", and ") + header.where();
    return text;
}

void look_at_crypt(DiscardHop& hop, std::span<const DiscardHop> below, const Topology& topology, Host& host) {
    const auto& layer = *hop.layer;
    const auto table = host.dm_table(layer.name);
    inherit(hop, below);
    const bool over_integrity =
        std::ranges::any_of(layer.below, [](const Layer* lower) { return lower->kind == LayerKind::integrity; });
    if (!layer.integrity.empty() || over_integrity) {
        return block(hop, "authenticated encryption (integrity) never passes discards, whatever the options say",
                     "none but a new LUKS2 header without integrity", "all data has to be written anew");
    }
    const bool refuses = table ? !has_word(property(table, "flags"), "allow_discards") : hop.max_bytes == 0U;
    if (refuses && (table || all_pass(below))) {
        hop.decided_by = what_opens_it(layer, topology, host);
        return block(hop,
                     table ? "its table lacks allow_discards, the default of dm-crypt"
                           : "it refuses discards (discard_max_bytes is 0), the default of dm-crypt",
                     "[discard] dm-crypt = \"allow\"",
                     "whoever reads the raw device sees which blocks are unused, and with it patterns of use");
    }
    if (!table && hop.max_bytes == std::nullopt) return cannot_tell(hop, table.error().what);
    if (is_stale(hop, below)) look_at_stacked(hop, below);
}

void look_at_thin_pool(DiscardHop& hop, std::span<const DiscardHop> below, Host& host) {
    inherit(hop, below);
    const auto status = host.dm_status(hop.layer->name);
    const auto table = host.dm_table(hop.layer->name);
    const auto in_effect = property(status, "features");
    const auto asked_for = property(table, "features");
    const bool ignores = has_word(in_effect, "ignore_discard") || has_word(asked_for, "ignore_discard");
    if (ignores) {
        return block(hop, "the pool ignores discards: not even its own space comes back",
                     "[discard] lvm-thin = \"passdown\"", "the pool has to be inactive for it");
    }
    if (has_word(in_effect, "no_discard_passdown")) {
        const bool wished = !has_word(asked_for, "no_discard_passdown");
        return block(hop,
                     wished ? "passdown is asked for and not in effect: the pool frees its own space, and the device "
                              "below hears nothing"
                            : "no_discard_passdown: the pool frees its own space, and the device below hears nothing",
                     wished ? "once its data device takes discards, load the pool's table anew"
                            : "[discard] lvm-thin = \"passdown\"",
                     "the device below gets the discards of every thin volume");
    }
    if (!status) return cannot_tell(hop, "whether the pool passes discards down: " + status.error().what);
}

void look_at_cache(DiscardHop& hop, std::span<const DiscardHop> below, Host& host) {
    inherit(hop, below);
    const auto status = host.dm_status(hop.layer->name);
    if (!status) return cannot_tell(hop, "whether the cache passes discards down: " + status.error().what);
    if (has_word(property(status, "features"), "no_discard_passdown")) {
        block(hop, "no_discard_passdown: the cache drops what it holds, and the device below hears nothing",
              "make the cache anew without no_discard_passdown, over a device that takes discards");
    }
}

// drivers/md/raid5.c, drivers/md/dm-raid.c: each has a parameter of its own.
void look_at_parity_raid(DiscardHop& hop, std::span<const DiscardHop> below, Host& host) {
    const bool is_md = hop.layer->kind == LayerKind::md;
    const std::string module = is_md ? "raid456" : "dm_raid";
    const auto path = "/sys/module/" + module + "/parameters/devices_handle_discard_safely";
    inherit(hop, below);
    if (hop.max_bytes.value_or(0) > 0 || any_blocks(below)) return;
    const auto parameter = host.read_file(path);
    const bool vouched = parameter && trim(*parameter) == "Y";
    hop.decided_by = path;
    if (vouched) {
        return block(hop,
                     "the array takes no discards although devices_handle_discard_safely is set: it was assembled "
                     "before, or a stripe is larger than a member's discard",
                     "assemble the array again (a reboot)");
    }
    block(hop,
          "parity needs members that read zeros after a discard, and nobody vouches for these: " + module +
              ".devices_handle_discard_safely is N",
          is_md ? "[discard] md-raid456-discard = [MODEL], for models known to return zeros"
                : "the module option " + module + ".devices_handle_discard_safely=Y, at your own risk",
          "with a member that does not, parity is wrong and data is lost at the next failure");
}

void look_at_raid(DiscardHop& hop, std::span<const DiscardHop> below, Host& host) {
    static constexpr std::string_view parity[] = {"raid4", "raid5", "raid6"};
    const auto& level = hop.layer->level;
    const bool has_parity = std::ranges::any_of(parity, [&](auto name) { return level.starts_with(name); });
    if (has_parity) return look_at_parity_raid(hop, below, host);
    // An array advertises discards when one member takes them, and skips the others without a word
    // (block/blk-settings.c stacks limits by their smallest that is not zero): the members decide.
    inherit(hop, below);
    if (is_stale(hop, below)) {
        block(hop, "the array takes no discards although its members do", "assemble the array again (a reboot)");
    }
}

void look_at_snapshot(DiscardHop& hop, std::span<const DiscardHop> below) {
    inherit(hop, below);
    if (hop.max_bytes.value_or(0) > 0) return;
    block(hop, "an old-style LVM snapshot takes no discards, and while there is one its origin takes none either",
          "remove the snapshot, or keep snapshots in a thin pool");
}

void look_at_loop(DiscardHop& hop, std::span<const DiscardHop> below) {
    const auto& file = hop.layer->file;
    if (hop.max_bytes == 0U) {
        return block(hop, "the loop device takes no discards: its backing file's filesystem cannot punch holes");
    }
    inherit(hop, below);
    if (file.starts_with("/dev/")) hop.note = "lies over a device: discards arrive there as zeros written";
    if (hop.note.empty()) {
        hop.note =
            "punches holes in " + printable(file) + "; what lies below hears of it when that filesystem is trimmed";
    }
}

void look_at_integrity(DiscardHop& hop, std::span<const DiscardHop> below) {
    inherit(hop, below);
    if (hop.max_bytes.value_or(0) > 0) return;
    block(hop, "dm-integrity drops discards: its table lacks allow_discards",
          "none below LUKS2 authenticated encryption; integritysetup open --allow-discards for a device of its own");
}

void look_by_kind(DiscardHop& hop, std::span<const DiscardHop> below, const Topology& topology, Host& host) {
    switch (hop.layer->kind) {
        case LayerKind::disk:
            return look_at_disk(hop, host);
        case LayerKind::partition:
            return inherit(hop, below);
        case LayerKind::dm_crypt:
            return look_at_crypt(hop, below, topology, host);
        case LayerKind::linear:
        case LayerKind::striped:
        case LayerKind::writecache:
        case LayerKind::multipath:
        case LayerKind::mapping:
            return look_at_stacked(hop, below);
        case LayerKind::thin:
            inherit(hop, below);
            if (hop.max_bytes == 0U && all_pass(below)) look_at_stacked(hop, below);
            return;
        case LayerKind::thin_pool:
            return look_at_thin_pool(hop, below, host);
        case LayerKind::snapshot:
        case LayerKind::snapshot_origin:
            return look_at_snapshot(hop, below);
        case LayerKind::cache:
            return look_at_cache(hop, below, host);
        case LayerKind::vdo:
            return block(hop, "VDO frees space of its own, and the device below hears nothing");
        case LayerKind::dm_raid:
        case LayerKind::md:
            return look_at_raid(hop, below, host);
        case LayerKind::integrity:
            return look_at_integrity(hop, below);
        case LayerKind::bcache:
            return cannot_tell(hop, "nobody has measured yet what bcache passes down");
        case LayerKind::loop:
            return look_at_loop(hop, below);
        case LayerKind::memory:
            hop.note = "discarded pages are given back to the system's memory";
            return;
    }
    STORPOL_BUG("a kind of layer out of range");
}

bool is_metadata(const Layer& layer) {
    static constexpr std::string_view suffixes[] = {"-tmeta", "-cmeta", "-cdata", "-cvol", "-thinmeta"};
    return std::ranges::any_of(suffixes, [&](auto suffix) { return layer.dm_uuid.ends_with(suffix); });
}

}  // namespace

std::vector<const Layer*> data_layers(const Layer& layer, Host& host) {
    const bool has_metadata = layer.kind == LayerKind::thin_pool || layer.kind == LayerKind::cache;
    if (!has_metadata || layer.below.size() < 2) return layer.below;
    std::vector<const Layer*> data;
    const auto number = property(host.dm_table(layer.name), "data");
    for (const auto* below : layer.below) {
        const auto own = host.read_file(below->device.sysfs + "/dev");
        if (!number.empty() && own && trim(*own) == number) return {below};
        if (!is_metadata(*below)) data.push_back(below);
    }
    return data.empty() ? layer.below : data;
}

DiscardHop look_at_layer(const Layer& layer, std::span<const DiscardHop> below, const Topology& topology, Host& host) {
    DiscardHop hop;
    hop.layer = &layer;
    if (layer.kind != LayerKind::partition) {  // which has no queue
        hop.max_bytes = queue_number(host, layer, "discard_max_bytes");
        hop.max_hw_bytes = queue_number(host, layer, "discard_max_hw_bytes");
        hop.granularity = queue_number(host, layer, "discard_granularity");
    }
    look_by_kind(hop, below, topology, host);
    // The hardware value and a limit of 0: somebody wrote it (block/blk-sysfs.c), and it holds for any kind.
    const bool capped = hop.max_bytes == 0U && hop.max_hw_bytes.value_or(0) > 0;
    if (capped) {
        const auto file = "/sys/block/" + layer.device.disk + "/queue/discard_max_bytes";
        const auto value = writable_discard_limit(*hop.max_hw_bytes, hop.granularity.value_or(0));
        const auto way = value == 0
                             ? "this kernel takes no other value back before the device is probed anew (a reboot)"
                             : "write " + std::to_string(value) + " to " + file;
        block(hop, "somebody wrote 0 to its discard_max_bytes; the device itself takes discards",
              way + "; look for the udev rule that writes 0");
        hop.decided_by = file;
    }
    if (!layer.unknown.empty() && hop.blocks.empty() && hop.passes == Passes::yes) cannot_tell(hop, layer.unknown);
    return hop;
}

}  // namespace storpol
