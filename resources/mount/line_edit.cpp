// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/line_edit.h"

#include <algorithm>

#include "engine/base/text.h"
#include "resources/mount/option_value.h"
#include "resources/mount/readings.h"

namespace storpol {
namespace {

const Value off = std::string("off");

bool is_banned(const Not& ban, const Value& value) {
    if (ban.values.empty()) return value != off;
    return std::ranges::find(ban.values, value) != ban.values.end();
}

Value as_value(const std::string& text) {
    if (const auto number = parse_int(text)) return *number;
    return text;
}

std::vector<std::string> to_strings(std::string_view options) {
    std::vector<std::string> words;
    for (const auto word : split_options(options)) words.emplace_back(word);
    return words;
}

// The words that set a property in this line, or for userspace words those of that name.
std::vector<std::string> present_words(std::string_view fstype, std::string_view options, const WantedProperty& wanted, const MountFacts& facts) {
    if (wanted.word.empty()) return words_that_set(fstype, options, wanted.property, facts.kernel);
    std::vector<std::string> words;
    for (const auto option : split_options(options)) {
        if (option.substr(0, option.find('=')) == wanted.property) words.emplace_back(option);
    }
    return words;
}

// Replaces words as edit_words() will: the nth put in takes the place of the nth taken out, the rest goes to the end.
std::vector<std::string> apply_words(std::vector<std::string> words, const std::vector<std::string>& take_out,
                                     const std::vector<std::string>& put_in) {
    std::size_t used = 0;
    for (const auto& word : take_out) {
        const auto at = std::ranges::find(words, word);
        if (at == words.end()) continue;
        if (used < put_in.size()) {
            *at = put_in[used++];
        } else {
            words.erase(at);
        }
    }
    words.insert(words.end(), put_in.begin() + static_cast<std::ptrdiff_t>(used), put_in.end());
    return words;
}

// What changes besides the properties that were meant to: none for a good edit.
std::string collateral(const OptionSet& before, const OptionSet& after, const std::vector<WantedProperty>& wanted) {
    const auto is_wanted = [&](std::string_view property) {
        return std::ranges::any_of(wanted, [&](const WantedProperty& one) { return one.property == property; });
    };
    for (const auto& [property, value] : before.settings) {
        const auto* now = after.find(property);
        if (!is_wanted(property) && value.origin == Origin::written && (now == nullptr || now->value != value.value)) return property;
    }
    return {};
}

// What a mount with the new line has is what is wanted, and all else it says is as before.
Result<void> check_result(std::string_view fstype, std::string_view before, std::string_view after, const std::vector<WantedProperty>& wanted,
                          const MountFacts& facts) {
    const auto set = parse_options(fstype, after, facts.kernel);
    if (const auto lost = collateral(parse_options(fstype, before, facts.kernel), set, wanted); !lost.empty()) {
        return fail(ErrorKind::unsupported, "it would change what the line says of " + lost, "", "decide between the two in the line itself");
    }
    for (const auto& one : wanted) {
        if (!one.word.empty()) continue;
        const auto* written = set.find(one.property);
        const auto effective = written != nullptr ? std::optional(written->value) : default_of(fstype, one.property, facts).value;
        const auto value = value_to_set(fstype, one.property, one.condition, facts);
        if (effective && value && as_value(*effective) == *value) continue;
        return fail(ErrorKind::unsupported, "another word of the line undoes " + one.property, "", "take that word out of the line");
    }
    return {};
}

struct WordChange {
    std::vector<std::string> present;
    std::optional<std::string> put;  // none: taking out is enough
};

Result<WordChange> change_for(std::string_view fstype, std::string_view options, const WantedProperty& wanted, const MountFacts& facts) {
    WordChange change{present_words(fstype, options, wanted, facts), std::nullopt};
    if (!wanted.word.empty()) {
        if (std::holds_alternative<Is>(wanted.condition)) change.put = wanted.word;
        return change;
    }
    const auto value = value_to_set(fstype, wanted.property, wanted.condition, facts);
    if (!value) return fail(ErrorKind::unsupported, "no value of " + wanted.property + " is as wanted on " + std::string(fstype));
    const auto otherwise = default_of(fstype, wanted.property, facts);
    if (otherwise.value && as_value(*otherwise.value) == *value) return change;
    change.put = word_that_sets(fstype, wanted.property, *value);
    if (!change.put) return fail(ErrorKind::unsupported, std::string(fstype) + " has no word for " + wanted.property + " = " + to_text(*value));
    return change;
}

}  // namespace

std::optional<std::string> word_that_sets(std::string_view fstype, std::string_view property, const Value& value) {
    const auto text = to_text(value);
    for (const auto* option : options_of(fstype)) {
        if (option->kind != OptionClass::setting || option->property != property) continue;
        const auto word = word_for_value(*option, text);
        if (!word) continue;
        // The row may be there for another spelling: only a word that means this value will do.
        const auto meant = wanted_option(fstype, *word);
        if (meant && meant->second == text) return word;
    }
    return std::nullopt;
}

std::optional<Value> value_to_set(std::string_view fstype, std::string_view property, const Condition& condition, const MountFacts& facts) {
    if (const auto* is = std::get_if<Is>(&condition)) return is->value;
    const auto* ban = std::get_if<Not>(&condition);
    if (ban == nullptr) return std::nullopt;
    const auto otherwise = default_of(fstype, property, facts);
    if (otherwise.value && !is_banned(*ban, as_value(*otherwise.value))) return as_value(*otherwise.value);
    // btrfs discards asynchronously where it may choose (kernel 6.2 and later): the other way stalls commits.
    for (const Value& candidate : {Value{off}, Value{std::string("async")}, Value{std::string("on")}}) {
        if (!is_banned(*ban, candidate) && word_that_sets(fstype, property, candidate)) return candidate;
    }
    return std::nullopt;
}

Result<LineEdit> edit_options_line(std::string_view fstype, std::string_view options, const std::vector<WantedProperty>& wanted,
                                   const MountFacts& facts) {
    LineEdit edit;
    std::vector<std::string> at_end;
    for (const auto& one : wanted) {
        auto change = change_for(fstype, options, one, facts);
        if (!change) return tl::unexpected(change.error());
        if (change->put && change->present.empty()) {
            at_end.push_back(*change->put);
            continue;
        }
        // Replaced words first, so that each new one takes the place of the old one of its own kind.
        for (std::size_t i = 0; i < change->present.size(); ++i) {
            const bool replaces = change->put && i + 1 == change->present.size();
            if (replaces) {
                edit.take_out.insert(edit.take_out.begin() + static_cast<std::ptrdiff_t>(edit.put_in.size()), change->present[i]);
                edit.put_in.push_back(*change->put);
            } else {
                edit.take_out.push_back(change->present[i]);
            }
        }
    }
    edit.put_in.insert(edit.put_in.end(), at_end.begin(), at_end.end());
    edit.after = join(apply_words(to_strings(options), edit.take_out, edit.put_in), ",");
    if (auto checked = check_result(fstype, options, edit.after, wanted, facts); !checked) return tl::unexpected(checked.error());
    return edit;
}

}  // namespace storpol
