// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/sysctl/keys.h"

#include <algorithm>
#include <limits>

#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/text/sysctl_d.h"

namespace storpol {
namespace {

constexpr std::int64_t int_max = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view trigger = "it is a trigger that acts once when it is written and holds no value";

std::optional<std::int64_t> number_in(const std::string& text) {
    if (const auto number = parse_int(text)) return number;
    const auto size = parse_size(text);
    return size ? std::optional<std::int64_t>(*size) : std::nullopt;
}

using Objection = Key::Objection;

// What the kernel refuses, ignores or is broken by, where a bare range would not say why.
std::optional<Objection> check_vm(const std::string& name, const std::string& text) {
    const VmKey* key = find_vm_key(name);
    if (key == nullptr) return std::nullopt;
    if (!key->refusal.empty()) {
        return Objection{"vm." + name + " is no setting: " + std::string(key->refusal), "take it out of the policy"};
    }
    const auto number = number_in(text);
    if (!number) return std::nullopt;
    if (name == "dirty_bytes" && *number < 8192) {
        return Objection{"dirty_bytes = " + text + ": the kernel refuses less than two pages (8192 bytes)",
                         "to leave the limit in bytes write dirty_ratio with a percentage above 0 instead"};
    }
    if (name == "dirty_background_bytes" && *number < 1) {
        return Objection{"dirty_background_bytes = " + text + ": the kernel refuses 0",
                         "to leave the limit in bytes write dirty_background_ratio with a percentage above 0 instead"};
    }
    if (name == "dirty_ratio" && *number == 0) {
        return Objection{
            "dirty_ratio = 0: with dirty_bytes set the kernel ignores this write, and 0 would stop every writer",
            "write a percentage from 1, or a limit with dirty_bytes"};
    }
    if (name == "min_free_kbytes" && *number < 1024) {
        return Objection{"min_free_kbytes = " + text + ": below 1024 the kernel can deadlock under load",
                         "write 1024 or more"};
    }
    return std::nullopt;
}

bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._/-:@+,").find(c) != std::string_view::npos;
}

std::optional<Objection> check_name(const std::string& name) {
    const std::string shown = "\"" + printable(name) + "\"";
    if (is_sysctl_glob(name))
        return Objection{shown + " is a glob; a policy names one key at a time", "write each key out"};
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_name_byte)) {
        return Objection{shown + " is no sysctl name", "write a name such as net.core.somaxconn"};
    }
    const auto is_separator = [](char c) { return c == '.' || c == '/'; };
    bool empty_part = is_separator(name.front()) || is_separator(name.back());
    for (std::size_t i = 1; i < name.size(); ++i)
        empty_part = empty_part || (is_separator(name[i - 1]) && is_separator(name[i]));
    if (empty_part || name.front() == '-') {
        return Objection{shown + " has an empty part or begins with '-'", "write a name such as net.core.somaxconn"};
    }
    const std::string path = sysctl_path(name);
    if (path.substr(0, 3) == "vm/") {
        return Objection{shown + " belongs under [vm]", "write " + path.substr(3) + " = ... under [vm]"};
    }
    if (path.find('/') == std::string::npos) {
        return Objection{shown + " names no key: every sysctl lies in a tree",
                         "write a name such as net.core.somaxconn"};
    }
    if (path == "net/ipv4/route/flush" || path == "net/ipv6/route/flush") {
        return Objection{shown + " is no setting: " + std::string(trigger), "take it out of the policy"};
    }
    return std::nullopt;
}

std::optional<Objection> check_sysctl(const std::string& name, const std::string& text) {
    if (auto objection = check_name(name)) return objection;
    if (text.empty() || trim(text) != text) {
        return Objection{
            name + ": a value is not empty and has no blanks at its ends, which a sysctl.d file cannot hold",
            "write the value without them"};
    }
    return std::nullopt;
}

Key policy_key(const VmKey& from) {
    Key key;
    key.name = from.name;
    key.type = from.is_list ? KeyType::integer_or_word : from.is_size ? KeyType::size : KeyType::integer;
    key.doc = from.doc;
    key.unit = from.unit;
    key.bounds = !from.is_list;
    key.check = check_vm;
    if (from.default_value && !from.is_size)
        key.doc += " The kernel's default is " + std::to_string(*from.default_value) + ".";
    if (from.is_list || from.is_size || !from.refusal.empty()) return key;
    key.min = std::max<std::int64_t>(from.kernel_min, 0);  // no key of ours means anything below 0
    if (from.kernel_max < int_max) key.max = from.kernel_max;
    return key;
}

}  // namespace

PolicyKeys sysctl_policy_keys() {
    Key vm;
    vm.name = "vm";
    vm.type = KeyType::table;
    vm.doc = "Memory management sysctls by the kernel's spelling, vm.* and nothing else.";
    for (const VmKey& key : vm_keys()) vm.keys.push_back(policy_key(key));
    Key any_key;
    any_key.name = "*";
    any_key.type = KeyType::integer_or_word;
    any_key.doc = "A sysctl of another tree, such as net.core.somaxconn; lists as text with blanks between.";
    any_key.bounds = true;
    any_key.joins_dots = true;
    any_key.check = check_sysctl;
    Key sysctl;
    sysctl.name = "sysctl";
    sysctl.type = KeyType::table;
    sysctl.doc = "Sysctls outside vm.*, each by its dotted name.";
    sysctl.keys = {any_key};
    return PolicyKeys{{sysctl, vm}};
}

}  // namespace storpol
