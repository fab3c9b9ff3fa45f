// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

// What is wanted, in terms that one function can compare (engine/reconcile/compare.h).
namespace storpol {

// A number in the kernel's unit for this setting (bytes, microseconds, ...), or a word ("bfq", "on", "zstd:3").
using Value = std::variant<std::int64_t, std::string>;
std::string to_text(const Value& value);

struct Is {
    Value value;
    std::int64_t slack = 0;  // numbers only: how far the found one may lie from it, either way
    bool operator==(const Is&) const = default;
};

struct AtLeast {
    std::int64_t bound = 0;
    bool operator==(const AtLeast&) const = default;
};

struct AtMost {
    std::int64_t bound = 0;
    bool operator==(const AtMost&) const = default;
};

struct Not {
    std::vector<Value> values;  // none of these; empty: no value at all, so only Unset and a known "off" hold
    bool operator==(const Not&) const = default;
};

using Condition = std::variant<Is, AtLeast, AtMost, Not>;

// "150", "at least 131072", "at most 5000", "not continuous", "not set". Forms for people; JSON has its own.
std::string to_text(const Condition& condition);

}  // namespace storpol
