// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/zram_generator.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/base/text.h"
#include "engine/text/zram_expression.h"

namespace storpol {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20U;

// Numbers as Rust parses them: a sign, then digits alone.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return std::nullopt;
    }
    Number number{};
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
    return number;
}

// "none" or whole MiB; nothing for what is neither.
struct OptionalMib {
    bool is_none = false;
    std::uint64_t value = 0;
};

std::optional<OptionalMib> parse_optional_mib(std::string_view text) {
    if (text == "none") return OptionalMib{true, 0};
    const auto value = parse_number<std::uint64_t>(text);
    return value ? std::optional<OptionalMib>({false, *value}) : std::nullopt;
}

// f64::from_str: "0.5", ".5", "1e3", "inf", "NaN" in any case.
std::optional<double> parse_fraction(std::string_view text) {
    std::string lower;
    for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::string_view rest = lower;
    const bool negative = rest.starts_with('-');
    if (negative || rest.starts_with('+')) rest.remove_prefix(1);
    if (rest.empty() || !(std::isdigit(static_cast<unsigned char>(rest[0])) != 0 || rest[0] == '.' || rest[0] == 'i' ||
                          rest == "nan")) {
        return std::nullopt;
    }
    double number = 0;
    const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (result.ptr != rest.data() + rest.size() || result.ec == std::errc::invalid_argument) return std::nullopt;
    if (result.ec == std::errc::result_out_of_range) number = std::numeric_limits<double>::infinity();
    return negative ? -number : number;
}

// Absolute, without "..", its "." and doubled slashes taken out.
std::optional<std::string> normal_path(std::string_view text) {
    if (!text.starts_with('/')) return std::nullopt;
    std::string path;
    for (const auto part : split(text, '/')) {
        if (part.empty() || part == ".") continue;
        if (part == "..") return std::nullopt;
        path += "/" + std::string(part);
    }
    return path.empty() ? "/" : path;
}

bool is_device_name(std::string_view section) {
    return section.starts_with("zram") && parse_number<std::uint64_t>(section.substr(4)).has_value();
}

std::optional<bool> kernel_switch_of(std::string_view command_line) {
    std::optional<bool> found;
    for (const auto word : split_words(command_line)) {
        if (!word.starts_with("systemd.zram")) continue;
        const auto value = word.substr(12);
        for (const std::string_view yes : {"", "=1", "=yes", "=true", "=on"}) {
            if (value == yes) found = true;
        }
        for (const std::string_view no : {"=0", "=no", "=false", "=off"}) {
            if (value == no) found = false;
        }
    }
    return found;
}

constexpr std::array<std::string_view, 9> plain_keys{"host-memory-limit", "zram-size",     "compression-algorithm",
                                                     "writeback-device",  "swap-priority", "mount-point",
                                                     "fs-type",           "options",       "zram-fraction"};

// The first word's name and parameters, "zstd" and "level=1" of "zstd(level=1) lz4".
std::pair<std::string, std::string> first_algorithm(std::string_view value) {
    for (const auto word : split_words(value)) {
        const auto open = word.find('(');
        if (open == 0) continue;  // parameters of recompression in general
        if (open == std::string_view::npos) return {std::string(word), ""};
        auto parameters = word.substr(open + 1);
        if (parameters.ends_with(')')) parameters.remove_suffix(1);
        return {std::string(word.substr(0, open)), std::string(parameters)};
    }
    return {};
}

std::optional<std::int64_t> level_in(std::string_view parameters) {
    std::optional<std::int64_t> level;
    for (const auto parameter : split(parameters, ',')) {
        if (parameter.starts_with("level=")) level = parse_int(parameter.substr(6));
    }
    return level;
}

class Reader {
  public:
    explicit Reader(const ZramGeneratorInput& input)
        : input_(input), has_levels_(zram_generator_has_levels(input.version)) {}

    ZramGeneratorConfig read() {
        config_.kernel_switch = kernel_switch_of(input_.kernel_command_line);
        for (const auto& file : input_.files) {
            read_file(file);
            if (config_.stop) return std::move(config_);
        }
        if (config_.kernel_switch == true) device("zram0");
        for (auto& [name, made] : config_.devices) {
            settle(made);
            if (config_.stop) break;
        }
        if (!config_.stop) look_for_shared_mount_points();
        return std::move(config_);
    }

  private:
    ZramGeneratorDevice& device(const std::string& name) {
        auto& made = config_.devices[name];
        made.name = name;
        made.size.bytes = 0;
        made.resident_limit.bytes = 0;
        return made;
    }

    void stop(ZramPlace place, std::string why) { config_.stop = ZramProblem{std::move(place), std::move(why)}; }

    void warn(ZramPlace place, std::string why) { config_.warnings.push_back({std::move(place), std::move(why)}); }

    void read_file(const ZramGeneratorFile& file) {
        const auto ini = parse_zram_ini(file.bytes);
        if (!ini.error.empty()) return stop({file.path, ini.error_line}, ini.error);
        for (const auto& line : ini.lines) {
            const ZramPlace place{file.path, line.line};
            if (!line.section) {
                read_line_above_sections(line, place);
            } else if (!is_device_name(*line.section)) {
                if (line.key.empty()) warn(place, "section [" + printable(*line.section) + "] is passed over");
            } else if (line.key.empty()) {
                auto& made = device(*line.section);
                if (!made.section) made.section = place;
            } else {
                read_key(device(*line.section), line, place);
                if (config_.stop) return;
            }
        }
    }

    // "set!NAME = PROGRAM" makes a variable of what a shell command prints when the generator runs.
    void read_line_above_sections(const ZramIniLine& line, const ZramPlace& place) {
        if (!line.key.starts_with("set!") || has_levels_ == false) {
            return warn(place, "\"" + printable(line.key) + "\" stands above every section and is passed over");
        }
        set_.emplace(line.key.substr(4), place);
        warn(place, "\"" + printable(line.key) + "\" runs a program at each boot, whose answer cannot be known before");
    }

    void read_key(ZramGeneratorDevice& made, const ZramIniLine& line, const ZramPlace& place) {
        const std::string key = line.key == "memory-limit" ? "host-memory-limit" : line.key;
        const bool is_limit = key == "zram-resident-limit";
        const bool is_known =
            key == "max-zram-size" || is_limit || std::ranges::find(plain_keys, key) != plain_keys.end();
        if (!is_known || (is_limit && has_levels_ == false)) {
            const auto since = is_limit ? " of zram-generator " + input_.version + " (1.2.0 has it)" : "";
            return warn(place, "no key \"" + printable(line.key) + "\"" + since + ": the line is passed over");
        }
        const auto why = refusal(key, line.value);
        if (!why.empty()) return stop(place, key + " = " + printable(line.value) + ": " + why);
        auto& entry = made.keys[key];
        if (entry.place.line != 0) entry.shadows.insert(entry.shadows.begin(), entry.place);
        entry.value = line.value;
        entry.place = place;
    }

    // Why the generator gives up on such a value; empty: it does not.
    static std::string refusal(std::string_view key, std::string_view value) {
        if (key == "zram-size" || key == "zram-resident-limit") {
            const auto parsed = ZramExpression::parse(value);
            if (parsed) return {};
            return parsed.error().why + " (at column " + std::to_string(parsed.error().column) + " of the expression)";
        }
        if (key == "host-memory-limit" || key == "max-zram-size") {
            return parse_optional_mib(value) ? "" : "a whole number of MiB or \"none\" is wanted";
        }
        if (key == "swap-priority") {
            const auto priority = parse_number<std::int32_t>(value);
            return priority && *priority >= -1 && *priority <= 32767 ? "" : "a number from -1 to 32767 is wanted";
        }
        if (key == "mount-point" || key == "writeback-device") {
            return normal_path(value) ? "" : "an absolute path without \"..\" is wanted";
        }
        if (key == "zram-fraction") {
            const auto fraction = parse_fraction(value);
            return fraction && *fraction >= 0 ? "" : "a number of 0 or more is wanted";
        }
        return {};
    }

    void settle(ZramGeneratorDevice& made) {
        const auto text = [&made](std::string_view key) { return made.find(key)->value; };
        if (made.find("swap-priority") != nullptr) made.priority = *parse_number<std::int32_t>(text("swap-priority"));
        if (made.find("options") != nullptr) made.options = text("options");
        if (made.find("mount-point") != nullptr) made.mount_point = *normal_path(text("mount-point"));
        made.fs_type = made.mount_point.empty() ? "swap" : "ext2";
        if (made.find("fs-type") != nullptr) made.fs_type = text("fs-type");
        settle_algorithm(made);
        const auto* limit = made.find("host-memory-limit");
        const auto most = limit == nullptr ? OptionalMib{true, 0} : *parse_optional_mib(limit->value);
        made.is_over_memory_limit = !most.is_none && most.value < ram();
        if (made.is_over_memory_limit) return;
        const auto* key = made.size_key();
        if (key == nullptr) {
            made.size.bytes = zram_bytes(std::min(static_cast<double>(ram()) / 2, 4096.0));
        } else if (key == made.find("zram-size")) {
            made.size = evaluate("zram-size", *key);
        } else {
            made.size.bytes = obsolete_size(made);
        }
        const auto* resident = made.find("zram-resident-limit");
        if (resident == nullptr || config_.stop) return;
        if (has_levels_) {
            made.resident_limit = evaluate("zram-resident-limit", *resident);
        } else {
            made.resident_limit = {std::nullopt,
                                   "zram-resident-limit needs zram-generator 1.2.0, and which version is installed "
                                   "cannot be told"};
        }
    }

    // The second mount unit of one name is a file that exists: the generator fails there, with some units written.
    void look_for_shared_mount_points() {
        std::map<std::string, std::string> taken;
        for (const auto& [name, made] : config_.devices) {
            if (made.mount_point.empty() || made.size.bytes == 0) continue;
            const auto [other, is_first] = taken.emplace(made.mount_point, name);
            if (is_first) continue;
            return stop(made.find("mount-point")->place, "mount-point = " + printable(made.mount_point) +
                                                             ": this is the mount point of " + other->second + " too");
        }
    }

    std::uint64_t ram() const { return input_.memory_kib / 1024; }

    ZramSize evaluate(std::string_view key, const ZramKey& from) {
        const auto expression = ZramExpression::parse(from.value);  // it could be parsed when it was read
        for (const auto& name : expression->names()) {
            const auto set = set_.find(name);
            if (set != set_.end()) {
                return {std::nullopt, "it depends on what the program at " + set->second.where() + " prints"};
            }
        }
        const auto value = expression->evaluate(ram());
        if (!value) {
            stop(from.place, std::string(key) + " = " + printable(from.value) + ": " + value.error().why);
            return {std::nullopt, value.error().why};
        }
        const auto bytes = zram_bytes(*value);
        if (!bytes) {
            const std::string why = std::isnan(*value) ? "it is not a number" : "it is negative";
            stop(from.place, std::string(key) + " = " + printable(from.value) + ": " + why);
            return {std::nullopt, why};
        }
        // The largest machine Linux knows has 2^52 bytes: more is a suffix that was meant as a unit.
        if (*value > static_cast<double>(ram()) * 100 && *value >= 1e6) {
            warn(from.place, std::string(key) + " = " + printable(from.value) +
                                 " is in MiB, where k, M and G are decimal factors: it comes to " +
                                 std::to_string(*bytes / mib) + " MiB; write 8192 for 8 GiB");
        }
        return {bytes, ""};
    }

    std::int64_t obsolete_size(const ZramGeneratorDevice& made) const {
        const auto* fraction = made.find("zram-fraction");
        const auto* most = made.find("max-zram-size");
        const double wanted =
            (fraction == nullptr ? 0.5 : *parse_fraction(fraction->value)) * static_cast<double>(ram());
        const auto limit = most == nullptr ? OptionalMib{true, 0} : *parse_optional_mib(most->value);
        double whole = std::isnan(wanted) ? 0 : std::trunc(wanted);  // infinity times no memory
        if (!limit.is_none) whole = std::min(whole, static_cast<double>(limit.value));
        return *zram_bytes(whole);
    }

    void settle_algorithm(ZramGeneratorDevice& made) const {
        const auto* key = made.find("compression-algorithm");
        if (key == nullptr) return;
        const auto [name, parameters] = first_algorithm(key->value);
        const bool is_plain = key->value == name;
        if (!is_plain && !has_levels_) {
            made.algorithm_unknown = "what \"" + printable(key->value) +
                                     "\" means depends on the version of zram-generator, which cannot be told";
        } else if (is_plain || *has_levels_) {
            made.algorithm = name;
            made.level = level_in(parameters);
        } else {
            // Before 1.2.0 the whole text was written as an algorithm's name, which no kernel knows: a warning, and
            // the kernel's default.
            made.algorithm = key->value;
        }
    }

    const ZramGeneratorInput& input_;
    std::optional<bool> has_levels_;
    std::map<std::string, ZramPlace> set_;
    ZramGeneratorConfig config_;
};

}  // namespace

const ZramKey* ZramGeneratorDevice::find(std::string_view key) const {
    const auto found = keys.find(std::string(key));
    return found == keys.end() ? nullptr : &found->second;
}

const ZramKey* ZramGeneratorDevice::size_key() const {
    for (const std::string_view key : {"zram-fraction", "max-zram-size", "zram-size"}) {
        if (const auto* found = find(key)) return found;
    }
    return nullptr;
}

std::string ZramGeneratorConfig::why_not_made(std::string_view name) const {
    if (kernel_switch == false) return "systemd.zram=0 on the kernel command line switches zram-generator off";
    if (stop) return "zram-generator gives up at " + stop->place.where() + ": " + stop->why;
    const auto found = devices.find(std::string(name));
    if (found == devices.end()) return "no section [" + std::string(name) + "] in any file of zram-generator";
    if (found->second.is_over_memory_limit) {
        const auto& limit = *found->second.find("host-memory-limit");
        return "host-memory-limit = " + limit.value + " at " + limit.place.where() +
               " is below the memory of this machine, so that the device is not made";
    }
    if (!found->second.is_swap() && found->second.mount_point.empty()) {
        return "fs-type = " + found->second.fs_type + " without a mount-point: no unit makes the device";
    }
    if (found->second.size.bytes == 0) return "its size is 0, so that zram-generator does not make it";
    return {};
}

ZramGeneratorConfig read_zram_generator(const ZramGeneratorInput& input) {
    return Reader(input).read();
}

std::optional<bool> zram_generator_has_levels(std::string_view version) {
    if (const auto epoch = version.find(':'); epoch != std::string_view::npos) version.remove_prefix(epoch + 1);
    std::array<int, 2> numbers{};
    const char* at = version.data();
    const char* const end = version.data() + version.size();
    for (auto& number : numbers) {
        const auto result = std::from_chars(at, end, number);
        if (result.ec != std::errc()) return std::nullopt;
        at = result.ptr;
        if (at != end && *at == '.') ++at;
    }
    return numbers[0] > 1 || (numbers[0] == 1 && numbers[1] >= 2);
}

std::string render_zram_percent(int percent) {
    if (percent % 100 == 0) return percent == 100 ? "ram" : "ram * " + std::to_string(percent / 100);
    std::string fraction = std::to_string(percent % 100);
    if (fraction.size() == 1) fraction.insert(0, "0");
    while (fraction.back() == '0') fraction.pop_back();
    return "ram * " + std::to_string(percent / 100) + "." + fraction;
}

std::string render_zram_mib(std::int64_t bytes) {
    if (bytes % mib == 0) return std::to_string(bytes / mib);
    return std::to_string(bytes) + " / 1048576";
}

}  // namespace storpol
