// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/block/attribute.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"
#include "engine/topology/disk.h"
#include "resources/keys.h"

namespace storpol {
namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t page = 4096;  // the smallest of any kernel; a larger one rounds more and is read back as such

// Sources: kernel Documentation/ABI/stable/sysfs-block and block/blk-sysfs.c; provisioning_mode: drivers/scsi/sd.c.
constexpr std::array attributes{
    BlockAttribute{"scheduler", "queue/scheduler", "block", "queue/scheduler", 1, 1, true},
    BlockAttribute{"read-ahead", "queue/read_ahead_kb", "block", "queue/read_ahead_kb", kib, page, false},
    BlockAttribute{"nr-requests", "queue/nr_requests", "block", "queue/nr_requests", 1, 1, false},
    BlockAttribute{"wbt-latency", "queue/wbt_lat_usec", "block", "queue/wbt_lat_usec", 1, 1, false},
    BlockAttribute{"rq-affinity", "queue/rq_affinity", "block", "queue/rq_affinity", 1, 1, false},
    BlockAttribute{"nomerges", "queue/nomerges", "block", "queue/nomerges", 1, 1, false},
    BlockAttribute{"max-sectors", "queue/max_sectors_kb", "block", "queue/max_sectors_kb", kib, kib, false},
    BlockAttribute{"discard-max", "queue/discard_max_bytes", "block", "queue/discard_max_bytes", 1, 1, false},
    BlockAttribute{"io-timeout", "queue/io_timeout", "block", "queue/io_timeout", 1000, 1000, false},
    BlockAttribute{"provisioning-mode", "device/scsi_disk/*/provisioning_mode", "scsi_disk", "provisioning_mode", 1, 1,
                   true},
};

constexpr std::array<std::string_view, 4> schedulers{"none", "mq-deadline", "kyber", "bfq"};

std::optional<Key::Objection> object_to_scheduler(const std::string&, const std::string& text) {
    if (is_scheduler(text)) return std::nullopt;
    // The single-queue schedulers went with kernel 5.0; each has a multi-queue successor.
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> successors{
        {{"noop", "none"}, {"deadline", "mq-deadline"}, {"cfq", "bfq"}, {"bfq-sq", "bfq"}}};
    Key::Objection objection{"unknown scheduler " + quote_json(text) + "; schedulers: none, mq-deadline, kyber, bfq",
                             ""};
    for (const auto& [old_name, new_name] : successors) {
        if (text != old_name) continue;
        objection.says =
            "scheduler " + quote_json(text) + " went with kernel 5.0; schedulers: none, mq-deadline, kyber, bfq";
        objection.fix = "write \"" + std::string(new_name) + "\"";
    }
    if (objection.fix.empty()) {
        const std::array<std::string, 4> names{"none", "mq-deadline", "kyber", "bfq"};
        if (const auto near = nearest(text, names)) objection.fix = "write \"" + *near + "\"";
    }
    return objection;
}

Key number(std::string name, std::int64_t min, std::int64_t max, std::string doc) {
    Key key = key_of(std::move(name), KeyType::integer, std::move(doc));
    key.min = min;
    key.max = max;
    key.bounds = true;
    return key;
}

Key amount(std::string name, KeyType type, std::int64_t min, std::int64_t max, std::string doc) {
    Key key = key_of(std::move(name), type, std::move(doc));
    key.min = min;
    key.max = max;
    key.bounds = true;
    return key;
}

Key match_key() {
    Key match = key_of("match", KeyType::table, "Which disks: all keys given must match. Required.");
    match.keys = {
        key_of("name", KeyType::word, "Kernel name, or the mapping's name of a device-mapper device; a glob."),
        key_of("model", KeyType::word, "The drive's model as sysfs has it, without blanks at its ends; a glob."),
        key_of("serial", KeyType::word, "The drive's serial number; a glob."),
        key_of("transport", KeyType::word, "How the drive is attached."),
        key_of("rotational", KeyType::boolean, "What queue/rotational says. It is 1 on most virtual disks."),
        key_of("removable", KeyType::boolean,
               "What the kernel's `removable` says: USB sticks and card readers, not most USB disks."),
        key_of("virtual", KeyType::boolean,
               "Devices without hardware of their own: loop, zram, device-mapper, MD. Left alone unless this is true "
               "or `name` matches."),
    };
    for (const auto word : disk_transports()) match.keys[3].choices.emplace_back(word);
    return match;
}

}  // namespace

std::optional<Value> BlockAttribute::parse(std::string_view text) const {
    text = trim(text);
    if (key == "scheduler") {
        // "none [mq-deadline] kyber": the active one in brackets. A device without schedulers shows a plain "none" and
        // takes any write without effect (block/elevator.c, elv_iosched_store).
        const auto open = text.find('[');
        const auto close = text.find(']', open == std::string_view::npos ? 0 : open);
        if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
        return Value{std::string(text.substr(open + 1, close - open - 1))};
    }
    if (is_word) return text.empty() ? std::nullopt : std::optional<Value>(std::string(text));
    const auto number = parse_int(text);
    if (!number || *number > INT64_MAX / unit) return std::nullopt;
    return Value{*number * unit};
}

std::string BlockAttribute::render(const Value& value) const {
    if (const auto* word = std::get_if<std::string>(&value)) return *word;
    return std::to_string(std::get<std::int64_t>(value) / unit);
}

Value BlockAttribute::rounded(const Value& value) const {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr) return value;
    return *number - *number % step;
}

std::span<const BlockAttribute> block_attributes() {
    return attributes;
}

const BlockAttribute* find_block_attribute(std::string_view key) {
    const auto found = std::ranges::find(attributes, key, &BlockAttribute::key);
    return found == attributes.end() ? nullptr : &*found;
}

bool is_scheduler(std::string_view name) {
    return std::ranges::find(schedulers, name) != schedulers.end();
}

Key block_key() {
    Key scheduler = key_of(
        "scheduler", KeyType::word,
        "The I/O scheduler: none, mq-deadline, kyber or bfq. Its module is loaded by the kernel when it is chosen.");
    scheduler.check = object_to_scheduler;
    Key mode = key_of("provisioning-mode", KeyType::word,
                      "How a SCSI or USB disk is told to discard. Forcing a mode on a bridge that does not really have "
                      "it can lose data: "
                      "only for models named in `match`, and only when you know the bridge.");
    mode.choices = {"full", "unmap", "writesame_16", "writesame_10", "writesame_zero", "disabled"};
    constexpr std::int64_t hour = 3'600'000'000;
    Key rule =
        key_of("block", KeyType::rule_array,
               "Settings of the request queue of disks. All matching rules apply; of one key the later rule wins.");
    rule.keys = {
        match_key(),
        scheduler,
        amount("read-ahead", KeyType::size, 0, 1 << 30,
               "How far sequential reads run ahead. The kernel keeps whole pages."),
        number("nr-requests", 4, 1 << 20,
               "Requests a queue may hold. Changing the scheduler resets it; it is set after."),
        amount(
            "wbt-latency", KeyType::duration, 0, 60'000'000,
            "Target of writeback throttling: background writes give way when reads take longer. \"0us\" turns it off."),
        number("rq-affinity", 0, 2, "Where completions run: 0 anywhere, 1 the CPU group that asked, 2 the very CPU."),
        number("nomerges", 0, 2, "Merging of adjacent requests: 0 all, 1 simple ones only, 2 none."),
        amount("max-sectors", KeyType::size, 4096, 1 << 30,
               "Largest single request; not above the hardware's own limit."),
        amount("discard-max", KeyType::size, 1 << 20, std::int64_t{1} << 40,
               "Largest single discard, to shorten the stalls of drives that trim slowly."),
        amount("io-timeout", KeyType::duration, 1'000'000, hour,
               "How long a request may take before the driver steps in."),
        mode,
    };
    return rule;
}

}  // namespace storpol
