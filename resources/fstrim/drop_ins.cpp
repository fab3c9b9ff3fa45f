// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/drop_ins.h"

#include <algorithm>
#include <array>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/calendar.h"
#include "resources/fstrim/init_system.h"
#include "resources/fstrim/rule.h"
#include "resources/fstrim/time_zone.h"

namespace storpol {
namespace {

std::string address_of(std::string_view property) {
    return "fstrim." + std::string(property);
}

std::string entry_key(std::string_view section, std::string_view property) {
    return std::string(section) + address_of(property);
}

std::string text_of(const UnitLine& line) {
    return line.key + "=" + line.value;
}

bool is_boot_trigger(const UnitLine& line) {
    return line.key == "OnBootSec" || line.key == "OnStartupSec";
}

// One line of a property with one value.
struct Scalar {
    std::string_view property;
    bool of_timer;
    std::string_view section;
    std::string_view key;
};

constexpr std::array<Scalar, 4> scalars{{{"catch-up", true, "[Timer]", "Persistent"},
                                         {"random-delay", true, "[Timer]", "RandomizedDelaySec"},
                                         {"io-class", false, "[Service]", "IOSchedulingClass"},
                                         {"nice", false, "[Service]", "Nice"}}};

}  // namespace

const UnitWish* UnitWishes::find(std::string_view property) const {
    const auto at = by_property.find(std::string(property));
    return at == by_property.end() ? nullptr : &at->second;
}

DropIns::DropIns(const FstrimUnits& units, const UnitWishes& wishes, Host& host)
    : units_(units), wishes_(wishes), host_(host) {
    read_file(units.timer, host);
    read_file(units.service, host);
    if (units.timer.is_there()) {
        write_conditions(units.timer);
        write_triggers();
    }
    if (units.service.is_there()) {
        write_conditions(units.service);
        write_commands();
    }
    write_scalars();
}

void DropIns::read_file(const EffectiveUnit& unit, Host& host) {
    File file;
    file.path = own_drop_in(unit.name);
    const auto text = host.read_file(file.path);
    file.digest = text ? digest_of(*text) : std::string(no_file_digest);
    file.text = OwnFile::parse(text ? std::string_view(*text) : std::string_view());
    for (auto& entry : file.text.entries()) file.entries.emplace(entry.section + entry.address, entry);
    files_.emplace(unit.name, std::move(file));
}

const OwnFile::Entry* DropIns::entry(const EffectiveUnit& unit,
                                     std::string_view section,
                                     const std::string& property) const {
    const auto& entries = files_.at(unit.name).entries;
    const auto at = entries.find(entry_key(section, property));
    return at == entries.end() ? nullptr : &at->second;
}

// Each line of an entry has its comment above it.
bool DropIns::is_own(const UnitLine& line,
                     const EffectiveUnit& unit,
                     std::string_view section,
                     const std::string& property) const {
    const auto* own = entry(unit, section, property);
    if (own == nullptr || line.path != files_.at(unit.name).path) return false;
    return line.line >= own->line && line.line < own->line + 2 * static_cast<int>(own->lines.size());
}

void DropIns::add(const EffectiveUnit& unit,
                  std::string_view section,
                  const std::string& property,
                  std::vector<std::string> lines,
                  std::vector<SettingPlane> serves,
                  std::string says) {
    auto& file = files_.at(unit.name);
    if (lines.empty()) {
        file.text.remove(section, address_of(property));
    } else if (!file.text.set(section, address_of(property), lines)) {
        refused_[property] = "a value that no unit file can hold";
        return;
    }
    edits_.push_back({unit.name, OwnLines{address_of(property), std::string(section), std::move(lines)},
                      std::move(serves), std::move(says)});
}

void DropIns::move_behind(const EffectiveUnit& unit,
                          std::string_view section,
                          const std::string& property,
                          const std::vector<SettingPlane>& serves) {
    const auto* own = entry(unit, section, property);
    if (own == nullptr) return;
    const auto lines = own->lines;
    add(unit, section, property, {}, serves, {});
    if (!lines.empty()) add(unit, section, property, lines, serves, {});
}

// OnCalendar= and OnBootSec= are one list. Reset where the calendar changes, or where another boot delay must go.
void DropIns::write_triggers() {
    const auto& timer = units_.timer;
    const auto* schedule = wishes_.find("schedule");
    const auto* delay = wishes_.find("boot-delay");
    std::vector<UnitLine> others;
    bool has_foreign_delay = false;
    for (const auto& line : timer.triggers()) {
        if (is_own(line, timer, "[Timer]", "boot-delay")) continue;
        has_foreign_delay = has_foreign_delay || is_boot_trigger(line);
        others.push_back(line);
    }
    const bool resets = schedule != nullptr || (delay != nullptr && has_foreign_delay);
    std::vector<SettingPlane> serves;
    if (schedule != nullptr) serves.push_back(schedule->of);
    if (delay != nullptr) serves.push_back(delay->of);
    if (resets) {
        std::vector<std::string> lines{"OnCalendar="};
        if (schedule != nullptr) lines.push_back("OnCalendar=" + schedule->text);
        for (const auto& line : others) {
            const bool is_replaced = (line.key == "OnCalendar" && (schedule != nullptr || !parse_calendar(line.value) ||
                                                                   !unknown_zone(line.value, host_).empty())) ||
                                     (is_boot_trigger(line) && delay != nullptr);
            if (!is_replaced) lines.push_back(text_of(line));
        }
        add(timer, "[Timer]", "schedule", std::move(lines), serves,
            schedule != nullptr ? "run the trim " + schedule->text : "keep the schedule, without another boot delay");
        move_behind(timer, "[Timer]", "boot-delay", serves);
    }
    if (delay == nullptr) return;
    add(timer, "[Timer]", "boot-delay", {"OnBootSec=" + delay->text}, {delay->of},
        "run once " + delay->text + " after each boot");
}

// An empty condition resets those of every kind (man 5 systemd.unit), so the others are written again.
void DropIns::write_conditions(const EffectiveUnit& unit) {
    const auto* enabled = wishes_.find("enabled");
    const auto* battery = wishes_.find("on-battery");
    const bool drops = battery != nullptr && (battery->text == "run" || units_.is_by_storpol());
    const bool adds = battery != nullptr && !drops && &unit == &units_.service;
    const auto unmet =
        enabled != nullptr && enabled->text == "true" ? unmet_conditions(unit, host_) : std::vector<UnitLine>{};
    std::vector<UnitLine> kept;
    for (const auto& line : unit.conditions()) {
        const bool is_power = line.key == "ConditionACPower";
        if (is_power && (drops || adds)) continue;
        if (std::ranges::find(unmet, line) != unmet.end() || is_own(line, unit, "[Unit]", "on-battery")) continue;
        kept.push_back(line);
    }
    std::vector<std::string> lines{"ConditionPathExists="};
    for (const auto& line : kept) lines.push_back(text_of(line));
    if (!unmet.empty()) {
        std::string names;
        for (const auto& line : unmet) names += (names.empty() ? "" : ", ") + text_of(line);
        add(unit, "[Unit]", "enabled", lines, {enabled->of},
            "take " + printable(names) + " off " + unit.name + ", which this host does not meet");
        move_behind(unit, "[Unit]", "on-battery", {enabled->of});
    }
    if (adds) add(unit, "[Unit]", "on-battery", {"ConditionACPower=true"}, {battery->of}, "skip runs on battery");
    if (drops) drop_power_conditions(unit, *battery);
}

// Our own line goes; where one of others is left, the list is reset without it.
void DropIns::drop_power_conditions(const EffectiveUnit& unit, const UnitWish& wish) {
    const auto says = units_.is_by_storpol() ? "leave it to storpol trim to wait for power" : "run on battery too";
    const auto& file = files_.at(unit.name);
    auto text = file.text;
    text.remove("[Unit]", address_of("on-battery"));
    std::vector<std::string> lines{"ConditionPathExists="};
    bool is_left = false;
    for (const auto& line : unit.with(file.path, text.render()).conditions()) {
        const bool is_power = line.key == "ConditionACPower";
        is_left = is_left || is_power;
        if (!is_power) lines.push_back(text_of(line));
    }
    if (!is_left) lines.clear();
    const bool is_own = entry(unit, "[Unit]", "on-battery") != nullptr;
    if (is_left || is_own) add(unit, "[Unit]", "on-battery", std::move(lines), {wish.of}, says);
}

std::optional<Bytes> DropIns::wanted_floor() const {
    const auto* floor = wishes_.find("min-extent");
    if (floor != nullptr) return parse_int(floor->text);
    for (const auto& command : units_.commands()) {
        if (command.minimum) return command.minimum;
    }
    return std::nullopt;
}

std::string DropIns::runner_command(const std::string& runner) const {
    if (runner == "storpol") {
        const auto program = first_program(host_, storpol_programs);
        return program.empty() ? std::string() : program + " trim --scheduled";
    }
    const auto program = first_program(host_, fstrim_programs);
    const auto stock =
        (program.empty() ? std::string("/sbin/fstrim") : program) + " " + std::string(stock_trim_options);
    return with_minimum(parse_trim_command(stock), wanted_floor());
}

void DropIns::write_commands() {
    const auto& service = units_.service;
    const auto* runner = wishes_.find("runner");
    const auto* floor = wishes_.find("min-extent");
    std::vector<SettingPlane> serves;
    std::vector<std::string> lines{"ExecStart="};
    std::string says;
    if (runner != nullptr) {
        const auto command = runner_command(runner->text);
        if (command.empty()) {
            // What would be taken out for the runner stays for the one that it does not replace.
            for (const char* property : {"runner", "on-battery"})
                refused_[property] = "storpol is not installed in /usr/bin, /usr/sbin or their like below /usr/local";
            return;
        }
        lines.push_back("ExecStart=" + command);
        serves.push_back(runner->of);
        says = "let " + std::string(runner->text == "storpol" ? "storpol trim" : "fstrim") + " do it";
        // The paced runner reads these from the policy, so they hold with it.
        for (const auto* wish : {floor, wishes_.find("on-battery")}) {
            if (wish != nullptr) serves.push_back(wish->of);
        }
        serves.insert(serves.end(), wishes_.coverage.begin(), wishes_.coverage.end());
    } else if (floor != nullptr) {
        for (const auto& line : service.list("Service", "ExecStart")) {
            if (is_own(line, service, "[Service]", "coverage")) continue;
            const auto command = parse_trim_command(line.value);
            if (command.program != TrimCommand::Program::fstrim) {
                refused_["min-extent"] = "\"" + printable(line.value) + "\" at " + line.where() +
                                         " is not fstrim, so there is nowhere to write the floor";
                return;
            }
            lines.push_back("ExecStart=" + with_minimum(command, wanted_floor()));
        }
        serves.push_back(floor->of);
        says = "leave free extents below " + render_size(wanted_floor().value_or(0)) + " alone";
    }
    const bool is_set = lines.size() > 1;
    if (is_set) add(service, "[Service]", "runner", std::move(lines), serves, says);
    write_coverage(is_set);
}

// Lines beside the stock command: mounts named one by one, and what of the sandbox is in the way.
void DropIns::write_coverage(bool runner_is_set) {
    const auto& service = units_.service;
    const auto* runner = wishes_.find("runner");
    const bool by_storpol = runner != nullptr && runner->text == "storpol";
    const auto* own = entry(service, "[Service]", "coverage");
    const bool moves = runner_is_set && own != nullptr;
    const bool changes_floor = wishes_.find("min-extent") != nullptr && own != nullptr;
    if (wishes_.sandbox.empty() && wishes_.commands.empty() && !moves) return;
    std::vector<std::string> lines;
    for (const auto& line : own == nullptr ? std::vector<std::string>{} : own->lines) {
        const bool is_command = line.starts_with("ExecStart=");
        if (is_command && by_storpol) continue;
        const auto command = is_command ? parse_trim_command(line.substr(10)) : TrimCommand{};
        lines.push_back(is_command && changes_floor ? "ExecStart=" + with_minimum(command, wanted_floor()) : line);
    }
    const auto add_line = [&lines](std::string line) {
        if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    };
    for (const auto& line : wishes_.sandbox) add_line(line);
    for (const auto& target : by_storpol ? std::vector<std::string>{} : wishes_.commands) {
        auto command = parse_trim_command(runner_command("fstrim"));
        const auto plain = command.path + " --verbose --quiet-unsupported " + escape_exec_word(target);
        add_line("ExecStart=" + with_minimum(parse_trim_command(plain), wanted_floor()));
    }
    auto serves = wishes_.coverage;
    if (serves.empty() && runner != nullptr) serves.push_back(runner->of);
    if (serves.empty() && wishes_.find("min-extent") != nullptr) serves.push_back(wishes_.find("min-extent")->of);
    if (moves) add(service, "[Service]", "coverage", {}, serves, {});
    if (lines.empty()) return;
    add(service, "[Service]", "coverage", std::move(lines), serves, "reach filesystems that the service passes over");
}

void DropIns::write_scalars() {
    for (const auto& scalar : scalars) {
        const auto* wish = wishes_.find(scalar.property);
        const auto& unit = scalar.of_timer ? units_.timer : units_.service;
        if (wish == nullptr || !unit.is_there()) continue;
        const auto line = std::string(scalar.key) + "=" + wish->text;
        add(unit, scalar.section, std::string(scalar.property), {line}, {wish->of}, "set " + line + " of " + unit.name);
    }
}

FstrimUnits DropIns::after() const {
    FstrimUnits changed = units_;
    for (auto* unit : {&changed.timer, &changed.service}) {
        const auto& file = files_.at(unit->name);
        const bool is_edited =
            std::ranges::any_of(edits_, [unit](const DropInEdit& edit) { return edit.unit == unit->name; });
        if (is_edited) *unit = unit->with(file.path, file.text.render());
    }
    return changed;
}

}  // namespace storpol
