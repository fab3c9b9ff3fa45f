// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/option_change.h"

#include <algorithm>

#include "engine/base/text.h"
#include "resources/mount/option_value.h"

namespace storpol {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view list) {
    Words words;
    for (const std::string_view word : split_options(list)) words.emplace_back(word);
    return words;
}

bool sets(std::string_view fstype,
          std::string_view word,
          std::string_view property,
          std::optional<KernelVersion> kernel) {
    if (classify_option(fstype, word, kernel) != OptionClass::setting) return false;
    return find_option(fstype, word)->property == property;
}

// What the words mean once mounted, defaults included; what is not known stays out.
OptionSet meaning(std::string_view fstype, const Words& words, const MountFacts& facts) {
    OptionSet set = parse_options(fstype, join(words, ","), facts.kernel);
    add_defaults(set, fstype, facts);
    return set;
}

bool holds(const OptionSet& set, const WantedValue& wanted) {
    const OptionValue* const value = set.find(wanted.property);
    return value != nullptr && value->value == wanted.value;
}

// Properties that nobody asked to change and that mean something else afterwards.
std::vector<std::string> side_effects(const OptionSet& before,
                                      const OptionSet& after,
                                      const std::vector<std::string>& asked) {
    std::vector<std::string> lines;
    for (const auto& entry : after.settings) {
        const OptionValue* const old = before.find(entry.first);
        if (old == nullptr || old->value == entry.second.value) continue;
        if (std::find(asked.begin(), asked.end(), entry.first) != asked.end()) continue;
        lines.push_back(entry.first + ": " + old->value + " to " + entry.second.value);
    }
    return lines;
}

// The policy's own spelling where it means the value on this filesystem, else the table's.
std::optional<std::string> word_of(std::string_view fstype,
                                   const WantedValue& wanted,
                                   std::optional<KernelVersion> kernel) {
    if (!wanted.word.empty() && sets(fstype, wanted.word, wanted.property, kernel)) {
        const auto value = value_of_word(*find_option(fstype, wanted.word), wanted.word);
        if (value && *value == wanted.value) return wanted.word;
    }
    return word_for(fstype, wanted.property, wanted.value, kernel);
}

// Field edits replace the nth word taken out by the nth put in and append the rest, so a change of order is written as
// taking out everything from the first difference on. A word is taken out where it stands first.
OptionEdit edit_between(const Words& before, const Words& after) {
    std::size_t front = 0;
    while (front < before.size() && front < after.size() && before[front] == after[front]) ++front;
    std::size_t back = 0;
    while (back + front < before.size() && back + front < after.size() &&
           before[before.size() - 1 - back] == after[after.size() - 1 - back]) {
        ++back;
    }
    if (after.size() > before.size()) back = 0;
    // A word of the middle that also stands before it would be taken out there instead.
    for (std::size_t i = front; i < before.size() - back; ++i) {
        const auto first = std::find(before.begin(), before.end(), before[i]);
        front = std::min(front, static_cast<std::size_t>(first - before.begin()));
    }
    const auto at = [](const Words& words, std::size_t i) { return words.begin() + static_cast<std::ptrdiff_t>(i); };
    OptionEdit edit;
    edit.take_out.assign(at(before, front), at(before, before.size() - back));
    edit.put_in.assign(at(after, front), at(after, after.size() - back));
    return edit;
}

Words without(std::string_view fstype,
              const Words& words,
              std::string_view property,
              std::optional<KernelVersion> kernel) {
    Words rest;
    for (const std::string& word : words) {
        if (!sets(fstype, word, property, kernel)) rest.push_back(word);
    }
    return rest;
}

// The word in place of the last one of its property, and without the others; at the end where there was none.
Words replaced(std::string_view fstype,
               const Words& words,
               const std::string& property,
               const std::string& by,
               std::optional<KernelVersion> kernel) {
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (sets(fstype, words[i], property, kernel)) last = i;
    }
    Words now;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i == last)
            now.push_back(by);
        else if (!sets(fstype, words[i], property, kernel))
            now.push_back(words[i]);
    }
    if (!last) now.push_back(by);
    return now;
}

// Leaving the words out, the new word in the old one's place, or at the end: the first that means what is wanted.
Result<Words> words_after(std::string_view fstype,
                          const Words& words,
                          const WantedValue& wanted,
                          const MountFacts& facts) {
    const auto good = [&](const Words& candidate) { return holds(meaning(fstype, candidate, facts), wanted); };
    if (good(words)) return words;
    Words bare = without(fstype, words, wanted.property, facts.kernel);
    if (good(bare)) return bare;
    const auto word = word_of(fstype, wanted, facts.kernel);
    if (!word) {
        return fail(ErrorKind::unsupported,
                    "no word sets " + wanted.property + " to " + wanted.value + " on " + std::string(fstype));
    }
    Words in_place = replaced(fstype, words, wanted.property, *word, facts.kernel);
    if (good(in_place)) return in_place;
    bare.push_back(*word);
    if (good(bare)) return bare;
    return fail(ErrorKind::unsupported, "another word of the list overrides " + *word);
}

OptionEdit finished_edit(std::string_view fstype,
                         const Words& before,
                         const Words& after,
                         const std::vector<std::string>& asked,
                         const MountFacts& facts) {
    OptionEdit edit = edit_between(before, after);
    const OptionSet old_set = meaning(fstype, before, facts);
    const OptionSet new_set = meaning(fstype, after, facts);
    if (new_set.problems.size() > old_set.problems.size()) {
        OptionEdit refused;
        refused.cannot = new_set.problems.back().why;
        return refused;
    }
    edit.side_effects = side_effects(old_set, new_set, asked);
    return edit;
}

}  // namespace

std::optional<std::string> word_for(std::string_view fstype,
                                    std::string_view property,
                                    std::string_view value,
                                    std::optional<KernelVersion> kernel) {
    for (const OptionSpec* const spec : options_of(fstype)) {
        if (spec->property != property) continue;
        auto word = word_for_value(*spec, value);
        if (word && find_option(fstype, *word) == spec &&
            classify_option(fstype, *word, kernel) == OptionClass::setting)
            return word;
    }
    return std::nullopt;
}

OptionEdit edit_options(std::string_view fstype,
                        std::string_view list,
                        std::span<const WantedValue> wanted,
                        const MountFacts& facts) {
    const Words before = words_of(list);
    Words after = before;
    std::vector<std::string> asked;
    for (const WantedValue& one : wanted) {
        asked.push_back(one.property);
        auto now = words_after(fstype, after, one, facts);
        if (!now) {
            OptionEdit refused;
            refused.cannot = now.error().what;
            return refused;
        }
        after = std::move(*now);
    }
    const OptionSet result = meaning(fstype, after, facts);
    for (const WantedValue& one : wanted) {
        if (holds(result, one)) continue;
        OptionEdit refused;
        refused.cannot = "what is wanted of " + one.property + " is undone by what is wanted of another option";
        return refused;
    }
    return finished_edit(fstype, before, after, asked, facts);
}

bool is_forbidden(const ForbiddenOption& forbidden, std::string_view value) {
    if (forbidden.values.empty()) return value != "off";
    return std::find(forbidden.values.begin(), forbidden.values.end(), value) != forbidden.values.end();
}

OptionEdit avoid_option(std::string_view fstype,
                        std::string_view list,
                        const ForbiddenOption& forbidden,
                        const MountFacts& facts) {
    const Words before = words_of(list);
    const auto bad = [&](const Words& words) {
        const OptionSet set = meaning(fstype, words, facts);
        const OptionValue* const value = set.find(forbidden.property);
        if (value == nullptr) return true;  // an unknown default may be what is forbidden
        // Any value at all is forbidden: a default of the kernel's own counts only where it has an off to it.
        if (forbidden.values.empty() && value->origin == Origin::default_value &&
            !word_for(fstype, forbidden.property, "off", facts.kernel))
            return false;
        return is_forbidden(forbidden, value->value);
    };
    if (!bad(before)) return {};
    Words after = without(fstype, before, forbidden.property, facts.kernel);
    if (bad(after)) {
        const auto off = word_for(fstype, forbidden.property, "off", facts.kernel);
        if (off) after = replaced(fstype, before, forbidden.property, *off, facts.kernel);
        if (!off || bad(after)) {
            OptionEdit refused;
            refused.cannot = "no word turns " + forbidden.property + " off on " + std::string(fstype);
            return refused;
        }
    }
    return finished_edit(fstype, before, after, {forbidden.property}, facts);
}

std::string edited_list(std::string_view list, const OptionEdit& edit) {
    Words words = words_of(list);
    std::vector<bool> touched(words.size(), false);
    std::vector<bool> gone(words.size(), false);
    std::size_t next = 0;
    for (const std::string& word : edit.take_out) {
        std::size_t at = 0;
        while (at < words.size() && (touched[at] || words[at] != word)) ++at;
        if (at == words.size()) continue;
        touched[at] = true;
        gone[at] = next == edit.put_in.size();
        if (!gone[at]) words[at] = edit.put_in[next++];
    }
    Words now;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!gone[i]) now.push_back(words[i]);
    }
    for (; next < edit.put_in.size(); ++next) now.push_back(edit.put_in[next]);
    return now.empty() ? "defaults" : join(now, ",");
}

}  // namespace storpol
