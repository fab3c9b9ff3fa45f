// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/zram_scripts.h"

#include <limits>

#include "engine/base/text.h"
#include "engine/text/shell_assignments.h"

namespace storpol {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20U;
// No product below overflows: 2^31 MiB are 2 PiB, 2^31 percent of 2^31 KiB less than 2^63.
constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();

class Variables {
  public:
    explicit Variables(std::string_view bytes) { all_.source("", bytes); }

    const std::string& unknown() const { return all_.unknown(); }

    // Its value; an empty one counts as not set (":=" of the shell).
    ZramScriptValue word(const std::string& name, std::string_view by_default) const {
        ZramScriptValue value;
        value.variable = name;
        value.word = by_default;
        if (!all_.unknown().empty()) {
            value.unknown = all_.unknown();
            return value;
        }
        const auto* found = all_.find(name);
        if (found == nullptr || (found->unknown.empty() && trim(found->text).empty())) return value;
        value.line = static_cast<int>(found->line);
        value.unknown = found->unknown;
        value.raw = found->text;
        value.word = std::string(trim(found->text));
        return value;
    }

    // A whole number times `unit`.
    ZramScriptValue number(const std::string& name,
                           std::optional<std::int64_t> by_default,
                           std::int64_t unit = 1) const {
        auto value = word(name, "");
        value.number = by_default;
        if (!value.is_set() || !value.unknown.empty()) return value;
        const auto number = parse_int(value.word);
        if (!number || *number > largest || *number < -largest) {
            value.number.reset();
            value.unknown = name + "=" + printable(value.word) + " is no whole number";
        } else {
            value.number = *number * unit;
        }
        value.word.clear();
        return value;
    }

  private:
    ShellAssignments all_;
};

ZramScriptValue fixed_word(std::string word) {
    ZramScriptValue value;
    value.word = std::move(word);
    return value;
}

// One device of zram-init, whose variables end in its number; none where it leaves the device out.
std::optional<ZramScriptDevice> device_of(const Variables& variables, const std::string& number) {
    ZramScriptDevice device;
    device.use = variables.word("type" + number, "");
    device.size = variables.number("size" + number, 0, mib);
    const auto& use = device.use.word;
    const bool is_used = use == "swap" || use == "-" || use.starts_with('/');
    if (device.use.unknown.empty() && !is_used) return std::nullopt;
    if (device.size.unknown.empty() && device.size.number.value_or(0) <= 0) return std::nullopt;
    device.algorithm = variables.word("algo" + number, "");
    device.resident_limit = variables.number("mlim" + number, 0, mib);
    auto& priority = device.priority;
    priority = variables.word("flag" + number, "16383");
    if (use != "swap") {
        priority = fixed_word("");  // there it is the filesystem's type
    } else if (priority.unknown.empty() && priority.word == "-") {
        priority.number = -1;
    } else if (priority.unknown.empty()) {
        priority.number = parse_int(priority.word);
        if (!priority.number) priority.unknown = "flag" + number + "=" + printable(priority.word) + " is no number";
    }
    priority.word.clear();
    const auto no_trim = variables.word("notr" + number, "");
    device.discard = no_trim;
    device.discard.word = no_trim.word.empty() ? "on" : "off";
    // More options of its own making, which are evaluated as shell.
    const auto more = variables.word("args" + number, "");
    if (more.is_set()) {
        for (auto* value : {&device.size, &device.algorithm, &device.resident_limit, &priority, &device.discard}) {
            value->unknown = "args" + number + " gives zram-init further options";
        }
    }
    return device;
}

}  // namespace

ZramScriptDevice read_zramswap(std::string_view bytes, std::uint64_t memory_kib) {
    const Variables variables(bytes);
    ZramScriptDevice device;
    const auto percent = variables.number("PERCENT", std::nullopt);
    if (percent.is_set() || !percent.unknown.empty()) {
        device.size = percent;
        if (percent.number) {
            // As the script's shell has it: TOTAL_MEMORY * 1024 * PERCENT / 100.
            const auto memory = static_cast<std::int64_t>(memory_kib);
            if (memory > largest || *percent.number < 0) {
                device.size.number.reset();
                device.size.unknown = "PERCENT=" + printable(percent.raw) + " makes no size";
            } else {
                device.size.number =
                    memory * *percent.number / 100 * 1024 + memory * *percent.number % 100 * 1024 / 100;
            }
        }
    } else {
        device.size = variables.number("SIZE", std::nullopt, mib);
    }
    device.algorithm = variables.word("ALGO", "lz4");
    device.priority = variables.number("PRIORITY", 100);
    device.resident_limit.number = 0;
    device.discard = fixed_word("off");
    device.use = fixed_word("swap");
    return device;
}

ZramInit read_zram_init(std::string_view bytes) {
    const Variables variables(bytes);
    ZramInit init;
    const auto count = variables.number("num_devices", 0);
    init.unknown = count.unknown;
    for (std::int64_t number = 0; init.unknown.empty() && number < count.number.value_or(0) && number < 256; ++number) {
        const auto text = std::to_string(number);
        if (auto device = device_of(variables, text)) init.devices["zram" + text] = std::move(*device);
    }
    return init;
}

}  // namespace storpol
