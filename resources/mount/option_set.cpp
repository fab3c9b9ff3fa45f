// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/option_set.h"

#include <algorithm>

#include "engine/base/text.h"
#include "resources/mount/option_value.h"

namespace storpol {
namespace {

std::string_view key_of(std::string_view word) {
    return word.substr(0, word.find('='));
}

// "datasum=off compress=off" -> set each; "dmask=*" takes the word's own value.
void apply_implied(OptionSet& set, const OptionSpec& spec, std::string_view word, const std::string& value) {
    if (spec.form == ValueForm::special && value == "off") return;  // compress=no brings nothing back
    for (const std::string_view implied : split_words(spec.implies)) {
        const std::size_t equals = implied.find('=');
        const std::string_view to = implied.substr(equals + 1);
        set.settings[std::string(implied.substr(0, equals))] =
            OptionValue{to == "*" ? value : std::string(to), Origin::implied, std::string(word)};
    }
}

void apply_setting(OptionSet& set, const OptionSpec& spec, std::string_view word) {
    const auto value = value_of_word(spec, word);
    if (!value) {
        set.problems.push_back({std::string(word), value.error().what});
        return;
    }
    set.settings[std::string(spec.property)] = OptionValue{*value, Origin::written, std::string(word)};
    apply_implied(set, spec, word, *value);
}

void apply_word(OptionSet& set, std::string_view fstype, std::string_view word, std::optional<KernelVersion> kernel) {
    const OptionSpec* const spec = find_option(fstype, word);
    switch (classify_option(fstype, word, kernel)) {
        case OptionClass::setting:
            apply_setting(set, *spec, word);
            break;
        case OptionClass::userspace:
            set.userspace.emplace_back(word);
            apply_implied(set, *spec, word, {});
            break;
        case OptionClass::selector:
            set.selectors.emplace_back(word);
            break;
        case OptionClass::ignored:
            break;
        case OptionClass::removed: {
            const auto& gone = spec->removed;
            set.problems.push_back({std::string(word), std::string(fstype) + " has no " + std::string(key_of(word)) +
                                                           " since kernel " + std::to_string(gone.major) + "." +
                                                           std::to_string(gone.minor)});
            break;
        }
        case OptionClass::unknown:
            set.unknown.emplace_back(word);
            break;
    }
}

// The three atime words are bits, not a field: whatever their order, strictatime beats noatime and noatime beats
// relatime (libmount's flag map; kernel fs/namespace.c, path_mount). Their inverses only take the bit back.
void settle_atime(OptionSet& set, const std::vector<std::string_view>& words) {
    std::string_view strict, no, relative, any;
    for (const std::string_view word : words) {
        if (word == "strictatime")
            strict = word;
        else if (word == "nostrictatime")
            strict = {};
        else if (word == "noatime")
            no = word;
        else if (word == "atime")
            no = {};
        else if (word == "relatime")
            relative = word;
        else if (word == "norelatime")
            relative = {};
        else
            continue;
        any = word;
    }
    if (any.empty()) return;
    std::string value = "relatime";
    if (!no.empty()) value = "noatime";
    if (!strict.empty()) value = "strictatime";
    std::string_view winner = !strict.empty() ? strict : !no.empty() ? no : relative;
    if (winner.empty()) winner = any;
    set.settings["atime"] = OptionValue{value, Origin::written, std::string(winner)};
    if (!strict.empty() && !no.empty()) {
        set.problems.push_back(
            {"strictatime", "strictatime and noatime exclude each other; newer mount programs refuse both"});
    }
}

// ext4 data=journal switches delayed allocation and dioread_nolock off whatever was asked before or after it
// (kernel fs/ext4/super.c, ext4_check_journal_data_mode). delalloc is refused with it, even where nodelalloc follows.
void settle_ext4_journal_data(OptionSet& set, const std::vector<std::string_view>& words) {
    const OptionValue* const data = set.find("data");
    if (data == nullptr || data->value != "journal") return;
    const OptionValue* const delalloc = set.find("delalloc");
    const bool asked = std::find(words.begin(), words.end(), "delalloc") != words.end();
    if (asked && delalloc != nullptr && delalloc->word != "delalloc") {
        set.problems.push_back({"delalloc", data->word + " excludes delalloc, even where nodelalloc follows"});
    }
    for (const char* const property : {"dioread_nolock", "delalloc"}) {
        const OptionValue* const other = set.find(property);
        if (other == nullptr || other->value != "off")
            set.settings[property] = OptionValue{"off", Origin::implied, data->word};
    }
}

// What the words exclude among themselves; what they exclude of the defaults is for expected_live().
void note_conflicts(OptionSet& set, std::string_view fstype, const std::vector<std::string_view>& words) {
    OptionSet written;
    for (const auto& entry : set.settings) {
        if (entry.second.origin == Origin::written) written.settings.insert(entry);
    }
    for (const std::string_view word : words) {
        const OptionSpec* const spec = find_option(fstype, word);
        const OptionValue* const own = spec == nullptr ? nullptr : set.find(spec->property);
        if (own == nullptr || own->word != word) continue;  // another word won
        std::string why = conflict_with(written, fstype, word);
        if (!why.empty()) set.problems.push_back({std::string(word), std::move(why)});
    }
}

// A new xfs mount takes sync for wsync too, a remount does not (seen on 6.18).
void settle_xfs_sync(OptionSet& set) {
    const OptionValue* const sync = set.find("sync");
    if (sync != nullptr && sync->value == "on") set.settings["wsync"] = OptionValue{"on", Origin::implied, sync->word};
}

// With uni_xlate a vfat drops utf8 once all words are read (kernel fs/fat/inode.c; seen on 6.1 and 6.12).
void settle_vfat_names(OptionSet& set) {
    const OptionValue* const translated = set.find("uni_xlate");
    if (translated != nullptr && translated->value == "on")
        set.settings["utf8"] = OptionValue{"off", Origin::implied, translated->word};
}

}  // namespace

const OptionValue* OptionSet::find(std::string_view property) const {
    const auto found = settings.find(property);
    return found == settings.end() ? nullptr : &found->second;
}

std::vector<std::string_view> split_options(std::string_view list) {
    std::vector<std::string_view> words;
    std::size_t begin = 0;
    bool quoted = false;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        if (i < list.size() && list[i] == '"') quoted = !quoted;
        if (i < list.size() && (list[i] != ',' || quoted)) continue;
        if (i > begin) words.push_back(list.substr(begin, i - begin));
        begin = i + 1;
    }
    return words;
}

// "journal:delalloc=on" holds for the value journal alone, "sunit" for any value.
std::string conflict_with(const OptionSet& set, std::string_view fstype, std::string_view word) {
    const OptionSpec* const spec = find_option(fstype, word);
    if (spec == nullptr || spec->kind != OptionClass::setting) return {};
    const auto value = value_of_word(*spec, word);
    for (std::string_view conflict : split_words(spec->conflicts)) {
        const std::size_t colon = conflict.find(':');
        if (colon != std::string_view::npos) {
            if (!value || *value != conflict.substr(0, colon)) continue;
            conflict.remove_prefix(colon + 1);
        }
        const std::size_t equals = conflict.find('=');
        const OptionValue* const other = set.find(conflict.substr(0, equals));
        if (other == nullptr) continue;
        if (equals != std::string_view::npos && other->value != conflict.substr(equals + 1)) continue;
        return std::string(word) + " excludes " + std::string(conflict);
    }
    return {};
}

OptionSet parse_options(std::string_view fstype, std::string_view list, std::optional<KernelVersion> kernel) {
    OptionSet set = apply_options({}, fstype, list, kernel);
    if (fstype == "xfs") settle_xfs_sync(set);
    if (fstype == "vfat") settle_vfat_names(set);
    return set;
}

OptionSet apply_options(OptionSet base,
                        std::string_view fstype,
                        std::string_view list,
                        std::optional<KernelVersion> kernel) {
    OptionSet set = std::move(base);
    const std::vector<std::string_view> words = split_options(list);
    for (const std::string_view word : words) apply_word(set, fstype, word, kernel);
    settle_atime(set, words);
    note_conflicts(set, fstype, words);
    if (fstype == "ext4") settle_ext4_journal_data(set, words);
    return set;
}

Result<std::pair<std::string, std::string>> wanted_option(std::string_view fstype,
                                                          std::string_view word,
                                                          std::optional<KernelVersion> kernel) {
    const OptionClass kind = classify_option(fstype, word, kernel);
    if (kind != OptionClass::setting) {
        const std::string why = kind == OptionClass::unknown    ? "is no option of "
                                : kind == OptionClass::removed  ? "no longer exists in "
                                : kind == OptionClass::selector ? "chooses what is mounted and is no setting of "
                                                                : "sets nothing in the kernel on ";
        return fail(ErrorKind::invalid, std::string(word) + " " + why + std::string(fstype));
    }
    const OptionSpec* const spec = find_option(fstype, word);
    auto value = value_of_word(*spec, word);
    if (!value) return tl::unexpected<Error>(value.error());
    return std::pair<std::string, std::string>(spec->property, *value);
}

Result<ForbiddenOption> forbidden_option(std::string_view fstype, std::string_view word) {
    const OptionSpec* const spec = find_option(fstype, word);
    if (spec == nullptr || spec->kind != OptionClass::setting) {
        return fail(ErrorKind::invalid, std::string(word) + " is no setting of " + std::string(fstype));
    }
    const ForbiddenOption any{std::string(spec->property), {}};
    if (word.find('=') != std::string_view::npos || spec->form == ValueForm::flag) {
        // Of a word with modes ("discard", "discard=async") the bare one forbids every mode.
        const bool has_modes = spec->form == ValueForm::flag && spec->bare != "off" &&
                               find_option(fstype, std::string(word) + "=x") != spec;
        if (has_modes) return any;
        auto value = value_of_word(*spec, word);
        if (!value) return tl::unexpected<Error>(value.error());
        return ForbiddenOption{std::string(spec->property), {*value}};
    }
    if (spec->word != "compress-force") return any;
    ForbiddenOption forced{"compress", {"force-lzo"}};
    for (int level = 1; level <= 9; ++level) forced.values.push_back("force-zlib:" + std::to_string(level));
    for (int level = -15; level <= 15; ++level) {
        if (level != 0) forced.values.push_back("force-zstd:" + std::to_string(level));
    }
    return forced;
}

}  // namespace storpol
