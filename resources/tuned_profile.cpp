// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/tuned_profile.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"

namespace storpol {
namespace {

// tuned/consts.py: administrators' profiles first; older releases keep them one level higher.
constexpr std::array<std::string_view, 4> profile_directories{"/etc/tuned/profiles", "/etc/tuned",
                                                              "/usr/lib/tuned/profiles", "/usr/lib/tuned"};
// The names in the first are what the administrator chose; the second adds to any profile.
constexpr std::array<std::string_view, 2> name_files{"/etc/tuned/active_profile", "/etc/tuned/post_loaded_profile"};
constexpr std::size_t most_profiles = 32;  // an include chain longer than this is no real one

bool is_profile_name(std::string_view name) {
    return !name.empty() && name.find_first_of("/$") == std::string_view::npos && name != "." && name != "..";
}

bool is_true(std::string_view text) {
    return text == "1" || text == "true" || text == "True" || text == "yes";
}

// "include=throughput-performance, network-latency"; names built from variables cannot be followed.
std::vector<std::string> included_profiles(const std::vector<TunedLine>& lines) {
    std::vector<std::string> names;
    for (const TunedLine& line : lines) {
        if (line.section != "main" || line.key != "include") continue;
        std::string text = line.value;
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c == ',' || c == ';'; }, ' ');
        for (const std::string_view name : split_words(text)) names.emplace_back(name);
    }
    return names;
}

class ProfileReader {
  public:
    explicit ProfileReader(Host& host) : host_(host) {}

    // A profile may include one of its own name: the next directory's is meant then.
    void visit(const std::string& name) {
        if (!is_profile_name(name)) return;
        for (const auto directory : profile_directories) {
            const std::string path = std::string(directory) + "/" + name + "/tuned.conf";
            if (seen_.size() >= most_profiles || seen_.contains(path)) continue;
            const auto text = host_.read_file(path);
            if (!text) continue;
            seen_.insert(path);
            const auto lines = parse_tuned(*text);
            for (const std::string& included : included_profiles(lines)) visit(included);
            merge(lines, path);
            return;
        }
    }

    std::vector<TunedUnit> units() {
        for (auto& unit : units_) {
            const auto* type = unit.find("type");
            unit.plugin = type == nullptr ? unit.name : type->value;
        }
        std::erase_if(units_, [](const TunedUnit& unit) {
            const auto* enabled = unit.find("enabled");
            return unit.name == "main" || unit.name == "variables" ||
                   (enabled != nullptr && !enabled->is_computed() && !is_true(enabled->value));
        });
        std::ranges::stable_sort(units_, {}, [](const TunedUnit& unit) {
            const auto* priority = unit.find("priority");
            return priority == nullptr ? 0 : parse_int(priority->value).value_or(0);
        });
        return std::move(units_);
    }

  private:
    void merge(const std::vector<TunedLine>& lines, const std::string& path) {
        std::set<std::string> replaced;
        for (const TunedLine& line : lines) {
            if (line.key == "replace" && is_true(line.value)) replaced.insert(line.section);
        }
        for (const auto& name : replaced) unit_of(name).options.clear();
        for (const TunedLine& line : lines) {
            auto& options = unit_of(line.section).options;
            TunedOption option{line.key, line.value, Place{path, line.line, 0}};
            const auto old = std::ranges::find(options, line.key, &TunedOption::key);
            if (old == options.end()) {
                options.push_back(std::move(option));
            } else {
                *old = std::move(option);
            }
        }
    }

    TunedUnit& unit_of(const std::string& name) {
        const auto [at, is_new] = position_.emplace(name, units_.size());
        if (is_new) units_.push_back({name, "", {}});
        return units_[at->second];
    }

    Host& host_;
    std::set<std::string> seen_;
    std::map<std::string, std::size_t> position_;
    std::vector<TunedUnit> units_;
};

// The file that names the profile stays when the service is switched off. What cannot be known counts as on.
bool never_starts(Host& host) {
    const auto unit = host.unit("tuned.service");
    if (!unit) return false;
    const auto is = [&](const char* key, std::string_view value) {
        const auto found = unit->find(key);
        return found != unit->end() && found->second == value;
    };
    if (is("ActiveState", "active")) return false;
    return is("LoadState", "not-found") || is("UnitFileState", "disabled") || is("UnitFileState", "masked");
}

}  // namespace

const TunedOption* TunedUnit::find(std::string_view key) const {
    const auto found = std::ranges::find(options, key, &TunedOption::key);
    return found == options.end() ? nullptr : &*found;
}

// The grammar is that of Python's configparser with '=' alone and '#' behind a blank as a comment
// (tuned/profiles/loader.py): an indented line goes on with the value before it.
std::vector<TunedLine> parse_tuned(std::string_view text) {
    std::vector<TunedLine> lines;
    std::string section;
    int number = 0;
    bool can_go_on = false;
    for (std::string_view raw : split_lines(text)) {
        ++number;
        for (auto at = raw.find('#'); at != std::string_view::npos; at = raw.find('#', at + 1)) {
            if (at == 0 || raw[at - 1] == ' ' || raw[at - 1] == '\t') raw = raw.substr(0, at);
        }
        const std::string_view line = trim(raw);
        if (line.empty() || line.front() == ';') continue;
        const bool is_indented = raw.front() == ' ' || raw.front() == '\t';
        if (is_indented && can_go_on) {
            lines.back().value += " " + std::string(line);
            continue;
        }
        can_go_on = false;
        if (line.front() == '[' && line.back() == ']') {
            section = line.substr(1, line.size() - 2);
            continue;
        }
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        lines.push_back(
            {section, std::string(trim(line.substr(0, equals))), std::string(trim(line.substr(equals + 1))), number});
        can_go_on = true;
    }
    return lines;
}

TunedAmount split_tuned_amount(std::string_view value) {
    if (value.size() < 2 || (value.front() != '>' && value.front() != '<')) return {'\0', value};
    return {value.front(), trim(value.substr(1))};
}

std::vector<TunedUnit> read_tuned_profile(Host& host) {
    ProfileReader reader(host);
    bool is_chosen = false;
    for (const auto file : name_files) {
        const auto names = host.read_file(file);
        if (!names && file == name_files.front()) return {};
        if (!names) continue;
        for (const std::string_view name : split_words(*names)) {
            is_chosen = true;
            reader.visit(std::string(name));
        }
    }
    if (!is_chosen || never_starts(host)) return {};
    return reader.units();
}

}  // namespace storpol
