// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/readings.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/calendar.h"
#include "engine/text/time_span.h"
#include "resources/fstrim/rule.h"
#include "resources/fstrim/time_zone.h"

namespace storpol {
namespace {

Value word(std::string text) {
    return Value{std::move(text)};
}

Value yes_or_no(bool is_so) {
    return word(is_so ? "true" : "false");
}

Reading found(Value value, std::string raw, std::string source) {
    return Reading{Found{std::move(value), std::move(raw)}, std::move(source), {}};
}

Reading unset(std::optional<Value> value, std::string from, std::string source) {
    return Reading{Unset{std::move(value), std::move(from)}, std::move(source), {}};
}

std::string default_of(std::string_view what) {
    return "default of " + std::string(what);
}

// The one value of several, or all of them as one word that no policy wants.
Reading joined(const std::vector<std::pair<Value, UnitLine>>& values) {
    std::set<std::string> different;
    for (const auto& [value, line] : values) different.insert(to_text(value));
    Reading reading = found(values.back().first, values.back().second.value, values.back().second.where());
    for (auto other = values.rbegin() + 1; other != values.rend(); ++other)
        reading.shadows.push_back(other->second.where());
    if (different.size() == 1) return reading;
    const std::vector<std::string> all(different.begin(), different.end());
    reading.state = Found{word(join(all, " and ")), "all of them hold: a list that no line resets first"};
    return reading;
}

// A unit that keeps the pair from running, and why.
Reading not_running(const EffectiveUnit& unit) {
    if (unit.state == EffectiveUnit::State::masked)
        return found(yes_or_no(false), unit.name + " is masked", unit.fragment);
    return found(yes_or_no(false), "there is no " + unit.name, {});
}

Reading persisted_enabled(const FstrimUnits& units, Host& host) {
    for (const auto* unit : {&units.timer, &units.service}) {
        if (!unit->is_there()) return not_running(*unit);
        const auto unmet = unmet_conditions(*unit, host);
        if (unmet.empty()) continue;
        const auto& first = unmet.front();
        return found(yes_or_no(false), first.key + "=" + first.value + " is not met", first.where());
    }
    if (const auto* link = units.timer.wanted_by()) return found(yes_or_no(true), {}, link->path);
    return found(yes_or_no(false), "no target wants fstrim.timer", units.timer.fragment);
}

Reading persisted_schedule(const EffectiveUnit& timer, Host& host) {
    std::vector<std::pair<Value, UnitLine>> valid;
    std::optional<UnitLine> ignored;
    std::string why;
    for (const auto& line : timer.triggers()) {
        if (line.key != "OnCalendar") continue;
        const auto normal = normal_calendar(line.value);
        const auto zone = unknown_zone(line.value, host);
        if (normal && zone.empty()) {
            valid.emplace_back(word(*normal), line);
        } else {
            ignored = line;
            why = normal ? "names a time zone that this host does not have" : "is mistyped";
        }
    }
    if (!valid.empty()) return joined(valid);
    // systemd logs such a line and goes on: the unit is loaded and never fires.
    if (ignored) return found(word("never"), "\"" + printable(ignored->value) + "\" " + why, ignored->where());
    return unset(std::nullopt, {}, timer.fragment);
}

Reading persisted_boot_delay(const EffectiveUnit& timer) {
    std::vector<std::pair<Value, UnitLine>> delays;
    for (const auto& line : timer.triggers()) {
        // The system manager starts with the system, so both mean nearly the same.
        if (line.key != "OnBootSec" && line.key != "OnStartupSec") continue;
        const auto span = parse_time_span(line.value);
        if (span) delays.emplace_back(Value{static_cast<std::int64_t>(span->count())}, line);
    }
    return delays.empty() ? unset(std::nullopt, {}, timer.fragment) : joined(delays);
}

// The last line of a key that systemd accepts; a wrong one changes nothing.
template <class Parse>
Reading last_valid(const EffectiveUnit& unit,
                   std::string_view section,
                   std::string_view key,
                   const Value& by_default,
                   const Parse& parse) {
    Reading reading = unset(by_default, default_of("systemd"), unit.fragment);
    for (const auto& line : unit.list(section, key)) {
        const auto value = parse(line.value);
        if (value) reading = found(*value, line.value, line.where());
    }
    return reading;
}

std::optional<Value> boolean_value(const std::string& text) {
    const auto value = parse_unit_boolean(text);
    return value ? std::optional(yes_or_no(*value)) : std::nullopt;
}

std::optional<Value> span_value(const std::string& text) {
    const auto span = parse_time_span(text);
    return span ? std::optional(Value{static_cast<std::int64_t>(span->count())}) : std::nullopt;
}

std::optional<Value> nice_value(const std::string& text) {
    const auto number = parse_int(text);
    return number && *number >= -20 && *number <= 19 ? std::optional(Value{*number}) : std::nullopt;
}

// ioprio.h: 0 none (which is best-effort), 1 realtime, 2 best-effort, 3 idle.
std::optional<Value> io_class_value(const std::string& text) {
    if (text == "0" || text == "none" || text == "2" || text == "best-effort") return word("best-effort");
    if (text == "1" || text == "realtime") return word("realtime");
    if (text == "3" || text == "idle") return word("idle");
    return std::nullopt;
}

bool needs_power(const UnitLine& line) {
    return line.key == "ConditionACPower" && parse_unit_boolean(line.value) == std::optional(true);
}

Reading runners() {
    return Reading{Absent{"the runner reads it from the policy"}, {}, {}};
}

// With the paced runner no condition may stand in its way: it waits for power itself.
Reading runners_condition(std::string_view condition, std::string source) {
    return found(word("condition"),
                 "ConditionACPower=" + printable(condition) +
                     " keeps the runner from waiting for power: systemd skips it, and counts "
                     "that as a run",
                 std::move(source));
}

Reading persisted_on_battery(const FstrimUnits& units) {
    if (units.is_by_storpol()) {
        for (const auto* unit : {&units.service, &units.timer}) {
            for (const auto& line : unit->conditions()) {
                if (line.key == "ConditionACPower") return runners_condition(line.value, line.where());
            }
        }
        return runners();
    }
    for (const auto* unit : {&units.service, &units.timer}) {
        for (const auto& line : unit->conditions()) {
            if (needs_power(line)) return found(word("skip"), line.key + "=" + line.value, line.where());
        }
    }
    return unset(word("run"), default_of("systemd"), units.service.fragment);
}

std::string_view word_of(TrimCommand::Program program) {
    switch (program) {
        case TrimCommand::Program::fstrim:
            return "fstrim";
        case TrimCommand::Program::storpol:
            return "storpol";
        case TrimCommand::Program::other:
            return "another program";
    }
    return {};
}

// What several commands have in common; both planes read them so.
Reading command_reading(std::string_view property,
                        const std::vector<std::pair<TrimCommand, std::string>>& commands,
                        const std::string& source) {
    if (commands.empty()) return unset(std::nullopt, {}, source);
    std::set<std::string> different;
    std::vector<Value> values;
    for (const auto& [command, where] : commands) {
        Value value = word(std::string(word_of(command.program)));
        if (property == "min-extent") {
            if (command.program == TrimCommand::Program::other)
                return Reading{Unknown{"what \"" + printable(command.text) + "\" trims is not known"}, where, {}};
            value = Value{command.minimum.value_or(0)};
        }
        values.push_back(value);
        different.insert(to_text(value));
    }
    const auto& first = commands.front();
    if (different.size() == 1) {
        if (property == "min-extent" && !first.first.minimum)
            return unset(values.front(), default_of("fstrim"), first.second);
        return found(values.front(), first.first.text, first.second);
    }
    const std::vector<std::string> all(different.begin(), different.end());
    return found(word(join(all, " and ")), "the commands of the service differ", first.second);
}

constexpr std::array<std::string_view, 5> timer_properties{"enabled", "schedule", "catch-up", "boot-delay",
                                                           "random-delay"};

bool runs_storpol(const std::vector<TrimCommand>& commands) {
    return !commands.empty() && std::ranges::all_of(commands, [](const TrimCommand& command) {
        return command.program == TrimCommand::Program::storpol;
    });
}

// The paced runner reads these from the policy itself.
bool is_runners(std::string_view property, const std::vector<TrimCommand>& commands) {
    if (property == "window" || property == "full-pass") return true;
    return property == "min-extent" && runs_storpol(commands);
}

std::string property_of(const std::map<std::string, std::string>& properties, const std::string& key) {
    const auto at = properties.find(key);
    return at == properties.end() ? std::string() : at->second;
}

std::vector<TrimCommand> live_commands(const std::map<std::string, std::string>& service) {
    std::vector<TrimCommand> commands;
    std::string rest = property_of(service, "ExecStart");
    while (!rest.empty()) {
        const auto end = rest.find(" ; ");
        commands.push_back(parse_trim_command(rest.substr(0, end)));
        rest = end == std::string::npos ? std::string() : rest.substr(end + 3);
    }
    return commands;
}

// What Unit= of the timer names. It becomes part of paths: what is no unit's name (man 5 systemd.unit) is not taken.
std::string service_name(const std::string& said) {
    const bool is_name =
        said.ends_with(".service") && said.size() < 256 &&
        said.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@") ==
            std::string::npos;
    return is_name ? said : std::string(fstrim_service);
}

// "OnCalendar=Mon *-*-* 00:00:00 ; OnCalendar=..." -> the values of that key.
std::vector<std::string> values_in(const std::string& text, std::string_view key) {
    std::vector<std::string> values;
    std::string rest = text;
    while (!rest.empty()) {
        const auto end = rest.find(" ; ");
        const auto one = rest.substr(0, end);
        if (one.starts_with(key) && one.size() > key.size() && one[key.size()] == '=')
            values.push_back(one.substr(key.size() + 1));
        rest = end == std::string::npos ? std::string() : rest.substr(end + 3);
    }
    return values;
}

// Which property of which unit says it.
struct LiveKey {
    std::string_view property;
    const char* key;
};

constexpr std::array<LiveKey, 9> live_keys{{{"enabled", "ActiveState"},
                                            {"schedule", "TimersCalendar"},
                                            {"catch-up", "Persistent"},
                                            {"boot-delay", "TimersMonotonic"},
                                            {"random-delay", "RandomizedDelayUSec"},
                                            {"io-class", "IOSchedulingClass"},
                                            {"nice", "Nice"},
                                            {"on-battery", "Conditions"},
                                            {"runner", "ExecStart"}}};

Reading live_list(const std::vector<std::string>& values, const std::string& source, bool calendar) {
    if (values.empty()) return unset(std::nullopt, {}, source);
    std::set<std::string> different;
    for (const auto& value : values) {
        const auto normal = calendar ? normal_calendar(value) : Result<std::string>(value);
        different.insert(normal ? *normal : value);
    }
    const std::vector<std::string> all(different.begin(), different.end());
    if (all.size() > 1) return found(word(join(all, " and ")), {}, source);
    const auto number = calendar ? std::nullopt : parse_int(all.front());
    if (number) return found(Value{*number}, render_duration(std::chrono::microseconds(*number)), source);
    return found(word(all.front()), values.front(), source);
}

Reading live_value(std::string_view property,
                   const std::string& text,
                   const FstrimLive& live,
                   const std::string& source) {
    if (property == "enabled") return found(yes_or_no(text == "active"), text, source);
    if (property == "schedule") return live_list(values_in(text, "OnCalendar"), source, true);
    if (property == "boot-delay") {
        auto delays = values_in(text, "OnBootUSec");
        const auto more = values_in(text, "OnStartupUSec");
        delays.insert(delays.end(), more.begin(), more.end());
        return live_list(delays, source, false);
    }
    if (property == "on-battery") {
        auto conditions = values_in(text, "ConditionACPower");
        const auto more = values_in(property_of(live.timer, "Conditions"), "ConditionACPower");
        conditions.insert(conditions.end(), more.begin(), more.end());
        const bool by_storpol =
            live.wanted_runner.empty() ? runs_storpol(live_commands(live.service)) : live.wanted_runner == "storpol";
        if (by_storpol) return conditions.empty() ? runners() : runners_condition(conditions.front(), source);
        const bool skips = std::ranges::any_of(
            conditions, [](const std::string& one) { return parse_unit_boolean(one) == std::optional(true); });
        return found(word(skips ? "skip" : "run"), {}, source);
    }
    std::optional<Value> value;
    if (property == "catch-up") value = boolean_value(text);
    if (property == "random-delay" && parse_int(text)) value = Value{*parse_int(text)};
    if (property == "nice") value = nice_value(text);
    if (property == "io-class") value = io_class_value(text);
    if (property == "random-delay" && value)
        return found(*value, render_duration(std::chrono::microseconds(*parse_int(text))), source);
    if (!value) return Reading{Unknown{"the service manager says \"" + printable(text) + "\""}, source, {}};
    return found(*value, {}, source);
}

}  // namespace

const EffectiveUnit* FstrimUnits::unknown() const {
    if (timer.state == EffectiveUnit::State::unknown) return &timer;
    return service.state == EffectiveUnit::State::unknown ? &service : nullptr;
}

std::vector<TrimCommand> FstrimUnits::commands() const {
    std::vector<TrimCommand> all;
    if (!service.is_there()) return all;
    for (const auto& line : service.list("Service", "ExecStart")) all.push_back(parse_trim_command(line.value));
    return all;
}

bool FstrimUnits::is_by_storpol() const {
    return wanted_runner.empty() ? runs_storpol(commands()) : wanted_runner == "storpol";
}

FstrimUnits read_fstrim_units(Host& host, Masks masks) {
    FstrimUnits units;
    units.timer = read_effective_unit(host, fstrim_timer, masks);
    const auto starts = units.timer.last("Timer", "Unit");
    units.service = read_effective_unit(host, service_name(starts ? starts->value : ""), masks);
    return units;
}

bool is_of_timer(std::string_view property) {
    return std::ranges::find(timer_properties, property) != timer_properties.end();
}

Reading persisted_fstrim(std::string_view property, const FstrimUnits& units, Host& host) {
    if (const auto* unit = units.unknown()) return Reading{Unknown{unit->unknown}, {}, {}};
    if (property == "enabled") return persisted_enabled(units, host);
    const auto& unit = is_of_timer(property) ? units.timer : units.service;
    if (is_runners(property, units.commands())) return runners();
    if (!unit.is_there()) return unset(std::nullopt, {}, unit.fragment);
    if (property == "schedule") return persisted_schedule(unit, host);
    if (property == "boot-delay") return persisted_boot_delay(unit);
    if (property == "catch-up") return last_valid(unit, "Timer", "Persistent", yes_or_no(false), boolean_value);
    if (property == "random-delay")
        return last_valid(unit, "Timer", "RandomizedDelaySec", Value{std::int64_t{0}}, span_value);
    if (property == "io-class")
        return last_valid(unit, "Service", "IOSchedulingClass", word("best-effort"), io_class_value);
    if (property == "nice") return last_valid(unit, "Service", "Nice", Value{std::int64_t{0}}, nice_value);
    if (property == "on-battery") return persisted_on_battery(units);
    std::vector<std::pair<TrimCommand, std::string>> commands;
    for (const auto& line : unit.list("Service", "ExecStart"))
        commands.emplace_back(parse_trim_command(line.value), line.where());
    return command_reading(property, commands, unit.fragment);
}

FstrimLive read_fstrim_live(Host& host) {
    FstrimLive live;
    live.timer_name = fstrim_timer;
    auto timer = host.unit(fstrim_timer);
    if (!timer) {
        // ENOENT: no service manager answers on the system bus.
        auto& why = timer.error().kind == ErrorKind::no_such_file ? live.absent : live.unknown;
        why = timer.error().what;
        return live;
    }
    live.timer = std::move(*timer);
    live.service_name = service_name(property_of(live.timer, "Unit"));
    if (auto service = host.unit(live.service_name)) live.service = std::move(*service);
    return live;
}

Reading live_fstrim(std::string_view property, const FstrimLive& live) {
    if (!live.absent.empty()) return Reading{Absent{live.absent}, {}, {}};
    if (!live.unknown.empty()) return Reading{Unknown{live.unknown}, {}, {}};
    const auto commands = live_commands(live.service);
    if (is_runners(property, commands)) return runners();
    const bool of_timer = is_of_timer(property);
    const auto& properties = of_timer ? live.timer : live.service;
    const auto source = of_timer ? live.timer_name : live.service_name;
    const auto load = property_of(properties, "LoadState");
    const bool is_loaded = load.empty() || load == "loaded";
    if (!is_loaded && property == "enabled") return found(yes_or_no(false), load, source);
    if (!is_loaded) return unset(std::nullopt, {}, source);
    const auto named = property == "min-extent" ? std::string_view("runner") : property;
    const auto at = std::ranges::find(live_keys, named, &LiveKey::property);
    if (at == live_keys.end() || !properties.contains(at->key))
        return Reading{
            Unknown{"the service manager does not say " + std::string(at == live_keys.end() ? property : at->key)},
            source,
            {}};
    if (named != "runner") return live_value(property, properties.at(at->key), live, source);
    std::vector<std::pair<TrimCommand, std::string>> placed;
    for (const auto& command : commands) placed.emplace_back(command, source);
    return command_reading(property, placed, source);
}

}  // namespace storpol
