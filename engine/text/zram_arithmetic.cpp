// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/zram_arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/base/result.h"

namespace storpol {
namespace {

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

constexpr std::array functions{
    ZramFunction{"int"},
    ZramFunction{"ceil"},
    ZramFunction{"floor"},
    ZramFunction{"abs"},
    ZramFunction{"sign"},
    ZramFunction{"log", 1, 2},
    ZramFunction{"round", 1, 2},
    ZramFunction{"min", 1, any_number},
    ZramFunction{"max", 1, any_number},
    ZramFunction{"e", 0, 0},
    ZramFunction{"pi", 0, 0},
    ZramFunction{"sin"},
    ZramFunction{"cos"},
    ZramFunction{"tan"},
    ZramFunction{"asin"},
    ZramFunction{"acos"},
    ZramFunction{"atan"},
    ZramFunction{"sinh"},
    ZramFunction{"cosh"},
    ZramFunction{"tanh"},
    ZramFunction{"asinh"},
    ZramFunction{"acosh"},
    ZramFunction{"atanh"},
};

bool is_equal(double a, double b) {
    return std::abs(a - b) <= 8 * std::numeric_limits<double>::epsilon();
}

bool is_unequal(double a, double b) {  // not the opposite: neither holds of two infinities
    return std::abs(a - b) > 8 * std::numeric_limits<double>::epsilon();
}

double apply(char letter, double a, double b) {
    switch (letter) {
        case '+':
            return a + b;
        case '-':
            return a - b;
        case '*':
            return a * b;
        case '/':
            return a / b;
        case '%':
            return std::fmod(a, b);
        case '^':
            return std::pow(a, b);
        case '<':
            return a < b ? 1 : 0;
        case 'l':
            return a <= b ? 1 : 0;
        case '=':
            return is_equal(a, b) ? 1 : 0;
        case '!':
            return is_unequal(a, b) ? 1 : 0;
        case 'g':
            return a >= b ? 1 : 0;
        case '>':
            return a > b ? 1 : 0;
        case '|':
            return is_unequal(a, 0) ? a : b;
        case '&':
            return is_equal(a, 0) ? a : b;
        default:
            STORPOL_BUG("no operator");
    }
}

// Applies the operators of one level to their neighbours, which takes them out of the row.
void fold_level(std::vector<double>& values, std::string& row, std::string_view level, bool from_the_right) {
    const auto is_of_level = [level](char letter) { return level.find(letter) != std::string_view::npos; };
    std::vector<double> kept_values;
    std::string kept;
    if (from_the_right) {
        kept_values.push_back(values.back());
        for (std::size_t at = row.size(); at-- > 0;) {
            if (is_of_level(row[at])) {
                kept_values.back() = apply(row[at], values[at], kept_values.back());
            } else {
                kept += row[at];
                kept_values.push_back(values[at]);
            }
        }
        std::ranges::reverse(kept_values);
        std::ranges::reverse(kept);
    } else {
        kept_values.push_back(values.front());
        for (std::size_t at = 0; at < row.size(); ++at) {
            if (is_of_level(row[at])) {
                kept_values.back() = apply(row[at], kept_values.back(), values[at + 1]);
            } else {
                kept += row[at];
                kept_values.push_back(values[at + 1]);
            }
        }
    }
    values = std::move(kept_values);
    row = std::move(kept);
}

double logarithm(double base, double of) {
    if (is_equal(base, 2)) return std::log2(of);
    if (is_equal(base, 10)) return std::log10(of);
    return std::log(of) / std::log(base);
}

double value_of_one(std::string_view name, double x) {
    static constexpr std::array<std::pair<std::string_view, double (*)(double)>, 16> by_name{{{"int", std::trunc},
                                                                                              {"ceil", std::ceil},
                                                                                              {"floor", std::floor},
                                                                                              {"abs", std::fabs},
                                                                                              {"sin", std::sin},
                                                                                              {"cos", std::cos},
                                                                                              {"tan", std::tan},
                                                                                              {"asin", std::asin},
                                                                                              {"acos", std::acos},
                                                                                              {"atan", std::atan},
                                                                                              {"sinh", std::sinh},
                                                                                              {"cosh", std::cosh},
                                                                                              {"tanh", std::tanh},
                                                                                              {"asinh", std::asinh},
                                                                                              {"acosh", std::acosh},
                                                                                              {"atanh", std::atanh}}};
    if (name == "sign") return std::isnan(x) ? x : std::copysign(1.0, x);
    for (const auto& [known, function] : by_name) {
        if (known == name) return function(x);
    }
    STORPOL_BUG("no function");
}

}  // namespace

const ZramFunction* find_zram_function(std::string_view name) {
    for (const auto& function : functions) {
        if (function.name == name) return &function;
    }
    return nullptr;
}

double value_of_zram_row(std::vector<double> values, std::string row) {
    static constexpr std::array<std::pair<std::string_view, bool>, 9> levels{{{"^", true},
                                                                              {"%", false},
                                                                              {"/", false},
                                                                              {"*", true},
                                                                              {"-", false},
                                                                              {"+", true},
                                                                              {"<l>g=!", false},
                                                                              {"&", false},
                                                                              {"|", false}}};
    for (const auto& [level, from_the_right] : levels) {
        if (row.empty()) break;
        fold_level(values, row, level, from_the_right);
    }
    return values.front();
}

double value_of_zram_call(std::string_view name, const std::vector<double>& arguments) {
    if (name == "e") return 2.718281828459045;
    if (name == "pi") return 3.141592653589793;
    if (name == "log") return arguments.size() == 1 ? std::log10(arguments[0]) : logarithm(arguments[0], arguments[1]);
    if (name == "round") {
        const double modulus = arguments.size() == 1 ? 1 : arguments[0];
        return std::round(arguments.back() / modulus) * modulus;
    }
    if (name == "min" || name == "max") {
        double found = arguments[0];
        for (const double x : arguments) found = name == "min" ? std::fmin(found, x) : std::fmax(found, x);
        return found;
    }
    return value_of_one(name, arguments[0]);
}

bool is_zram_zero(double value) {
    return is_equal(value, 0);
}

}  // namespace storpol
