// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/option_value.h"

#include <algorithm>
#include <charconv>

#include "engine/base/text.h"

namespace storpol {
namespace {

std::optional<std::int64_t> parse_base(std::string_view digits, int base) {
    std::int64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
    if (error != std::errc() || stop != end || digits.front() == '-') return std::nullopt;
    return value;
}

tl::unexpected<Error> bad_value(std::string_view word, std::string why) {
    return fail(ErrorKind::invalid, std::string(word) + ": " + std::move(why));
}

// 0 may stand for the default and for "no limit" where the table lists it; bounds hold for everything else.
Result<std::string> bounded(const OptionSpec& spec, std::string_view word, std::optional<std::int64_t> number) {
    if (!number) return bad_value(word, "not a number");
    if (*number == 0 && !spec.zero.empty()) return std::string(spec.zero);
    if (spec.power == Power::lowest_bit) *number &= -*number;
    if (spec.power == Power::required && (*number & (*number - 1)) != 0) return bad_value(word, "not a power of two");
    if (spec.clamps) return std::to_string(std::clamp(*number, spec.min, spec.max));
    if (*number < spec.min || *number > spec.max) {
        return bad_value(word, "not between " + std::to_string(spec.min) + " and " + std::to_string(spec.max));
    }
    const std::string text = std::to_string(*number);
    if (!spec.choices.empty()) {
        const auto allowed = split(spec.choices, '|');
        if (std::find(allowed.begin(), allowed.end(), text) == allowed.end()) {
            return bad_value(word, "not one of " + std::string(spec.choices));
        }
    }
    return text;
}

Result<std::string> chosen(const OptionSpec& spec, std::string_view word, std::string_view value) {
    for (const std::string_view option : split(spec.choices, '|')) {
        const std::size_t equals = option.find('=');
        if (option.substr(0, equals) != value) continue;
        return std::string(equals == std::string_view::npos ? option : option.substr(equals + 1));
    }
    return bad_value(word, "not one of " + std::string(spec.choices));
}

struct Compressor {
    std::string_view name;
    int lowest;
    int highest;  // 0: it has no levels
    int usual;    // what no level and level 0 stand for
};

// fs/btrfs/compression.c, zstd.c, zlib.c of 6.18: levels outside are clamped, without an error; negative ones of zstd
// since 6.15.
constexpr Compressor compressors[] = {{"zlib", 1, 9, 3}, {"zstd", -15, 15, 3}, {"lzo", 0, 0, 0}};

// compress=zstd:5, compress=no
Result<std::string> compression(std::string_view word, std::string_view value) {
    if (value == "no" || value == "none") return std::string("off");
    const std::size_t colon = value.find(':');
    for (const Compressor& type : compressors) {
        if (value.substr(0, colon) != type.name) continue;
        if (colon == std::string_view::npos) {
            return std::string(type.name) + (type.highest == 0 ? "" : ":" + std::to_string(type.usual));
        }
        std::string_view digits = value.substr(colon + 1);
        const bool negative = digits.starts_with('-');
        if (negative) digits.remove_prefix(1);
        const auto number = digits.empty() ? std::nullopt : parse_base(digits, 10);
        if (!number || *number > 1000000) return bad_value(word, "the level is not a number");
        if (type.highest == 0) return std::string(type.name);
        int level = static_cast<int>(negative ? -*number : *number);
        if (level == 0) level = type.usual;
        return std::string(type.name) + ":" + std::to_string(std::clamp(level, type.lowest, type.highest));
    }
    return bad_value(word, "not one of zlib, lzo, zstd (with :LEVEL), no, none");
}

constexpr std::string_view force = "force-";

bool is_forced(const OptionSpec& spec) {
    return spec.bare.starts_with(force);
}

// "67108864" -> "64m": as people write it.
std::string with_suffix(std::string_view value) {
    const auto bytes = parse_int(value);
    if (!bytes || *bytes == 0 || *bytes % 1024 != 0) return std::string(value);
    if (*bytes % (1024 * 1024) != 0) return std::to_string(*bytes / 1024) + "k";
    return std::to_string(*bytes / 1024 / 1024) + "m";
}

}  // namespace

std::optional<std::int64_t> parse_option_number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    if (text.empty()) return std::nullopt;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        return text.size() == 2 ? std::nullopt : parse_base(text.substr(2), 16);
    }
    return parse_base(text, text.size() > 1 && text.front() == '0' ? 8 : 10);
}

std::optional<std::int64_t> parse_option_size(std::string_view text) {
    if (text.empty()) return std::nullopt;
    int shift = 0;
    switch (text.back()) {
        case 'k':
        case 'K':
            shift = 10;
            break;
        case 'm':
        case 'M':
            shift = 20;
            break;
        case 'g':
        case 'G':
            shift = 30;
            break;
        default:
            break;
    }
    if (shift != 0) text.remove_suffix(1);
    const auto number = text.empty() ? std::nullopt : parse_base(text, 10);
    if (!number || *number > (std::int64_t{1} << 62 >> shift)) return std::nullopt;
    return *number << shift;
}

Result<std::string> value_of_word(const OptionSpec& spec, std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
        if (spec.bare.empty()) return bad_value(word, "needs a value");
        return std::string(spec.bare);
    }
    const std::string_view value = word.substr(equals + 1);
    switch (spec.form) {
        case ValueForm::flag:
            return bad_value(word, "takes no value");
        case ValueForm::number: {
            const bool negative = value.starts_with('-') && spec.min < 0;
            auto number = parse_option_number(negative ? value.substr(1) : value);
            if (number && negative) number = -*number;
            return bounded(spec, word, number);
        }
        case ValueForm::size:
            return bounded(spec, word, parse_option_size(value));
        case ValueForm::truth: {
            const auto number = bounded(spec, word, parse_option_number(value));
            if (!number) return number;
            return std::string(*number == "0" ? "off" : "on");
        }
        case ValueForm::octal: {
            const auto bits = value.empty() ? std::nullopt : parse_base(value, 8);
            if (!bits || *bits > spec.max) return bad_value(word, "not a permission mask");
            std::string octal;
            for (int shift = 9; shift >= 0; shift -= 3) octal += static_cast<char>('0' + ((*bits >> shift) & 7));
            return octal;  // four digits, as fat_show_options() prints them
        }
        case ValueForm::choice:
            return chosen(spec, word, value);
        case ValueForm::special: {
            auto type = compression(word, value);
            if (type && *type != "off" && is_forced(spec)) return std::string(force) + *type;
            return type;
        }
        case ValueForm::text:
            return value.empty() ? std::string("none") : std::string(value);
    }
    return bad_value(word, "has no known form");
}

std::optional<std::string> word_for_value(const OptionSpec& spec, std::string_view value) {
    if (spec.kind != OptionClass::setting) return std::nullopt;
    const std::string with_value = std::string(spec.word) + "=";
    if (spec.form == ValueForm::flag) {
        if (spec.bare == value) return std::string(spec.word);
        return std::nullopt;
    }
    if (spec.form == ValueForm::special) {
        if (value == "off") return is_forced(spec) ? std::nullopt : std::optional<std::string>(with_value + "no");
        const bool forced = value.starts_with(force);
        if (forced != is_forced(spec)) return std::nullopt;
        return with_value + std::string(forced ? value.substr(force.size()) : value);
    }
    if (spec.form == ValueForm::truth) {
        if (value == "on" || value == "off") return with_value + (value == "on" ? "1" : "0");
        return std::nullopt;
    }
    if (spec.form == ValueForm::choice) {
        for (const std::string_view option : split(spec.choices, '|')) {
            const std::size_t equals = option.find('=');
            const std::string_view meaning = equals == std::string_view::npos ? option : option.substr(equals + 1);
            if (meaning == value) return with_value + std::string(option.substr(0, equals));
        }
        return std::nullopt;
    }
    const std::string word = with_value + (spec.form == ValueForm::size ? with_suffix(value) : std::string(value));
    const auto read_back = value_of_word(spec, word);
    if (!read_back || *read_back != value) return std::nullopt;
    return word;
}

}  // namespace storpol
