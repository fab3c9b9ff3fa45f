// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/target_value.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"

namespace storpol {
namespace {

bool is_banned(const Not& ban, const std::string& value) {
    if (ban.values.empty()) return value != "off";
    return std::ranges::find(ban.values, option_value(value)) != ban.values.end();
}

std::optional<std::string> allowed_value(std::string_view fstype,
                                         const std::string& property,
                                         const Not& ban,
                                         const MountFacts& facts) {
    const auto otherwise = default_of(fstype, property, facts);
    if (otherwise.value && !is_banned(ban, *otherwise.value)) return otherwise.value;
    // btrfs takes both ways of discarding; the synchronous one stalls commits (btrfs(5), discard).
    static constexpr std::array candidates{"off", "async", "on"};
    for (const std::string value : candidates) {
        if (!is_banned(ban, value) && word_for(fstype, property, value, facts.kernel)) return value;
    }
    return std::nullopt;
}

// Words that never reach the kernel: the last of a name counts, and the new one takes its place.
void change_userspace_word(std::string_view options, const MountWish& wish, OptionEdit& edit) {
    std::vector<std::string> present;
    for (const auto option : split_options(options)) {
        if (option.substr(0, option.find('=')) == wish.property) present.emplace_back(option);
    }
    if (present.size() == 1 && present.front() == wish.text) return;
    edit.take_out.insert(edit.take_out.begin(), present.begin(), present.end());
    edit.put_in.insert(present.empty() ? edit.put_in.end() : edit.put_in.begin(), wish.text);
}

}  // namespace

Value option_value(const std::string& text) {
    if (const auto number = parse_int(text)) return *number;
    return text;
}

std::optional<WantedValue> target_value(std::string_view fstype, const MountWish& wish, const MountFacts& facts) {
    if (const auto* is = std::get_if<Is>(&wish.condition))
        return WantedValue{wish.property, to_text(is->value), wish.text};
    const auto* ban = std::get_if<Not>(&wish.condition);
    const auto value = ban == nullptr ? std::nullopt : allowed_value(fstype, wish.property, *ban, facts);
    if (!value) return std::nullopt;
    return WantedValue{wish.property, *value, ""};
}

Result<LineChange> change_line(std::string_view fstype,
                               std::string_view options,
                               const std::vector<const MountWish*>& wishes,
                               const MountFacts& facts) {
    std::vector<WantedValue> wanted;
    for (const auto* wish : wishes) {
        if (wish->kind == MountWish::Kind::userspace) continue;
        const auto value = target_value(fstype, *wish, facts);
        if (!value)
            return fail(ErrorKind::unsupported,
                        "no value of " + wish->property + " is as wanted on " + std::string(fstype));
        wanted.push_back(*value);
    }
    LineChange change;
    change.edit = edit_options(fstype, options, wanted, facts);
    if (!change.edit.cannot.empty()) return fail(ErrorKind::unsupported, change.edit.cannot);
    if (!change.edit.side_effects.empty()) {
        return fail(ErrorKind::unsupported, "it would also change " + join(change.edit.side_effects, ", "), "",
                    "decide between the two in the line itself");
    }
    for (const auto* wish : wishes) {
        if (wish->kind == MountWish::Kind::userspace) change_userspace_word(options, *wish, change.edit);
    }
    change.after = edited_list(options, change.edit);
    if (change.after.empty()) change.after = "defaults";
    return change;
}

}  // namespace storpol
