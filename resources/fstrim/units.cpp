// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/units.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"

namespace storpol {
namespace {

// man 5 systemd.unit "UNIT FILE LOAD PATH", strongest first. /lib is the same as /usr/lib nearly everywhere.
constexpr std::array<std::string_view, 13> directories{
    "/etc/systemd/system.control",   "/run/systemd/system.control",  "/run/systemd/transient",
    "/run/systemd/generator.early",  "/etc/systemd/system",          "/etc/systemd/system.attached",
    "/run/systemd/system",           "/run/systemd/system.attached", "/run/systemd/generator",
    "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",      "/lib/systemd/system",
    "/run/systemd/generator.late"};
constexpr std::string_view admin_directory = "/etc/systemd/system";

// Targets that every start reaches.
constexpr std::array<std::string_view, 6> targets{"timers.target",     "basic.target",     "sysinit.target",
                                                  "multi-user.target", "graphical.target", "default.target"};

constexpr std::array<std::string_view, 6> trigger_keys{"OnCalendar",  "OnBootSec",       "OnStartupSec",
                                                       "OnActiveSec", "OnUnitActiveSec", "OnUnitInactiveSec"};

bool holds(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::binary_search(names, name, std::less<>());
}

class Finder {
  public:
    Finder(Host& host, std::string_view name, Masks masks) : host_(host), masks_(masks) { unit_.name = name; }

    EffectiveUnit find() {
        unit_.is_maskable = true;
        for (const auto directory : directories) look_in(std::string(directory));
        read_drop_ins();
        if (!unit_.unknown.empty()) unit_.state = EffectiveUnit::State::unknown;
        return std::move(unit_);
    }

  private:
    void cannot(const std::string& path, const Error& error) {
        if (error.kind != ErrorKind::no_such_file && unit_.unknown.empty())
            unit_.unknown = path + ": " + (error.kind == ErrorKind::not_captured ? "not in this capture" : error.what);
    }

    void look_in(const std::string& directory) {
        const auto answer = host_.ask({QueryKind::list, {directory}});
        if (answer.refusal) {
            cannot(directory, *answer.refusal);
            return;
        }
        if (directory == "/lib/systemd/system" && answer.resolved == "/usr/lib/systemd/system") return;
        const auto lines = split_lines(answer.text);
        const std::vector<std::string> names(lines.begin(), lines.end());
        if (holds(names, unit_.name)) take_fragment(directory);
        const auto type = unit_.name.substr(unit_.name.rfind('.') + 1);
        for (std::size_t at = 0; at < 2; ++at) {
            const auto folder = (at == 0 ? unit_.name : type) + ".d";
            if (holds(names, folder)) list_drop_ins(directory + "/" + folder, at);
        }
        for (const auto target : targets) {
            for (const char* kind : {".wants", ".requires"}) {
                const auto folder = std::string(target) + kind;
                if (holds(names, folder)) take_link(directory + "/" + folder, folder);
            }
        }
    }

    void take_fragment(const std::string& directory) {
        const auto path = directory + "/" + unit_.name;
        if (directory == admin_directory) unit_.is_maskable = false;
        if (unit_.state != EffectiveUnit::State::missing) return;
        const auto file = host_.read_file_resolved(path);
        if (!file) {
            cannot(path, file.error());
            return;
        }
        const bool to_null = file->path == "/dev/null";
        if (to_null || file->bytes.empty()) {
            if (masks_ == Masks::are_ignored) return;
            unit_.state = EffectiveUnit::State::masked;
            unit_.fragment = path;
            unit_.mask_is_link = to_null;
            return;
        }
        unit_.state = EffectiveUnit::State::found;
        unit_.fragment = file->path;
        add_part(file->path, file->bytes);
    }

    void add_part(const std::string& path, std::string_view text) {
        auto parsed = parse_unit_file(text);
        unit_.parts.push_back({path, std::move(parsed.assignments), std::move(parsed.rejected)});
    }

    // Of one name that of the unit's own folders hides that of its type's, and a strong directory's a weak one's.
    void list_drop_ins(const std::string& folder, std::size_t kind) {
        const auto names = host_.list(folder);
        if (!names) {
            cannot(folder, names.error());
            return;
        }
        for (const auto& name : *names) {
            if (name.ends_with(".conf") && !name.starts_with('.')) drop_ins_[kind].emplace(name, folder + "/" + name);
        }
    }

    void read_drop_ins() {
        auto all = drop_ins_[0];
        all.insert(drop_ins_[1].begin(), drop_ins_[1].end());
        for (const auto& [name, path] : all) {
            const auto file = host_.read_file_resolved(path);
            if (!file) {
                cannot(path, file.error());
            } else {
                add_part(file->path, file->bytes);
            }
        }
    }

    void take_link(const std::string& folder, const std::string& target) {
        const auto names = host_.list(folder);
        if (!names) {
            cannot(folder, names.error());
            return;
        }
        if (!holds(*names, unit_.name)) return;
        const auto path = folder + "/" + unit_.name;
        const auto leads_to = host_.read_link(path);
        const bool is_first = linked_.insert(target).second;
        unit_.links.push_back({path, leads_to && *leads_to == "/dev/null", !is_first});
    }

    Host& host_;
    Masks masks_;
    EffectiveUnit unit_;
    std::array<std::map<std::string, std::string>, 2> drop_ins_;
    std::set<std::string> linked_;  // targets
};

// The lines after the last empty one of any of them.
template <class IsOne>
std::vector<UnitLine> after_reset(const std::vector<UnitLine>& lines, const IsOne& is_one) {
    std::vector<UnitLine> kept;
    for (const auto& line : lines) {
        if (!is_one(line.key)) continue;
        if (line.value.empty()) {
            kept.clear();
        } else {
            kept.push_back(line);
        }
    }
    return kept;
}

bool is_condition(std::string_view key) {
    return key.starts_with("Condition");
}

// "|!/etc/fstab" -> triggering, negated, the rest.
struct Condition {
    bool triggering = false;
    bool negated = false;
    std::string_view value;
};

Condition parse_condition(std::string_view text) {
    Condition condition;
    if (text.starts_with('|')) {
        condition.triggering = true;
        text = trim(text.substr(1));
    }
    if (text.starts_with('!')) {
        condition.negated = true;
        text = trim(text.substr(1));
    }
    condition.value = text;
    return condition;
}

// Whether it holds without the "!"; none where files do not tell.
std::optional<bool> judge(std::string_view key, std::string_view value, Host& host) {
    // What lies below these is made at each start.
    for (const std::string_view tree : {"/run/", "/proc/", "/sys/", "/dev/", "/tmp/"}) {
        if (value.starts_with(tree)) return std::nullopt;
    }
    if (value.empty() || value.front() != '/' || value.find('%') != std::string_view::npos) return std::nullopt;
    const bool is_link = key == "ConditionPathIsSymbolicLink";
    if (is_link) return host.read_link(value).has_value();
    if (key != "ConditionPathExists" && key != "ConditionPathIsDirectory" && key != "ConditionFileNotEmpty" &&
        key != "ConditionDirectoryNotEmpty")
        return std::nullopt;
    const auto stat = host.stat(value);
    if (!stat && stat.error().kind != ErrorKind::no_such_file) return std::nullopt;
    if (!stat) return false;
    if (key == "ConditionPathIsDirectory") return stat->type == "dir";
    if (key == "ConditionFileNotEmpty") return stat->type == "file" && stat->size > 0;
    if (key != "ConditionDirectoryNotEmpty") return true;
    const auto names = host.list(value);
    return names && !names->empty();
}

}  // namespace

std::vector<UnitLine> EffectiveUnit::lines(std::string_view section) const {
    std::vector<UnitLine> all;
    for (const auto& part : parts) {
        for (const auto& one : part.assignments) {
            if (one.section == section) all.push_back({one.key, one.value, part.path, one.line});
        }
    }
    return all;
}

std::optional<UnitLine> EffectiveUnit::last(std::string_view section, std::string_view key) const {
    const auto found = list(section, key);
    if (found.empty()) return std::nullopt;
    return found.back();
}

std::vector<UnitLine> EffectiveUnit::list(std::string_view section, std::string_view key) const {
    return after_reset(lines(section), [key](std::string_view one) { return one == key; });
}

std::vector<UnitLine> EffectiveUnit::triggers() const {
    return after_reset(lines("Timer"),
                       [](std::string_view one) { return std::ranges::find(trigger_keys, one) != trigger_keys.end(); });
}

std::vector<UnitLine> EffectiveUnit::conditions() const {
    return after_reset(lines("Unit"), is_condition);
}

EffectiveUnit EffectiveUnit::with(const std::string& path, std::string_view text) const {
    EffectiveUnit changed = *this;
    const auto name_of = [](std::string_view of) { return of.substr(of.rfind('/') + 1); };
    auto& all = changed.parts;
    const auto first_drop_in = all.empty() || !is_there() ? all.begin() : all.begin() + 1;
    const auto at = std::find_if(first_drop_in, all.end(), [&](const UnitPart& part) { return part.path == path; });
    auto parsed = parse_unit_file(text);
    if (at != all.end()) {
        at->assignments = std::move(parsed.assignments);
        at->rejected = std::move(parsed.rejected);
        return changed;
    }
    const auto later = std::find_if(first_drop_in, all.end(),
                                    [&](const UnitPart& part) { return name_of(part.path) > name_of(path); });
    all.insert(later, UnitPart{path, std::move(parsed.assignments), std::move(parsed.rejected)});
    return changed;
}

const UnitLink* EffectiveUnit::wanted_by() const {
    const auto at = std::ranges::find_if(links, [](const UnitLink& link) { return !link.is_off && !link.is_hidden; });
    return at == links.end() ? nullptr : &*at;
}

EffectiveUnit read_effective_unit(Host& host, std::string_view name, Masks masks) {
    return Finder(host, name, masks).find();
}

std::string own_drop_in(std::string_view unit) {
    return std::string(admin_directory) + "/" + std::string(unit) + ".d/50-storpol.conf";
}

std::string unmet_condition(const UnitLine& line, Host& host) {
    const auto condition = parse_condition(line.value);
    const auto holds = judge(line.key, condition.value, host);
    if (!holds || *holds != condition.negated) return {};
    return line.key + "=" + line.value + " is not met";
}

std::vector<UnitLine> unmet_conditions(const EffectiveUnit& unit, Host& host) {
    std::vector<UnitLine> unmet;
    std::vector<UnitLine> triggering;
    bool one_holds = false;
    for (const auto& line : unit.conditions()) {
        const bool is_unmet = !unmet_condition(line, host).empty();
        if (!parse_condition(line.value).triggering) {
            if (is_unmet) unmet.push_back(line);
        } else {
            triggering.push_back(line);
            one_holds = one_holds || !is_unmet;
        }
    }
    if (!one_holds) unmet.insert(unmet.end(), triggering.begin(), triggering.end());
    return unmet;
}

}  // namespace storpol
