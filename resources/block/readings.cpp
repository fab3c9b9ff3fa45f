// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/block/readings.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/config_files.h"

namespace storpol {
namespace {

// man 7 udev "RULES FILES"; /lib only where it is a folder of its own.
constexpr std::array<std::string_view, 5> rules_directories{"/etc/udev/rules.d", "/run/udev/rules.d",
                                                            "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d",
                                                            "/lib/udev/rules.d"};

// Only a rule that names an attribute, or something that runs, can set one: the other files need no parsing.
bool can_set_attributes(std::string_view text) {
    return text.find("ATTR{") != std::string_view::npos || text.find("queue/") != std::string_view::npos;
}

std::map<std::string, std::string> read_udev_database(Host& host, const Disk& disk, bool& complete) {
    std::map<std::string, std::string> properties;
    const auto number = host.read_file(disk.device.sysfs + "/dev");
    // One file per device, "E:KEY=value" lines (systemd src/libsystemd/sd-device/device-private.c).
    const auto text = number ? host.read_file("/run/udev/data/b" + std::string(trim(*number)))
                             : Result<std::string>(fail(ErrorKind::no_such_file, ""));
    complete = text.has_value();
    if (!text) return properties;
    for (const auto line : split_lines(*text)) {
        const auto equals = line.find('=');
        if (line.starts_with("E:") && equals != std::string_view::npos) {
            properties.emplace(line.substr(2, equals - 2), line.substr(equals + 1));
        }
    }
    return properties;
}

std::optional<std::string> read_attribute(Host& host, const std::string& path) {
    auto text = host.read_file(path);
    if (!text) return std::nullopt;
    if (text->ends_with('\n')) text->pop_back();
    return *text;
}

}  // namespace

UdevDevice udev_device_of(Host& host, const Disk& disk, const BlockAttribute& attribute) {
    UdevDevice device;
    const auto sysfs = disk.device.sysfs;
    device.properties = read_udev_database(host, disk, device.properties_complete);
    if (const auto number = host.read_file(sysfs + "/dev")) {
        const auto link = host.read_link("/sys/dev/block/" + std::string(trim(*number)));
        if (link && link->starts_with("../../devices/")) device.devpath = link->substr(5);
    }
    device.parent_attribute = [&host, sysfs](std::string_view name) -> std::optional<std::string> {
        for (const auto* above : {"/", "/device/", "/device/device/"}) {
            if (auto text = read_attribute(host, sysfs + above + std::string(name))) return text;
        }
        return std::nullopt;
    };
    if (attribute.subsystem == "block") {
        device.kernel = disk.device.name;
        device.attribute = [&host, sysfs](std::string_view name) {
            return read_attribute(host, sysfs + "/" + std::string(name));
        };
        return device;
    }
    // The scsi_disk device is another one, below the same disk: its attributes stand beside the one asked for.
    device.subsystem = attribute.subsystem;
    device.devtype.clear();
    device.devpath.clear();
    device.properties.clear();
    device.properties_complete = true;
    if (const auto path = attribute_path(host, disk, attribute)) {
        const auto folder = path->substr(0, path->rfind('/'));
        device.kernel = folder.substr(folder.rfind('/') + 1);
        device.attribute = [&host, folder](std::string_view name) {
            return read_attribute(host, folder + "/" + std::string(name));
        };
    }
    return device;
}

std::optional<std::string> attribute_path(Host& host, const Disk& disk, const BlockAttribute& attribute) {
    const std::string pattern = disk.device.sysfs + "/" + std::string(attribute.file);
    const auto star = pattern.find('*');
    if (star == std::string::npos) return pattern;
    const auto folders = host.list(pattern.substr(0, star - 1));
    if (!folders || folders->size() != 1) return std::nullopt;
    return pattern.substr(0, star) + folders->front() + pattern.substr(star + 1);
}

Reading live_block_reading(Host& host, const Disk& disk, const BlockAttribute& attribute) {
    const auto path = attribute_path(host, disk, attribute);
    if (!path) return {Absent{disk.name + " has no " + std::string(attribute.udev)}, "", {}};
    const auto text = host.read_file(*path);
    if (!text && text.error().kind == ErrorKind::no_such_file) {
        return {Absent{disk.name + " has no " + std::string(attribute.udev) + " on this kernel"}, *path, {}};
    }
    if (!text) return {Unknown{text.error().what}, *path, {}};
    const auto value = attribute.parse(*text);
    if (!value && attribute.key == "scheduler")
        return {Absent{disk.name + " has no I/O scheduler: its driver takes none"}, *path, {}};
    if (!value) return {Unknown{"the kernel's text is not a value: " + printable(trim(*text))}, *path, {}};
    return {Found{*value, std::string(trim(*text))}, *path, {}};
}

UdevRulesFiles read_udev_files(Host& host, std::optional<std::string> own) {
    const std::string own_path(block_rules_path);
    auto listed =
        list_config_files(host, rules_directories, [](std::string_view name) { return name.ends_with(".rules"); });
    auto& by_name = listed.paths;
    UdevRulesFiles read;
    read.unreadable = std::move(listed.unreadable);
    const auto add = [&read](const std::string& path, std::string_view text) {
        auto rules = parse_udev_rules(text);
        auto index = index_udev_rules(rules);
        read.files.push_back({path, std::move(rules), std::move(index)});
    };
    if (own) by_name[own_path.substr(own_path.rfind('/') + 1)] = own_path;
    for (const auto& [name, path] : by_name) {
        if (own && path == own_path) {
            add(path, *own);
            continue;
        }
        const auto file = host.read_file_resolved(path);
        if (!file && file.error().kind != ErrorKind::no_such_file)
            read.unreadable.push_back(path);  // a dangling link only hides
        if (file && can_set_attributes(file->bytes)) add(file->path, file->bytes);
    }
    return read;
}

UdevOutcome judge_for_disk(Host& host, const UdevRulesFiles& rules, const Disk& disk, const BlockAttribute& attribute) {
    return judge_udev_rules(rules.files, udev_device_of(host, disk, attribute), attribute.udev,
                            [&](std::string_view value) {
                                if (attribute.key == "scheduler") return is_scheduler(value);
                                return attribute.is_word || parse_int(value).has_value();
                            });
}

Reading persisted_block_reading(const UdevRulesFiles& rules,
                                const UdevOutcome& outcome,
                                const BlockAttribute& attribute) {
    if (!rules.unreadable.empty())
        return {
            Unknown{"cannot read " + rules.unreadable.front() + ", which may set it"}, rules.unreadable.front(), {}};
    switch (outcome.kind) {
        case UdevOutcome::Kind::unset:
            return {Unset{}, "", outcome.shadows};
        case UdevOutcome::Kind::unknown:
            return {Unknown{outcome.why}, outcome.source, outcome.shadows};
        case UdevOutcome::Kind::set:
            break;
    }
    if (attribute.is_word) return {Found{outcome.value, ""}, outcome.source, outcome.shadows};
    const auto number = parse_int(outcome.value);
    if (!number)
        return {Unknown{"the rule's value is no number: " + printable(outcome.value)}, outcome.source, outcome.shadows};
    return {Found{attribute.rounded(Value{*number * attribute.unit}), outcome.value}, outcome.source, outcome.shadows};
}

}  // namespace storpol
