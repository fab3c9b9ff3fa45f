// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/block/rule.h"

#include <array>
#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "engine/model/json.h"
#include "engine/text/udev_rules.h"

namespace storpol {
namespace {

bool glob_holds(const std::optional<std::string>& pattern, const std::string& text) {
    return !pattern || glob_match(*pattern, text);
}

template <class T>
bool holds(const std::optional<T>& wanted, const T& found) {
    return !wanted || *wanted == found;
}

// The policy's globs know `*` and `?` only; what else is special to udev's fnmatch and its alternatives is quoted.
std::string udev_pattern(std::string_view glob) {
    std::string out;
    for (const char c : glob) {
        if (c == '[' || c == ']') {
            out += c == '[' ? "[[]" : "[]]";
        } else {
            out += c;
        }
    }
    return out;
}

// A '|' would begin an alternative and has no quoting in udev; a backslash is fnmatch's own.
bool has_udev_spelling(std::string_view glob) {
    return glob.find_first_of("|\\") == std::string_view::npos;
}

std::string term(std::string_view key, std::string_view value) {
    return std::string(key) + "==" + quote_udev(value);
}

// Transports in udev's terms. ID_BUS is set by 60-persistent-storage.rules, which our file sorts after.
std::optional<std::string> transport_match(std::string_view transport) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> terms{{
        {"nvme", "KERNEL==\"nvme*\""},
        {"virtio", "KERNEL==\"vd*\""},
        {"mmc", "KERNEL==\"mmcblk*\""},
        {"xen", "KERNEL==\"xvd*\""},
        {"loop", "KERNEL==\"loop*\""},
        {"zram", "KERNEL==\"zram*\""},
        {"dm", "KERNEL==\"dm-*\""},
        {"md", "KERNEL==\"md*\""},
        {"usb", "SUBSYSTEMS==\"usb\""},
        {"sata", "KERNEL==\"sd*\", ENV{ID_BUS}==\"ata\""},
        {"sas", "KERNEL==\"sd*\", ENV{ID_SAS_PATH}==\"?*\""},
    }};
    for (const auto& [name, match] : terms) {
        if (name == transport) return std::string(match);
    }
    return std::nullopt;  // "scsi" is what is left of sd* and has no term of its own
}

// A comma in a model would look like the next part of an address.
std::string escape_part(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == ',' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

// "model=Lexar*,transport=nvme" in its parts, escapes undone.
std::map<std::string, std::string> split_parts(std::string_view text) {
    std::map<std::string, std::string> parts;
    std::string part;
    const auto finish = [&] {
        const auto equals = part.find('=');
        if (equals != std::string::npos) parts.emplace(part.substr(0, equals), part.substr(equals + 1));
        part.clear();
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) {
            part += text[++at];
        } else if (text[at] == ',') {
            finish();
        } else {
            part += text[at];
        }
    }
    finish();
    return parts;
}

BlockRule read_rule(const PolicyNode& node, const Policy& policy, Notes& notes) {
    BlockRule rule;
    rule.place = node.place;
    rule.is_builtin = policy.is_builtin(node.place);
    bool has_match = false;
    for (const auto& [key, place, value] : node.table()->entries) {
        if (key != "match") {
            rule.wishes.push_back({find_block_attribute(key), value.condition(), value.text, value.place});
            continue;
        }
        for (const auto& [name, name_place, wanted] : value.table()->entries) {
            has_match = true;
            if (name == "name") rule.name = wanted.text;
            if (name == "model") rule.model = wanted.text;
            if (name == "serial") rule.serial = wanted.text;
            if (name == "transport") rule.transport = wanted.text;
            if (name == "rotational") rule.rotational = wanted.boolean();
            if (name == "removable") rule.removable = wanted.boolean();
            if (name == "virtual") rule.is_virtual = wanted.boolean();
        }
    }
    if (!has_match) {
        PolicyError error;
        error.where = node.place;
        error.says = "this [[block]] rule has no match, so it would mean every disk";
        error.fix = "say which disks it is for, such as match = { transport = \"nvme\" }";
        notes.add(error);
    }
    return rule;
}

// A forced provisioning mode is for bridges somebody has tried: no glob that takes in any model.
void check_provisioning(const BlockRule& rule, Notes& notes) {
    for (const auto& wish : rule.wishes) {
        if (wish.attribute->key != "provisioning-mode") continue;
        const bool names_model = rule.model && rule.model->find_first_not_of("*?") != std::string::npos;
        if (names_model) continue;
        PolicyError error;
        error.where = wish.place;
        error.says =
            "provisioning-mode can lose data on a bridge that only claims to unmap, so it is taken for named models "
            "alone";
        error.fix = "add the model to match, such as model = \"Portable SSD T5\"";
        error.width = static_cast<int>(wish.text.size()) + 2;
        notes.add(error);
    }
}

}  // namespace

bool BlockRule::matches(const Disk& disk) const {
    const bool by_name = name && (glob_match(*name, disk.name) || glob_match(*name, disk.device.name));
    if (name && !by_name) return false;
    if (disk.is_path && !by_name) return false;
    if (disk.is_virtual && !by_name && is_virtual != true) return false;
    return glob_holds(model, disk.model) && glob_holds(serial, disk.serial) && holds(transport, disk.transport) &&
           holds(rotational, disk.rotational) && holds(removable, disk.removable) && holds(is_virtual, disk.is_virtual);
}

std::string BlockRule::address() const {
    std::map<std::string, std::string> parts;
    if (name) parts["name"] = escape_part(*name);
    if (model) parts["model"] = escape_part(*model);
    if (serial) parts["serial"] = escape_part(*serial);
    if (transport) parts["transport"] = *transport;
    if (rotational) parts["rotational"] = *rotational ? "true" : "false";
    if (removable) parts["removable"] = *removable ? "true" : "false";
    if (is_virtual) parts["virtual"] = *is_virtual ? "true" : "false";
    std::string text;
    for (const auto& [key, value] : parts) text += (text.empty() ? "" : ",") + key + "=" + value;
    return make_address("block", text, "");
}

std::optional<std::string> BlockRule::udev_match() const {
    std::vector<std::string> terms;
    for (const auto* glob : {&name, &model, &serial}) {
        if (*glob && !has_udev_spelling(**glob)) return std::nullopt;
    }
    if (serial) return std::nullopt;  // where a serial stands differs by driver: expanded to the disks present
    if (name) terms.push_back(term("KERNEL", udev_pattern(*name)));
    if (transport) {
        const auto match = transport_match(*transport);
        if (!match) return std::nullopt;
        terms.push_back(*match);
    }
    if (model) terms.push_back(term("ATTRS{model}", udev_pattern(*model)));
    if (rotational) terms.push_back(term("ATTR{queue/rotational}", *rotational ? "1" : "0"));
    if (removable) terms.push_back(term("ATTR{removable}", *removable ? "1" : "0"));
    // Devices without hardware lie below /devices/virtual; a rule that names none of them leaves them alone.
    if (is_virtual) {
        terms.push_back(std::string("DEVPATH") + (*is_virtual ? "==" : "!=") + "\"/devices/virtual/*\"");
    } else if (!name) {
        terms.push_back("DEVPATH!=\"/devices/virtual/*\"");
    }
    return join(terms, ", ");
}

std::optional<BlockRule> parse_rule_address(std::string_view address) {
    constexpr std::string_view head = "block[";
    const auto end = address.rfind("\"]");
    if (!address.starts_with(head) || end == std::string_view::npos) return std::nullopt;
    const auto name = parse_json(address.substr(head.size(), end + 1 - head.size()), "address");
    if (!name || !name->is_string()) return std::nullopt;
    BlockRule rule;
    for (const auto& [key, value] : split_parts(name->get<std::string>())) {
        if (key == "name") rule.name = value;
        if (key == "model") rule.model = value;
        if (key == "serial") rule.serial = value;
        if (key == "transport") rule.transport = value;
        if (key == "rotational") rule.rotational = value == "true";
        if (key == "removable") rule.removable = value == "true";
        if (key == "virtual") rule.is_virtual = value == "true";
    }
    return rule;
}

std::vector<BlockRule> read_block_rules(const Policy& policy, Notes& notes) {
    std::vector<BlockRule> rules;
    const auto* node = policy.find("block");
    if (node == nullptr || node->list() == nullptr) return rules;
    for (const auto& element : *node->list()) {
        rules.push_back(read_rule(element, policy, notes));
        check_provisioning(rules.back(), notes);
    }
    return rules;
}

std::optional<std::string> udev_match_of(const Disk& disk) {
    const auto& kernel = disk.device.name;
    if (kernel.starts_with("dm-")) {
        if (disk.identity.empty() || !has_udev_spelling(disk.identity)) return std::nullopt;
        return term("ENV{DM_UUID}", udev_pattern(disk.identity));
    }
    if (!disk.wwn.empty() && has_udev_spelling(disk.wwn)) {
        // nvme has wwid beside the disk's own files, SCSI disks below device/ (drivers/nvme/host/sysfs.c,
        // scsi_sysfs.c).
        return term(kernel.starts_with("nvme") ? "ATTR{wwid}" : "ATTRS{wwid}", udev_pattern(disk.wwn));
    }
    if (!disk.serial.empty() && has_udev_spelling(disk.serial)) {
        return term(kernel.starts_with("vd") ? "ATTR{serial}" : "ATTRS{serial}", udev_pattern(disk.serial));
    }
    return std::nullopt;
}

}  // namespace storpol
