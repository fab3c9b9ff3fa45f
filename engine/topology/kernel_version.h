// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace storpol {

class Host;

struct KernelVersion {
    int major = 0;
    int minor = 0;
    auto operator<=>(const KernelVersion&) const = default;
    bool operator==(const KernelVersion&) const = default;
};

std::optional<KernelVersion> parse_kernel_version(std::string_view release);  // "6.12.0-18-amd64" -> 6, 12

// Of the running kernel, else the newest installed one (an image); none where neither is known.
std::optional<KernelVersion> read_kernel_version(Host& host);

}  // namespace storpol
