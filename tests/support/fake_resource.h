// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "engine/reconcile/resource.h"

// A domain for tests of the engine: every key NAME of [fake] is a setting fake["NAME"].
//   live       /proc/sys/fake/NAME
//   persisted  the line "NAME = VALUE" of /etc/fake.d/zz-storpol.conf, an own file
// The beginning of a name says how its live plane takes change:
//   slow_   at the next boot only          mount_  at the next mount only (/proc/fake/mount-id is its id)
//   hard_   in no way (a gap with `cannot`)  wild_   by a disruptive write     guard_  by a write that a guard refuses
//   after_  by a write that needs the own file written first
//   lost_   the resource forgets it: neither action nor gap
namespace storpol {

inline constexpr std::string_view fake_own_file = "/etc/fake.d/zz-storpol.conf";

std::string fake_attribute(std::string_view name);  // its live path
std::string fake_address(std::string_view name);

std::unique_ptr<Resource> make_fake_resource();
Resources fake_resources();  // that one alone

}  // namespace storpol
