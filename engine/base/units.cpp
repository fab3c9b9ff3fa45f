// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/units.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "engine/base/text.h"

namespace storpol {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t factor;
};

constexpr std::array<Unit, 5> size_units{{{"TiB", std::int64_t{1} << 40},
                                          {"GiB", std::int64_t{1} << 30},
                                          {"MiB", std::int64_t{1} << 20},
                                          {"KiB", std::int64_t{1} << 10},
                                          {"B", 1}}};

constexpr std::array<Unit, 7> duration_units{{{"w", 604'800'000'000},
                                              {"d", 86'400'000'000},
                                              {"h", 3'600'000'000},
                                              {"min", 60'000'000},
                                              {"s", 1'000'000},
                                              {"ms", 1'000},
                                              {"us", 1}}};

constexpr std::string_view size_fix = "write a whole number with B, KiB, MiB, GiB or TiB, such as \"64KiB\"";
constexpr std::string_view duration_fix = "write a whole number with us, ms, s, min, h, d or w, such as \"5min\"";

struct Quantity {
    std::int64_t number = 0;
    std::string_view unit;
};

// "10GiB" -> 10 and "GiB"; none where it does not begin with digits or the number does not fit. A space before the unit
// stays in it, so that no table knows it.
std::optional<Quantity> parse_quantity(std::string_view text) {
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    Quantity quantity;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, quantity.number);
    if (parsed.ec != std::errc{}) return std::nullopt;
    quantity.unit = std::string_view(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
    return quantity;
}

template <std::size_t count>
std::optional<std::int64_t> factor_of(const std::array<Unit, count>& units, std::string_view name) {
    for (const Unit& unit : units) {
        if (unit.name == name) return unit.factor;
    }
    return std::nullopt;
}

template <std::size_t count>
std::string render_with(const std::array<Unit, count>& units, std::int64_t amount) {
    for (const Unit& unit : units) {
        if (amount != 0 && amount % unit.factor == 0)
            return std::to_string(amount / unit.factor) + std::string(unit.name);
    }
    return "0" + std::string(units.back().name);
}

std::string quoted(std::string_view text) {
    return "\"" + printable(text) + "\"";
}

// "1G", "1MB", "1k": people mean powers of 1000 and of 1024 by them. The fix names both readings.
std::optional<std::string> two_readings(const Quantity& quantity) {
    constexpr std::string_view prefixes = "KMGT";
    if (quantity.unit.empty() || quantity.unit.size() > 2) return std::nullopt;
    if (quantity.unit.size() == 2 && quantity.unit[1] != 'B' && quantity.unit[1] != 'b') return std::nullopt;
    const char prefix = quantity.unit[0] == 'k' ? 'K' : quantity.unit[0];
    const std::size_t index = prefixes.find(prefix);
    if (index == std::string_view::npos) return std::nullopt;
    std::int64_t decimal = quantity.number;
    for (std::size_t step = 0; step <= index; ++step) {
        if (decimal > std::numeric_limits<std::int64_t>::max() / 1000) return std::nullopt;
        decimal *= 1000;
    }
    const std::string number = std::to_string(quantity.number);
    return "write \"" + number + prefix + "iB\" for powers of 1024, or \"" + std::to_string(decimal) +
           "B\" for powers of 1000";
}

tl::unexpected<Error> bad_size(std::string_view text) {
    const auto quantity = parse_quantity(text);
    if (quantity) {
        if (auto fix = two_readings(*quantity)) {
            return fail(ErrorKind::invalid, "ambiguous size " + quoted(text), {}, std::move(*fix));
        }
    }
    if (text.find_first_of(".,") != std::string_view::npos) {
        return fail(ErrorKind::invalid, "size " + quoted(text) + " is not a whole number", {},
                    "use a smaller unit, such as \"1536MiB\" for one and a half GiB");
    }
    return fail(ErrorKind::invalid, "invalid size " + quoted(text), {}, std::string(size_fix));
}

}  // namespace

Result<Bytes> parse_size(std::string_view text) {
    const auto quantity = parse_quantity(text);
    if (!quantity) return bad_size(text);
    const auto factor = quantity->unit.empty() ? std::optional<std::int64_t>{1} : factor_of(size_units, quantity->unit);
    if (!factor) return bad_size(text);
    if (quantity->number > std::numeric_limits<Bytes>::max() / *factor) {
        return fail(ErrorKind::invalid, "size " + quoted(text) + " is too large", {},
                    "the largest is just under 8388608TiB");
    }
    return quantity->number * *factor;
}

std::string render_size(Bytes bytes) {
    return render_with(size_units, bytes);
}

Result<std::chrono::microseconds> parse_duration(std::string_view text) {
    const auto quantity = parse_quantity(text);
    if (quantity && quantity->unit.empty()) {
        const std::string number = std::to_string(quantity->number);
        return fail(ErrorKind::invalid, "duration " + quoted(text) + " has no unit", {},
                    "write for example \"" + number + "s\", \"" + number + "ms\" or \"" + number + "min\"");
    }
    const auto factor = quantity ? factor_of(duration_units, quantity->unit) : std::nullopt;
    if (quantity && !factor && (quantity->unit == "m" || quantity->unit == "M")) {
        const std::string number = std::to_string(quantity->number);
        return fail(ErrorKind::invalid, "ambiguous duration " + quoted(text), {},
                    "write \"" + number + "min\" for minutes, or \"" + std::to_string(quantity->number) +
                        "ms\" for milliseconds");
    }
    if (!factor) return fail(ErrorKind::invalid, "invalid duration " + quoted(text), {}, std::string(duration_fix));
    if (quantity->number > std::numeric_limits<std::int64_t>::max() / *factor) {
        return fail(ErrorKind::invalid, "duration " + quoted(text) + " is too long", {},
                    "the longest is about 292000 years");
    }
    return std::chrono::microseconds{quantity->number * *factor};
}

std::string render_duration(std::chrono::microseconds duration) {
    return render_with(duration_units, static_cast<std::int64_t>(duration.count()));
}

Result<int> parse_percent(std::string_view text) {
    constexpr std::int64_t most = 1000;
    const auto quantity = parse_quantity(text);
    if (!quantity || quantity->unit != "%") {
        std::string fix = "write a whole number with a percent sign, such as \"15%\"";
        if (quantity && quantity->unit.empty() && quantity->number <= most)
            fix = "write \"" + std::string(text) + "%\"";
        return fail(ErrorKind::invalid, "invalid percentage " + quoted(text), {}, std::move(fix));
    }
    if (quantity->number > most) {
        return fail(ErrorKind::invalid, "percentage " + quoted(text) + " is out of range", {}, "write 0% to 1000%");
    }
    return static_cast<int>(quantity->number);
}

}  // namespace storpol
