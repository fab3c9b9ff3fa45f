// SPDX-License-Identifier: GPL-3.0-or-later
// Facts from TuneD: tuned/plugins/plugin_disk.py, plugin_sysfs.py, base.py, tuned/hardware/device_matcher*.py.
#include "resources/block/tuned_disks.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/udev_rules.h"
#include "engine/topology/topology.h"
#include "resources/block/readings.h"

namespace storpol {
namespace {

enum class Truth { no, maybe, yes };

// The disk plugin takes fixed disks whose parent is of one of these drivers, and what has no parent (dm, md, loop). An
// NVMe namespace below a subsystem (native multipath) has another parent.
bool is_taken(const Disk& disk, const UdevDevice& device) {
    if (disk.removable || device.devpath.find("/nvme-subsystem/") != std::string::npos) return false;
    static constexpr std::array<std::string_view, 6> heads{"sd", "vd", "xvd", "nvme", "sr", "dm-"};
    const auto& name = disk.device.name;
    return disk.is_virtual || std::ranges::any_of(heads, [&](auto head) { return name.starts_with(head); });
}

// devices=sd*, !sda: any that is named, all where none is, and none that is named with '!'.
bool is_in_list(std::string_view list, const std::string& name) {
    std::string text(list);
    std::replace(text.begin(), text.end(), ',', ' ');
    bool has_positive = false;
    bool matches = false;
    for (const auto word : split_words(text)) {
        if (word.starts_with('!')) continue;
        has_positive = true;
        matches = matches || udev_glob_match(word, name, false);
    }
    if (!has_positive) matches = true;
    for (const auto word : split_words(text)) {
        if (word.starts_with('!') && udev_glob_match(word.substr(1), name, false)) return false;
    }
    return matches;
}

// A regular expression of literals, dots and anchors as a glob for one line; none for any other.
std::optional<std::string> glob_of_regex(std::string_view regex) {
    std::string glob = regex.starts_with('^') ? "" : "*";
    if (regex.starts_with('^')) regex.remove_prefix(1);
    const bool to_end = regex.ends_with('$') && !regex.ends_with("\\$");
    if (to_end) regex.remove_suffix(1);
    for (std::size_t at = 0; at < regex.size(); ++at) {
        const char c = regex[at];
        const char next = at + 1 < regex.size() ? regex[at + 1] : '\0';
        if (c == '.' && next == '*') {
            glob += '*';
            ++at;
        } else if (c == '.' && next == '+') {
            glob += "?*";
            ++at;
        } else if (c == '.') {
            glob += '?';
        } else if (c == '\\' && std::string_view(".-/ ").find(next) != std::string_view::npos && next != '\0') {
            glob += next;
            ++at;
        } else if (std::string_view("\\^$*+?{}[]|()").find(c) != std::string_view::npos) {
            return std::nullopt;
        } else {
            glob += c;
        }
    }
    return glob + (to_end ? "" : "*");
}

// devices_udev_regex= is searched for in the device's properties, a KEY=value line each.
Truth fits_regex(std::string_view regex, const UdevDevice& device) {
    const auto glob = glob_of_regex(regex);
    if (!glob) return Truth::maybe;
    auto properties = device.properties;
    properties.emplace("DEVNAME", "/dev/" + device.kernel);
    properties.emplace("DEVTYPE", "disk");
    properties.emplace("SUBSYSTEM", "block");
    if (!device.devpath.empty()) properties.emplace("DEVPATH", device.devpath);
    for (const auto& [key, value] : properties) {
        if (glob_match(*glob, key + "=" + value)) return Truth::yes;
    }
    return device.properties_complete ? Truth::no : Truth::maybe;
}

// Which of the disks a unit takes, before others have taken theirs.
Truth takes(const TunedUnit& unit, const Disk& disk, const UdevDevice& device) {
    auto truth = Truth::yes;
    const auto* list = unit.find("devices");
    if (const auto* regex = unit.find("devices_udev_regex")) {
        truth = regex->is_computed() ? Truth::maybe : fits_regex(regex->value, device);
    } else if (list != nullptr) {
        truth = list->is_computed() ? Truth::maybe : is_in_list(list->value, disk.device.name) ? Truth::yes : Truth::no;
    }
    // Units may be for some processors and kernels only.
    const bool is_conditional = unit.find("cpuinfo_regex") != nullptr || unit.find("uname_regex") != nullptr;
    return truth == Truth::yes && is_conditional ? Truth::maybe : truth;
}

Reading unknown_from(const TunedOption& option, const std::string& says) {
    return {Unknown{to_text(option.where) + ": the active TuneD profile " + says}, to_text(option.where), {}};
}

// "4096" is in KiB, "8192 s" in sectors.
std::optional<std::int64_t> readahead_bytes(std::string_view text) {
    const auto words = split_words(text);
    const auto number = words.empty() ? std::nullopt : parse_int(words.front());
    if (!number || *number < 0 || *number > (std::int64_t{1} << 40)) return std::nullopt;
    return *number * (words.size() > 1 && words[1].front() == 's' ? 512 : 1024);
}

std::optional<std::int64_t> number_in(const Reading& reading) {
    const auto* found = std::get_if<Found>(&reading.state);
    const auto* value = found == nullptr ? nullptr : std::get_if<std::int64_t>(&found->value);
    return value == nullptr ? std::nullopt : std::optional(*value);
}

Reading after_readahead(const TunedOption& option,
                        const Reading& udev,
                        const Reading& live,
                        const BlockAttribute& attribute) {
    const auto [sign, rest] = split_tuned_amount(option.value);
    const auto bytes = readahead_bytes(rest);
    if (!bytes) return udev;  // TuneD logs it and writes nothing
    auto value = *bytes;
    if (sign != '\0') {
        const auto by_udev = number_in(udev);
        const auto before = by_udev ? by_udev : number_in(live);
        if (!before) return unknown_from(option, "may set readahead = " + option.value);
        value = sign == '>' ? std::max(*bytes, *before) : std::min(*bytes, *before);
        if (by_udev && value == *before) return udev;
    }
    return {Found{attribute.rounded(Value{value}), option.value}, to_text(option.where), {}};
}

// What one unit of the disk plugin makes of the attribute.
Reading after_unit(
    const TunedUnit& unit, const Reading& udev, const Reading& live, const BlockAttribute& attribute, Truth truth) {
    const auto* option = unit.find(attribute.key == "scheduler" ? "elevator" : "readahead");
    const auto* multiply = attribute.key == "read-ahead" ? unit.find("readahead_multiply") : nullptr;
    if (option == nullptr) option = multiply;
    if (option == nullptr) return udev;
    if (truth == Truth::maybe || option->is_computed() || multiply != nullptr)
        return unknown_from(*option, "may set " + option->key + " = " + option->value);
    if (option->key == "readahead") return after_readahead(*option, udev, live, attribute);
    if (!is_scheduler(option->value)) return udev;  // the kernel refuses it
    return {Found{Value{option->value}, ""}, to_text(option->where), {}};
}

// [sysfs] /sys/block/sd*/queue/nr_requests=256
Reading after_sysfs(const TunedUnit& unit, Reading reading, const Disk& disk, const BlockAttribute& attribute) {
    for (const auto& option : unit.options) {
        const auto path = "/" + disk.device.name + "/" + std::string(attribute.file);
        const bool is_here = udev_glob_match(option.key, "/sys/block" + path, false) ||
                             udev_glob_match(option.key, "/sys/class/block" + path, false);
        if (!is_here) continue;
        const auto number = parse_int(option.value);
        if (option.is_computed() || (!attribute.is_word && !number)) {
            reading = unknown_from(option, "may set " + option.key + " = " + option.value);
        } else if (attribute.key != "scheduler" || is_scheduler(option.value)) {
            const Value value =
                attribute.is_word ? Value{option.value} : attribute.rounded(Value{*number * attribute.unit});
            reading = {Found{value, option.value}, to_text(option.where), {}};
        }
    }
    return reading;
}

}  // namespace

TunedDisks::TunedDisks(Host& host) : host_(host), units_(read_tuned_profile(host)) {
    std::erase_if(units_, [](const TunedUnit& unit) { return unit.plugin != "disk" && unit.plugin != "sysfs"; });
}

Reading TunedDisks::after(const Reading& udev,
                          const Reading& live,
                          const Disk& disk,
                          const BlockAttribute& attribute) const {
    const bool is_readable = std::holds_alternative<Found>(udev.state) || std::holds_alternative<Unset>(udev.state);
    if (units_.empty() || !is_readable) return udev;
    auto reading = udev;
    const auto device = udev_device_of(host_, disk, attribute);
    const bool by_plugin = attribute.key == "scheduler" || attribute.key == "read-ahead";
    auto is_free = by_plugin && is_taken(disk, device);  // a disk belongs to the first unit that takes it
    auto sure = Truth::yes;                              // less once an earlier unit may have taken the disk
    for (const auto& unit : units_) {
        if (unit.plugin == "sysfs") {
            reading = after_sysfs(unit, std::move(reading), disk, attribute);
            continue;
        }
        const auto truth = is_free ? std::min(takes(unit, disk, device), sure) : Truth::no;
        if (truth == Truth::no) continue;
        if (!std::holds_alternative<Unknown>(reading.state))
            reading = after_unit(unit, reading, live, attribute, truth);
        is_free = truth == Truth::maybe;
        sure = truth;
    }
    if (reading == udev || udev.source.empty()) return reading;
    reading.shadows = udev.shadows;
    reading.shadows.insert(reading.shadows.begin(), udev.source);
    return reading;
}

const TunedDisks& tuned_disks(const Topology& topology, Host& host) {
    return topology.derived<TunedDisks>([&] { return TunedDisks(host); });
}

bool is_from_tuned(const Reading& reading) {
    return reading.source.find("/tuned.conf:") != std::string::npos;
}

}  // namespace storpol
