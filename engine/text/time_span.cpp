// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/time_span.h"

#include <array>
#include <cctype>
#include <cstdint>
#include <limits>

#include "engine/base/text.h"

namespace storpol {
namespace {

struct Unit {
    std::string_view word;
    std::int64_t microseconds;
};

constexpr std::int64_t second = 1000000;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t day = 24 * hour;

// systemd src/basic/time-util.c, extract_multiplier: a month is 30.44 days, a year 365.25.
constexpr std::array<Unit, 30> units{{{"seconds", second},
                                      {"second", second},
                                      {"sec", second},
                                      {"s", second},
                                      {"minutes", minute},
                                      {"minute", minute},
                                      {"min", minute},
                                      {"months", 2629800 * second},
                                      {"month", 2629800 * second},
                                      {"M", 2629800 * second},
                                      {"msec", 1000},
                                      {"ms", 1000},
                                      {"m", minute},
                                      {"hours", hour},
                                      {"hour", hour},
                                      {"hr", hour},
                                      {"h", hour},
                                      {"days", day},
                                      {"day", day},
                                      {"d", day},
                                      {"weeks", 7 * day},
                                      {"week", 7 * day},
                                      {"w", 7 * day},
                                      {"years", 31557600 * second},
                                      {"year", 31557600 * second},
                                      {"y", 31557600 * second},
                                      {"usec", 1},
                                      {"us", 1},
                                      {"\xC2\xB5s", 1},
                                      {"\xCE\xBCs", 1}}};

std::string_view word_at(std::string_view text) {
    std::size_t length = 0;
    while (length < text.size() && text[length] != ' ' && text[length] != '\t' && text[length] != '+' &&
           std::isdigit(static_cast<unsigned char>(text[length])) == 0)
        ++length;
    return text.substr(0, length);
}

std::int64_t unit_of(std::string_view word) {
    if (word.empty()) return second;
    for (const auto& unit : units) {
        if (unit.word == word) return unit.microseconds;
    }
    return 0;
}

struct Amount {
    std::int64_t whole = 0;
    std::string_view fraction;  // digits behind the point
};

std::optional<Amount> take_amount(std::string_view& text) {
    const auto digits = [&text] {
        std::size_t length = 0;
        while (length < text.size() && std::isdigit(static_cast<unsigned char>(text[length])) != 0) ++length;
        const auto found = text.substr(0, length);
        text.remove_prefix(length);
        return found;
    };
    const auto whole = digits();
    Amount amount;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        amount.fraction = digits();
    }
    if (whole.empty() && amount.fraction.empty()) return std::nullopt;
    const auto number = whole.empty() ? std::optional<std::int64_t>(0) : parse_int(whole);
    if (!number) return std::nullopt;
    amount.whole = *number;
    return amount;
}

}  // namespace

std::optional<std::chrono::microseconds> parse_time_span(std::string_view text) {
    text = trim(text);
    if (text == "infinity") return std::chrono::microseconds::max();
    if (text.empty()) return std::nullopt;
    std::int64_t total = 0;
    while (!text.empty()) {
        const auto amount = take_amount(text);
        if (!amount) return std::nullopt;
        text = trim(text);
        const auto word = word_at(text);
        auto unit = unit_of(word);
        if (unit == 0) return std::nullopt;
        text = trim(text.substr(word.size()));
        if (amount->whole > (std::numeric_limits<std::int64_t>::max() - total) / unit) return std::nullopt;
        total += amount->whole * unit;
        for (const char digit : amount->fraction) {
            unit /= 10;
            total += (digit - '0') * unit;
        }
        if (total < 0) return std::nullopt;
    }
    return std::chrono::microseconds(total);
}

}  // namespace storpol
