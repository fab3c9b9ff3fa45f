// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/policy/keys.h"

// The sysctls a policy may name: every vm.* key of Linux 6.1 to 7.x with what the kernel takes, and the rules for the
// names of other trees. From kernel Documentation/admin-guide/sysctl/vm.rst, mm/*.c, kernel/sysctl.c; ranges were tried
// on 6.18.
namespace storpol {

struct VmKey {
    std::string_view name;  // kernel spelling: "page-cluster"
    std::string_view doc;
    std::string_view unit;
    std::optional<std::int64_t> default_value;  // where it is the same on every machine
    std::int64_t kernel_min = 0;  // what a write(2) may hold; outside it is EINVAL and the old value stays
    std::int64_t kernel_max = 2147483647;
    std::string_view refusal;  // why no policy may set it; empty for settings
    bool is_list = false;      // several numbers, or a word: compared as text
    bool is_size = false;      // bytes: a policy may write "256MiB"
};

const std::vector<VmKey>& vm_keys();                      // sorted by name
const VmKey* find_vm_key(std::string_view name);          // "swappiness"
const VmKey* find_vm_key_by_path(std::string_view path);  // "vm/swappiness"

// Two keys for one limit: a write to one makes the other read 0.
struct KeyPair {
    std::string ratio;  // "vm/dirty_ratio"
    std::string bytes;  // "vm/dirty_bytes"
    std::int64_t default_ratio = 0;
    bool acts_on_change = false;  // a write of the value it already holds changes nothing
};

const std::vector<KeyPair>& key_pairs();
const KeyPair* find_pair(std::string_view path);
const std::string& counterpart_of(const KeyPair& pair, std::string_view path);

PolicyKeys sysctl_policy_keys();

}  // namespace storpol
