// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/sysctl/values.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "resources/sysctl/keys.h"

namespace storpol {
namespace {

bool is_scalar_of_vm(std::string_view path) {
    const VmKey* key = find_vm_key_by_path(path);
    return key != nullptr && !key->is_list;
}

const std::int64_t* number_of(const Condition& wanted) {
    const auto* is = std::get_if<Is>(&wanted);
    return is == nullptr ? nullptr : std::get_if<std::int64_t>(&is->value);
}

// A member of a pair reads 0 while the other one is in force. Against a number above 0 that is a value like any other;
// against a bound, or a wanted 0, it would look like a limit that holds.
bool zero_means_unset(std::string_view path, const Condition& wanted) {
    if (find_pair(path) == nullptr) return false;
    const auto* number = number_of(wanted);
    return number == nullptr || *number == 0;
}

// What stands for the limit that is not in force: none at all, which no bound holds for.
Unset no_limit(std::string_view path, const Condition& wanted) {
    const std::string from = sysctl_name(counterpart_of(*find_pair(path), path)) + " is in force instead";
    if (std::holds_alternative<AtLeast>(wanted)) return {Value{std::int64_t{0}}, from};
    if (std::holds_alternative<AtMost>(wanted)) return {Value{find_vm_key_by_path(path)->kernel_max}, from};
    return {std::nullopt, from};
}

Reading refused(const Error& error, const std::string& path) {
    switch (error.kind) {
        case ErrorKind::denied:
            return {Unknown{"no permission to read " + path + " (run as root)"}, path, {}};
        case ErrorKind::not_captured:
            return {Unknown{"not in this capture"}, path, {}};
        case ErrorKind::no_such_file:
            return {Absent{"this kernel has no " + path}, path, {}};
        case ErrorKind::failed:
        case ErrorKind::invalid:
        case ErrorKind::changed:
        case ErrorKind::unsupported:
            break;
    }
    return {Unknown{error.what}, path, {}};
}

Reading found(const std::string& path, std::string_view text, const Condition& wanted, std::string source) {
    Found value{sysctl_value(path, text, wants_number(wanted)), {}};
    const std::string raw(trim(text));
    if (to_text(value.value) != raw) value.raw = raw;
    return {std::move(value), std::move(source), {}};
}

}  // namespace

std::string sysctl_address(std::string_view path) {
    return make_address("sysctl", sysctl_name(path), "");
}

std::string path_of_address(std::string_view address) {
    constexpr std::string_view begin = "sysctl[\"";
    constexpr std::string_view end = "\"]";
    if (address.size() < begin.size() + end.size() || address.substr(0, begin.size()) != begin) return {};
    return sysctl_path(address.substr(begin.size(), address.size() - begin.size() - end.size()));
}

std::string proc_path(std::string_view path) {
    return "/proc/sys/" + std::string(path);
}

bool wants_number(const Condition& wanted) {
    const auto* is = std::get_if<Is>(&wanted);
    return is == nullptr ? !std::holds_alternative<Not>(wanted) : std::holds_alternative<std::int64_t>(is->value);
}

Value sysctl_value(std::string_view path, std::string_view text, bool as_number) {
    if (is_scalar_of_vm(path)) {
        if (const auto number = parse_kernel_number(text)) return *number;
        return std::string(trim(text));
    }
    std::vector<std::string> words;
    bool all_numbers = true;
    for (const std::string_view word : split_words(text)) {
        const auto number = parse_kernel_number(word);
        all_numbers = all_numbers && number.has_value();
        words.push_back(number ? std::to_string(*number) : std::string(word));
    }
    const auto first = parse_kernel_number(text);
    if (first && (words.size() == 1 || (as_number && !all_numbers))) return *first;
    if (all_numbers) return join(words, " ");
    words.clear();
    for (const std::string_view word : split_words(text)) words.emplace_back(word);
    return join(words, " ");
}

Condition normalised(std::string_view path, const Condition& wanted) {
    const auto* is = std::get_if<Is>(&wanted);
    const auto* word = is == nullptr ? nullptr : std::get_if<std::string>(&is->value);
    if (word == nullptr) return wanted;
    return Is{sysctl_value(path, *word, false), is->slack};
}

std::optional<std::string> text_to_write(const Condition& wanted) {
    if (const auto* is = std::get_if<Is>(&wanted)) return to_text(is->value);
    if (const auto* least = std::get_if<AtLeast>(&wanted)) return std::to_string(least->bound);
    if (const auto* most = std::get_if<AtMost>(&wanted)) return std::to_string(most->bound);
    return std::nullopt;
}

Reading read_live_sysctl(const Setting& setting, Host& host) {
    const std::string path = path_of_address(setting.address);
    const std::string file = proc_path(path);
    const Condition& wanted = setting.condition_on(Plane::live);
    const auto text = host.read_file(file);
    if (!text) return refused(text.error(), file);
    Reading reading = found(path, *text, wanted, file);
    const auto* number = std::get_if<std::int64_t>(&std::get<Found>(reading.state).value);
    const KeyPair* pair = find_pair(path);
    if (pair == nullptr || number == nullptr || *number != 0) return reading;
    const std::string& other = counterpart_of(*pair, path);
    const auto other_text = host.read_file(proc_path(other));
    const auto other_number = other_text ? parse_kernel_number(*other_text) : std::nullopt;
    if (!other_number || *other_number == 0) return reading;
    if (zero_means_unset(path, wanted)) return {no_limit(path, wanted), file, {}};
    std::get<Found>(reading.state).raw =
        "0, as " + sysctl_name(other) + " = " + std::to_string(*other_number) + " is in force";
    return reading;
}

Reading persisted_sysctl(const Setting& setting, const SysctlSources& sources) {
    if (!sources.unreadable.empty()) return {Unknown{"cannot read " + sources.unreadable.front()}, {}, {}};
    const std::string path = path_of_address(setting.address);
    const Condition& wanted = setting.condition_on(Plane::persisted);
    const SysctlOutcome outcome = outcome_of(path, sources);
    Reading reading;
    switch (outcome.from) {
        case SysctlOutcome::From::nothing: {
            Unset unset;
            const VmKey* key = find_vm_key_by_path(path);
            const KeyPair* pair = find_pair(path);
            const bool inactive = pair != nullptr && pair->bytes == path && zero_means_unset(path, wanted);
            if (inactive)
                unset = no_limit(path, wanted);
            else if (key != nullptr && key->default_value)
                unset = Unset{Value{*key->default_value}, "kernel default"};
            if (!outcome.refused.empty()) reading.source = to_text(outcome.refused.back().where);
            reading.state = unset;
            break;
        }
        case SysctlOutcome::From::line:
            reading = found(path, outcome.value, wanted, to_text(outcome.source));
            break;
        case SysctlOutcome::From::counterpart:
            reading = found(path, outcome.value, wanted, to_text(outcome.source));
            std::get<Found>(reading.state).raw =
                "0, as " + sysctl_name(counterpart_of(*find_pair(path), path)) + " is set there";
            if (zero_means_unset(path, wanted)) reading.state = no_limit(path, wanted);
            break;
    }
    for (const Place& shadow : outcome.shadows) reading.shadows.push_back(to_text(shadow));
    return reading;
}

}  // namespace storpol
