// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "engine/base/text.h"
#include "tests/cases/case_run.h"

// One function per assertion. Each answers what it found instead, for whoever reads the failure.
namespace storpol::cases {
namespace {

using State = Checked::State;

Checked holds() {
    return {};
}

Checked broken(std::string why) {
    return {State::broken, std::move(why)};
}

Checked not_yet(std::string why) {
    return {State::not_yet, std::move(why)};
}

Checked that(bool right, std::string why) {
    return right ? holds() : broken(std::move(why));
}

// Planes of a domain that has a resource already, and that no resource reads yet. A case that asserts one is listed,
// not run.
struct LaterPlane {
    std::string_view domain;
    Plane plane;
};

constexpr LaterPlane later_planes[] = {{"mount", Plane::boot}, {"mount", Plane::evidence}};

std::string domain_of(std::string_view address) {
    return std::string(address.substr(0, address.find_first_of(".[")));
}

bool has_domain(const Ran& ran, std::string_view domain) {
    return std::ranges::any_of(ran.resources, [&](const auto& resource) { return resource->domain() == domain; });
}

bool is_later(std::string_view domain, Plane plane) {
    return std::ranges::any_of(later_planes,
                               [&](const LaterPlane& later) { return later.domain == domain && later.plane == plane; });
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

bool says(std::string_view text, std::string_view words) {
    return lower(text).find(lower(words)) != std::string::npos;
}

// "src=/etc/a:1" is no beginning of /etc/a:12.
bool begins(std::string_view source, std::string_view wanted) {
    if (source.substr(0, wanted.size()) != wanted) return false;
    const bool ends_in_digit = !wanted.empty() && std::isdigit(static_cast<unsigned char>(wanted.back())) != 0;
    return !(ends_in_digit && source.size() > wanted.size() &&
             std::isdigit(static_cast<unsigned char>(source[wanted.size()])) != 0);
}

const SettingState* find_setting(const Evaluation& evaluation, std::string_view address) {
    for (const auto& state : evaluation.settings) {
        if (state.setting.address == address) return &state;
    }
    return nullptr;
}

std::string why_of(const Reading& reading) {
    if (const auto* unknown = std::get_if<Unknown>(&reading.state)) return " (" + unknown->why + ")";
    if (const auto* absent = std::get_if<Absent>(&reading.state)) return " (" + absent->why + ")";
    if (const auto* found = std::get_if<Found>(&reading.state)) return " (found " + to_text(found->value) + ")";
    return " (nothing sets it)";
}

std::string in_words(const Action& action) {
    return std::string(to_text(action.verb)) + " " + action.target + " " + std::string(to_text(action.when)) + " " +
           std::string(to_text(action.risk));
}

std::string actions_in_words(const Evaluation& evaluation) {
    if (evaluation.plan.actions.empty()) return "the plan has no action";
    std::string out = "the plan has";
    for (const auto& action : evaluation.plan.actions) out += "\n          " + in_words(action);
    return out;
}

bool matches(const Action& action, const ActionPattern& pattern) {
    if (pattern.verb && action.verb != *pattern.verb) return false;
    if (pattern.when && action.when != *pattern.when) return false;
    if (pattern.risk && action.risk != *pattern.risk) return false;
    if (pattern.target.empty() || action.target == pattern.target) return true;
    return pattern.target.back() == '/' && action.target.rfind(pattern.target, 0) == 0;
}

auto count_actions(const Ran& ran, const ActionPattern& pattern) {
    return std::ranges::count_if(ran.evaluation.plan.actions,
                                 [&](const Action& action) { return matches(action, pattern); });
}

Result<std::string> after_text(const Ran& ran, const std::string& file) {
    if (!ran.after) return fail(ErrorKind::invalid, "the policy has errors, so nothing was planned");
    return ran.after->read(file);
}

// Matches of a regular expression in a text, each line on its own.
Result<int> count_matches(std::string_view text, const std::string& pattern) {
    try {
        const std::regex regex(pattern);
        int count = 0;
        for (const auto line : split_lines(text)) {
            const std::string one(line);
            count += static_cast<int>(
                std::distance(std::sregex_iterator(one.begin(), one.end(), regex), std::sregex_iterator()));
        }
        return count;
    } catch (const std::regex_error& error) {
        return fail(ErrorKind::invalid, std::string("is no regular expression: ") + error.what());
    }
}

Checked check_one(const PlaneIs& is, const Ran& ran) {
    const std::string domain = domain_of(is.address);
    const auto* setting = find_setting(ran.evaluation, is.address);
    if (setting == nullptr && !has_domain(ran, domain)) return not_yet("no resource has the domain " + domain);
    if (setting == nullptr) {
        std::string listed;
        for (const auto& state : ran.evaluation.settings) listed += " " + state.setting.address;
        return broken("no such setting; there are:" + (listed.empty() ? std::string(" none") : listed));
    }
    const auto* plane = setting->on(is.plane);
    if (plane == nullptr && is_later(domain, is.plane)) return not_yet("this plane of " + domain + " is not read yet");
    if (plane == nullptr) return broken("the setting has no such plane");
    if (plane->verdict != is.verdict)
        return broken("it is " + std::string(to_text(plane->verdict)) + why_of(plane->reading));
    return that(is.source.empty() || begins(plane->reading.source, is.source),
                "the source is '" + plane->reading.source + "'");
}

Checked check_one(const HasAction& has, const Ran& ran) {
    return that((count_actions(ran, has.action) > 0) == has.wanted, actions_in_words(ran.evaluation));
}

Checked check_one(const NoAction&, const Ran& ran) {
    return that(ran.evaluation.plan.actions.empty(), actions_in_words(ran.evaluation));
}

Checked check_one(const CountsActions& counts, const Ran& ran) {
    return that(count_actions(ran, counts.action) == counts.count, actions_in_words(ran.evaluation));
}

Checked check_one(const Orders& order, const Ran& ran) {
    const auto& actions = ran.evaluation.plan.actions;
    const auto is = [](const ActionPattern& pattern) {
        return [&pattern](const Action& action) { return matches(action, pattern); };
    };
    const auto last_first = std::find_if(actions.rbegin(), actions.rend(), is(order.first));
    const auto second = std::find_if(actions.begin(), actions.end(), is(order.second));
    if (last_first == actions.rend() || second == actions.end()) return holds();
    return that(last_first.base() <= second, actions_in_words(ran.evaluation));
}

Checked check_one(const Says& what, const Ran& ran) {
    return that(says(ran.report, what.text) == what.wanted, what.wanted ? "it does not:\n" + ran.report : "it does");
}

// An address without a property stands for all its settings.
bool is_or_belongs_to(std::string_view address, std::string_view asked) {
    return address == asked || (address.substr(0, asked.size()) == asked && address[asked.size()] == '.');
}

Checked check_one(const NotListed& absent, const Ran& ran) {
    for (const auto& state : ran.evaluation.settings) {
        if (is_or_belongs_to(state.setting.address, absent.address)) return broken("there is " + state.setting.address);
    }
    if (!absent.needs_finding) return holds();
    const bool said = std::ranges::any_of(ran.evaluation.findings, [&](const Finding& finding) {
        return says(finding.where, absent.address) || says(finding.says, absent.address);
    });
    if (!said && !has_domain(ran, domain_of(absent.address))) return not_yet("no resource has its domain");
    return that(said, "no finding says that it was left out");
}

Checked check_one(const ListsSuperblocks& lists, const Ran& ran) {
    if (!has_domain(ran, "mount")) return not_yet("no resource has the domain mount");
    std::set<std::string> names;
    for (const auto& state : ran.evaluation.settings) {
        const std::string& address = state.setting.address;
        if (domain_of(address) == "mount") names.insert(address.substr(0, address.find("\"]")));
    }
    return that(names.size() == static_cast<std::size_t>(lists.count), "there are " + std::to_string(names.size()));
}

// Steps name the flags that change, and keep all others.
Checked check_one(const KeepsFlags& keeps, const Ran& ran) {
    bool changes_flags = false;
    for (const auto& action : ran.evaluation.plan.actions) {
        const auto* header = std::get_if<SetLuksFlags>(&action.step);
        const auto* mapping = std::get_if<RefreshMapping>(&action.step);
        if (header == nullptr && mapping == nullptr) continue;
        changes_flags = true;
        const auto& out = header != nullptr ? header->take_out : mapping->take_out;
        for (const auto& flag : keeps.flags) {
            if (std::ranges::find(out, flag) != out.end()) return broken("it is taken out: " + in_words(action));
        }
    }
    return that(changes_flags, "no action changes flags; " + actions_in_words(ran.evaluation));
}

bool asks_path(QueryKind kind) {
    switch (kind) {
        case QueryKind::file:
        case QueryKind::link:
        case QueryKind::list:
        case QueryKind::stat:
        case QueryKind::program_exists:
            return true;
        default:
            return false;
    }
}

Checked check_one(const AsksNothingBelow& none, const Ran& ran) {
    for (const auto& query : ran.asked) {
        if (!asks_path(query.kind) || query.args.empty()) continue;
        for (const auto& path : none.paths) {
            const std::string& asked = query.args.front();
            if (asked == path || asked.rfind(path + "/", 0) == 0)
                return broken("asked " + std::string(to_text(query.kind)) + " " + asked);
        }
    }
    return holds();
}

std::string errors_in_words(const Ran& ran) {
    if (ran.errors.empty()) return "the policy has no error";
    std::string out = "the policy's errors:";
    for (const auto& error : ran.errors)
        out += "\n          " + to_text(error.where) + ": " + error.says + "; " + error.note + "; " + error.fix;
    return out;
}

Checked check_one(const PolicyIsValid&, const Ran& ran) {
    return that(ran.errors.empty(), errors_in_words(ran));
}

Checked check_one(const PolicyFails& fails, const Ran& ran) {
    const bool said = std::ranges::any_of(ran.errors, [&](const PolicyError& error) {
        const std::string text = error.says + "\n" + error.note + "\n" + error.fix;
        return error.where.line == fails.line && std::ranges::all_of(fails.words, [&](const std::string& word) {
                   return text.find(word) != std::string::npos;
               });
    });
    return that(said, errors_in_words(ran));
}

Checked check_one(const FileLine& line, const Ran& ran) {
    const auto text = after_text(ran, line.file);
    if (!text) return broken(to_text(text.error()));
    const auto lines = split_lines(*text);
    const auto index = static_cast<std::size_t>(line.line) - 1;
    if (index >= lines.size()) return broken("the file has " + std::to_string(lines.size()) + " lines");
    return that(lines[index] == line.text, "it is: " + printable(lines[index]));
}

Checked check_one(const FileSame& same, const Ran& ran) {
    if (!ran.before) return holds();
    const auto before = ran.before->read(same.file);
    const auto after = ran.after->read(same.file);
    if (!before && !after) return holds();
    if (before.has_value() != after.has_value()) return broken(before ? "it is gone" : "it is new");
    return that(*before == *after, "it is now:\n" + *after);
}

Checked check_one(const FileLines& lines, const Ran& ran) {
    const auto text = after_text(ran, lines.file);
    if (!text) return broken(to_text(text.error()));
    const auto count = split_lines(*text).size();
    return that(count == static_cast<std::size_t>(lines.count), "it has " + std::to_string(count));
}

Checked check_one(const NoFinalNewline& none, const Ran& ran) {
    const auto text = after_text(ran, none.file);
    if (!text) return broken(to_text(text.error()));
    return that(!text->empty() && text->back() != '\n', "it ends in a newline, or is empty");
}

Checked check_one(const FileMatches& wanted, const Ran& ran) {
    if (!ran.after) return broken("the policy has errors, so nothing was planned");
    int count = 0;
    for (const auto& file : ran.after->files_below("/")) {
        if (!glob_match(wanted.file, file)) continue;
        const auto text = ran.after->read(file);
        const auto found = text ? count_matches(*text, wanted.regex) : Result<int>(0);
        if (!found) return broken(to_text(found.error()));
        count += *found;
    }
    return that(count == wanted.count, "there are " + std::to_string(count));
}

Checked check_one(const WroteMatch& wanted, const Ran& ran) {
    std::string seen;
    const std::string folder = wanted.folder.back() == '/' ? wanted.folder : wanted.folder + "/";
    for (const auto& file : ran.written) {
        if (file.rfind(folder, 0) != 0) continue;
        const auto text = ran.after->read(file);
        const auto found = text ? count_matches(*text, wanted.regex) : Result<int>(0);
        if (!found) return broken(to_text(found.error()));
        if (*found > 0) return holds();
        seen += " " + file;
    }
    return broken(seen.empty() ? "the plan wrote no file there" : "no line matches in" + seen);
}

int exit_code(const ExitsWith& exits, const Ran& ran) {
    if (!ran.errors.empty()) return 1;
    if (exits.plan) return !ran.evaluation.plan.actions.empty() || ran.evaluation.has_drift(false) ? 2 : 0;
    if (ran.evaluation.has_drift(false)) return 2;
    return ran.evaluation.has_unknown(false) ? 3 : 0;
}

Checked check_one(const ExitsWith& exits, const Ran& ran) {
    const int code = exit_code(exits, ran);
    return that(code == exits.code, "it is " + std::to_string(code));
}

Checked check_one(const SecondPlanIsEmpty&, const Ran& ran) {
    if (!ran.second) return broken("the policy has errors, so nothing was planned");
    return that(ran.second->plan.actions.empty(), actions_in_words(*ran.second));
}

}  // namespace

Checked check(const Assertion& assertion, const Ran& ran) {
    return std::visit([&](const auto& one) { return check_one(one, ran); }, assertion);
}

}  // namespace storpol::cases
