// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/block/udev_outcome.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "engine/base/text.h"

namespace storpol {
namespace {

enum class Truth { no, maybe, yes };

Truth both(Truth a, Truth b) {
    return std::min(a, b);
}

// Walks the rules as udev does: in order, following GOTO, keeping what rules before put into ENV and ATTR.
class Judge {
  public:
    Judge(const UdevDevice& device,
          std::string_view attribute,
          const std::function<bool(std::string_view)>& is_effective)
        : device_(device), attribute_(attribute), is_effective_(is_effective) {}

    void take(const UdevFile& file) {
        skip_to_.clear();
        maybe_skipping_to_.clear();  // a label is looked for in its own file only
        if (file.index.groups.empty()) {
            for (const auto& rule : file.rules.rules) take_rule(rule, file.path);
            return;
        }
        for (const auto position : candidates(file.index)) take_rule(file.rules.rules[position], file.path);
    }

    UdevOutcome outcome() const { return outcome_; }

  private:
    // In the file's order; those left out have a match that fails for sure.
    std::vector<std::size_t> candidates(const UdevRuleIndex& index) const {
        auto positions = index.rest;
        const auto take = [&](const std::vector<std::size_t>& more) {
            positions.insert(positions.end(), more.begin(), more.end());
        };
        for (const auto& group : index.groups) {
            const auto value = group.key == "ENV"    ? property(group.attribute)
                               : group.key == "ATTR" ? attribute(device_.attribute, group.attribute)
                                                     : attribute(device_.parent_attribute, group.attribute);
            if (!value) {
                for (const auto& [literal, rules] : group.rules) take(rules);
            } else if (const auto found = group.rules.find(std::string(trim(*value))); found != group.rules.end()) {
                take(found->second);
            }
        }
        std::ranges::sort(positions);
        return positions;
    }

    void take_rule(const UdevRule& rule, const std::string& path) {
        arrive_at_labels(rule);
        if (!skip_to_.empty()) return;
        Truth truth = maybe_skipping_to_.empty() ? Truth::yes : Truth::maybe;
        for (const auto& token : rule.tokens) {
            truth = both(truth, judge_token(token));
            if (truth == Truth::no) return;
        }
        for (const auto& token : rule.tokens) {
            if (!token.is_match()) carry_out(token, truth, path + ":" + std::to_string(rule.line));
        }
    }

    void arrive_at_labels(const UdevRule& rule) {
        for (const auto& token : rule.tokens) {
            if (token.key != "LABEL") continue;
            if (token.value == skip_to_) skip_to_.clear();
            maybe_skipping_to_.erase(token.value);
        }
    }

    // How far a token lets its rule pass. Assignments pass, except those that fail where what they run fails.
    Truth judge_token(const UdevToken& token) const {
        if (token.key == "PROGRAM" || token.key == "RESULT") return Truth::maybe;
        if (token.key == "IMPORT") return Truth::maybe;
        if (!token.is_match()) return Truth::yes;
        const Truth truth = judge_match(token);
        if (token.op == "==" || truth == Truth::maybe) return truth;
        return truth == Truth::yes ? Truth::no : Truth::yes;
    }

    Truth judge_match(const UdevToken& token) const {
        const auto is = [&](const std::string& text) {
            return udev_glob_match(token.value, text, token.ignores_case) ? Truth::yes : Truth::no;
        };
        // The boot sends `add`, a later trigger `change`: a rule for either counts.
        if (token.key == "ACTION")
            return is("add") == Truth::yes || is("change") == Truth::yes ? Truth::yes : Truth::no;
        if (token.key == "KERNEL") return is(device_.kernel);
        if (token.key == "SUBSYSTEM") return is(device_.subsystem);
        if (token.key == "DEVPATH") return device_.devpath.empty() ? Truth::maybe : is(device_.devpath);
        if (token.key == "ENV") return judge_property(token);
        if (token.key == "ATTR") return judge_attribute(token, device_.attribute);
        if (token.key == "ATTRS") return judge_attribute(token, device_.parent_attribute);
        if (token.key == "KERNELS" && is(device_.kernel) == Truth::yes) return Truth::yes;
        if (token.key == "SUBSYSTEMS") return is(device_.subsystem) == Truth::yes ? Truth::yes : judge_bus(token);
        return Truth::maybe;
    }

    // The buses that a disk's place in the device tree tells of; others may lie above it all the same.
    Truth judge_bus(const UdevToken& token) const {
        if (device_.devpath.empty()) return Truth::maybe;

        struct Bus {
            std::string_view name;
            std::string_view part;
        };

        static constexpr std::array buses{Bus{"usb", "/usb"}, Bus{"nvme", "/nvme/"},    Bus{"scsi", "/target"},
                                          Bus{"pci", "/pci"}, Bus{"virtio", "/virtio"}, Bus{"mmc", "/mmc_host/"}};
        std::size_t known = 0;
        for (const auto& bus : buses) {
            if (!udev_glob_match(token.value, std::string(bus.name), token.ignores_case)) continue;
            if (device_.devpath.find(bus.part) != std::string::npos) return Truth::yes;
            ++known;
        }
        return known == split(token.value, '|').size() ? Truth::no : Truth::maybe;
    }

    std::optional<std::string> property(const std::string& name) const {
        if (const auto set = env_.find(name); set != env_.end()) return set->second;
        if (const auto known = device_.properties.find(name); known != device_.properties.end()) return known->second;
        if (name == "DEVTYPE") return device_.devtype;
        return device_.properties_complete ? std::optional<std::string>("") : std::nullopt;
    }

    template <class Lookup>
    static std::optional<std::string> attribute(const Lookup& lookup, const std::string& name) {
        return lookup ? lookup(name) : std::nullopt;
    }

    Truth judge_property(const UdevToken& token) const {
        const auto value = property(token.attribute);
        if (!value) return Truth::maybe;
        return udev_glob_match(token.value, *value, token.ignores_case) ? Truth::yes : Truth::no;
    }

    template <class Lookup>
    Truth judge_attribute(const UdevToken& token, const Lookup& lookup) const {
        const auto value = attribute(lookup, token.attribute);
        if (!value) return Truth::maybe;
        // udev compares without trailing blanks unless the pattern ends in one (man 7 udev, ATTR).
        const bool keeps_blanks = !token.value.empty() && token.value.back() == ' ';
        const auto text = keeps_blanks ? std::string_view(*value) : trim(*value);
        return udev_glob_match(token.value, text, token.ignores_case) ? Truth::yes : Truth::no;
    }

    void carry_out(const UdevToken& token, Truth truth, const std::string& source) {
        if (token.key == "GOTO") {
            if (truth == Truth::yes) {
                skip_to_ = token.value;
            } else {
                maybe_skipping_to_.insert(token.value);
            }
        } else if (token.key == "ENV") {
            // What is put together from other things ($env{}, %k) is not known; nor is what a rule may or may not set.
            if (truth == Truth::yes && token.value.find_first_of("$%") == std::string::npos && token.op != "+=") {
                env_[token.attribute] = token.value;
            } else {
                env_[token.attribute] = std::nullopt;
            }
        } else if (token.key == "ATTR" && token.attribute == attribute_) {
            write(token, truth, source);
        } else if (token.key == "RUN" && token.value.find(attribute_) != std::string::npos) {
            be_unknown(source, "the program that " + source + " runs may set it");
        }
    }

    void write(const UdevToken& token, Truth truth, const std::string& source) {
        if (truth == Truth::maybe) {
            return be_unknown(source,
                              "whether the rule at " + source + " applies cannot be known without running udev");
        }
        if (token.value.find_first_of("$%") != std::string::npos) {
            return be_unknown(source, "the rule at " + source + " puts its value together when it runs");
        }
        if (!is_effective_(token.value)) {
            outcome_.without_effect.push_back(source);
            return;
        }
        remember_shadow();
        outcome_.kind = UdevOutcome::Kind::set;
        outcome_.value = token.value;
        outcome_.source = source;
        outcome_.why.clear();
    }

    void be_unknown(const std::string& source, std::string why) {
        remember_shadow();
        outcome_.kind = UdevOutcome::Kind::unknown;
        outcome_.value.clear();
        outcome_.source = source;
        outcome_.why = std::move(why);
    }

    void remember_shadow() {
        if (!outcome_.source.empty()) outcome_.shadows.insert(outcome_.shadows.begin(), outcome_.source);
    }

    const UdevDevice& device_;
    std::string_view attribute_;
    const std::function<bool(std::string_view)>& is_effective_;
    UdevOutcome outcome_;
    std::string skip_to_;
    std::set<std::string> maybe_skipping_to_;
    std::map<std::string, std::optional<std::string>> env_;
};

}  // namespace

UdevRuleIndex index_udev_rules(const UdevRules& rules) {
    std::set<std::string> set_here;  // properties that a rule sets are not the same for all rules
    for (const auto& rule : rules.rules) {
        for (const auto& token : rule.tokens) {
            if (token.key == "ENV" && !token.is_match()) set_here.insert(token.attribute);
        }
    }
    const auto is_literal = [&](const UdevToken& token) {
        if (token.op != "==" || token.ignores_case || token.value != trim(token.value)) return false;
        if (token.value.find_first_of("*?[|\\") != std::string::npos) return false;
        return token.key == "ATTR" || token.key == "ATTRS" ||
               (token.key == "ENV" && !set_here.contains(token.attribute));
    };
    // A match that most rules share ("queue/rotational") tells few apart, a line's own comes behind it: the last
    // counts.
    UdevRuleIndex index;
    std::map<std::pair<std::string, std::string>, std::size_t> position;
    for (std::size_t i = 0; i < rules.rules.size(); ++i) {
        const auto& tokens = rules.rules[i].tokens;
        const bool is_label = std::ranges::find(tokens, "LABEL", &UdevToken::key) != tokens.end();
        const auto literal = std::find_if(tokens.rbegin(), tokens.rend(), is_literal);
        if (is_label || literal == tokens.rend()) {
            index.rest.push_back(i);
            continue;
        }
        const auto [at, is_new] = position.emplace(std::pair(literal->key, literal->attribute), index.groups.size());
        if (is_new) index.groups.push_back({literal->key, literal->attribute, {}});
        index.groups[at->second].rules[literal->value].push_back(i);
    }
    return index;
}

UdevOutcome judge_udev_rules(const std::vector<UdevFile>& files,
                             const UdevDevice& device,
                             std::string_view attribute,
                             const std::function<bool(std::string_view)>& is_effective) {
    Judge judge(device, attribute, is_effective);
    for (const auto& file : files) judge.take(file);
    return judge.outcome();
}

}  // namespace storpol
