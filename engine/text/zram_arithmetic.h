// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// What the operators and functions of zram-generator's expressions do (engine/text/zram_expression.h). All numbers are
// doubles, and what has no value is NaN.
namespace storpol {

// How many arguments it takes; another number is an error already where the text is read.
struct ZramFunction {
    std::string_view name;
    std::size_t least = 1;
    std::size_t most = 1;
};

const ZramFunction* find_zram_function(std::string_view name);  // nullptr: there is none

// A row "a + b * c" of values with the operators between them, a letter each: themselves, or l g = ! & | for
// <= >= == != && ||. By precedence: ^, %, /, *, -, +, comparisons, &&, ||, each a level of its own; ^ * +
// from the right.
double value_of_zram_row(std::vector<double> values, std::string row);

double value_of_zram_call(std::string_view function, const std::vector<double>& arguments);

// What ! and && take for false: 0, and what is next to it.
bool is_zram_zero(double value);

}  // namespace storpol
