// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <rapidcheck.h>

#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fake_resource.h"
#include "tests/support/memory_machine.h"

// Random machines and policies of the fake domain, small so that failures shrink to something a person can read.
namespace storpol {

struct FakeCase {
    std::map<std::string, std::string> live;    // NAME to VALUE of the kernel
    std::map<std::string, std::string> own;     // NAME to VALUE of the own file
    std::map<std::string, std::string> policy;  // NAME to TOML value
};

inline std::vector<std::string> fake_names() {
    return {"a", "b", "c", "slow_a", "mount_a", "hard_a", "wild_a", "guard_a", "after_a"};
}

// Pairs rather than a map's generator, which gives up once all names are used.
inline rc::Gen<std::map<std::string, std::string>> any_values(const std::vector<std::string>& values) {
    using Pairs = std::vector<std::pair<std::string, std::string>>;
    return rc::gen::map(
        rc::gen::resize(
            12, rc::gen::container<Pairs>(rc::gen::pair(rc::gen::elementOf(fake_names()), rc::gen::elementOf(values)))),
        [](const Pairs& pairs) { return std::map<std::string, std::string>(pairs.begin(), pairs.end()); });
}

inline rc::Gen<FakeCase> any_fake_case() {
    return rc::gen::apply(
        [](std::map<std::string, std::string> live, std::map<std::string, std::string> own,
           std::map<std::string, std::string> policy) {
            return FakeCase{std::move(live), std::move(own), std::move(policy)};
        },
        any_values({"1", "2", "7", "word"}), any_values({"1", "2", "7", "word"}),
        any_values({"1", "2", "\"word\"", "{ at-least = 2 }", "{ at-most = 2 }"}));
}

inline void show(const FakeCase& one, std::ostream& out) {
    const auto list = [&out](const char* name, const std::map<std::string, std::string>& values) {
        out << name << ":";
        for (const auto& [key, value] : values) out << " " << key << "=" << value;
        out << "\n";
    };
    list("live", one.live);
    list("own", one.own);
    list("policy", one.policy);
}

inline void showValue(const FakeCase& one, std::ostream& out) {
    show(one, out);
}

inline void fill(MemoryMachine& machine, const FakeCase& one) {
    for (const auto& [name, value] : one.live) machine.host.put_file(fake_attribute(name), value + "\n");
    std::string text;
    for (const auto& [name, value] : one.own) text += "# " + fake_address(name) + "\n" + name + " = " + value + "\n";
    if (!text.empty()) machine.host.put_file(std::string(fake_own_file), text);
    machine.host.put_file("/proc/fake/mount-id", "40\n");
}

inline Policy policy_of(const FakeCase& one, const Resources& resources) {
    std::string toml = "version = 1\n[fake]\n";
    for (const auto& [name, value] : one.policy) toml += name + " = " + value + "\n";
    return policy_of(toml, resources);
}

}  // namespace storpol
