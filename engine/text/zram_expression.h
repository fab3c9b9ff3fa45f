// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

// The arithmetic that zram-generator takes for sizes, "min(ram / 2, 4096)": the language of the Rust library fasteval
// 0.2 as it is built there, with its odd corners (suffixes are decimal: 8G is 8000000000; "-" binds tighter than "+"
// and "/" than "*"; what is nearly equal is equal). In MiB; `ram` is the machine's memory in whole MiB.
namespace storpol {

struct ZramExpressionError {
    std::size_t column = 1;  // from 1
    std::string why;
    bool operator==(const ZramExpressionError&) const = default;
};

class ZramExpression {
  public:
    // Variables beside `ram`, by name.
    using Variables = std::map<std::string, double, std::less<>>;

    // An error here stops zram-generator even where a later line takes the key's place; one of evaluate() only where
    // this is the line that counts.
    static tl::expected<ZramExpression, ZramExpressionError> parse(std::string_view text);

    // What is negative, infinite or not a number is a value here. An error for a name that is no variable.
    tl::expected<double, ZramExpressionError> evaluate(std::uint64_t ram_mib, const Variables& variables = {}) const;

    // The names it uses beside `ram` and the built-in functions, each once, sorted.
    std::vector<std::string> names() const;

  private:
    friend class ZramExpressionParser;
    friend class ZramExpressionValue;

    enum class Kind { constant, row, call, name, negative, negation, print };

    struct Node {
        Kind kind = Kind::constant;
        double constant = 0;
        std::string name;                   // of a call or name
        std::vector<std::size_t> operands;  // nodes: those of a row, the arguments of a call, the one of a sign
        std::string operators;              // of a row, a letter each, one fewer than operands
        std::size_t column = 1;
    };

    std::vector<Node> nodes_;
    std::size_t root_ = 0;
};

// Bytes as zram-generator makes them of a value in MiB: cut to whole bytes, the largest number where they are too many.
// None for what it refuses: negative, not a number.
std::optional<std::int64_t> zram_bytes(double mib);

}  // namespace storpol
