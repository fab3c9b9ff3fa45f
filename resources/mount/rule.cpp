// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mount/rule.h"

#include <algorithm>
#include <array>
#include <map>

#include "engine/base/text.h"
#include "engine/topology/backing.h"
#include "resources/keys.h"
#include "resources/mount/option_set.h"

namespace storpol {
namespace {

// Every filesystem the table knows; a word that one of them takes for "what is mounted" is that everywhere.
constexpr std::array<std::string_view, 5> filesystems{"ext4", "xfs", "btrfs", "f2fs", "vfat"};

std::vector<MountWord> read_words(const PolicyNode& node) {
    std::vector<MountWord> words;
    for (const auto& element : *node.list()) words.push_back({element.text, element.place});
    return words;
}

void read_trim(const PolicyNode& node, MountRule& rule) {
    if (node.table() == nullptr) return;
    for (const auto& [key, place, value] : node.table()->entries) {
        if (key == "enabled") rule.trim = MountWord{value.text, value.place};
        if (key != "min-extent") continue;
        rule.min_extent = MountWord{value.text, value.place};
        rule.min_extent_bytes = value.number.value_or(0);
    }
}

MountRule read_rule(const PolicyNode& node, const Policy& policy) {
    MountRule rule;
    rule.place = node.place;
    rule.is_builtin = policy.is_builtin(node.place);
    for (const auto& [key, place, value] : node.table()->entries) {
        if (key == "options") rule.options = read_words(value);
        if (key == "forbid") rule.forbid = read_words(value);
        if (key == "discard") rule.discard = MountWord{value.text, value.place};
        if (key == "fstrim") read_trim(value, rule);
        if (key != "match") continue;
        for (const auto& [name, name_place, wanted] : value.table()->entries) {
            if (name == "target") rule.target = wanted.text;
            if (name == "source") rule.source = wanted.text;
            if (name == "fstype") rule.fstype = wanted.text;
            if (name == "label") rule.label = wanted.text;
            if (name == "encrypted") rule.backing.encrypted = wanted.boolean();
            if (name == "rotational") rule.backing.rotational = wanted.boolean();
            if (name == "model") rule.backing.model = wanted.text;
            if (name == "transport") rule.backing.transport = wanted.text;
        }
    }
    return rule;
}

PolicyError error_at(const MountWord& word, std::string says, std::string fix = {}) {
    PolicyError error;
    error.where = word.place;
    error.says = std::move(says);
    error.fix = std::move(fix);
    error.width = static_cast<int>(word.text.size()) + 2;
    return error;
}

bool is_selector(const std::string& word) {
    for (const auto fstype : filesystems) {
        if (classify_option(fstype, word) == OptionClass::selector) return true;
    }
    return false;
}

// One word that no host could make right; true when it was.
bool check_word(const MountRule& rule, const MountWord& word, Notes& notes) {
    const auto quoted = quote_json(word.text);
    if (word.text.empty() || word.text.find_first_of(", \t\\#") != std::string::npos ||
        split_options(word.text).size() != 1) {
        notes.add(error_at(word, quoted + " is not one mount option", "write each option as an element of its own"));
        return false;
    }
    if (is_selector(word.text)) {
        notes.add(error_at(word, quoted + " chooses what is mounted or where; a policy sets how",
                           "leave it to fstab or the mount unit"));
        return false;
    }
    const auto kind = classify_option(rule.fstype.value_or(""), word.text);
    if (kind == OptionClass::ignored) {
        notes.add(error_at(word, quoted + " sets nothing", "take it out"));
        return false;
    }
    if (!rule.names_fstype() || !is_known_filesystem(*rule.fstype) || kind == OptionClass::userspace) return true;
    const auto wanted = wanted_option(*rule.fstype, word.text);
    if (wanted) return true;
    notes.add(
        error_at(word, *rule.fstype + " does not take " + quoted + ": " + wanted.error().what,
                 wanted.error().fix.empty() ? "take it out, or match a filesystem that has it" : wanted.error().fix));
    return false;
}

void check_forbidden_word(const MountRule& rule, const MountWord& word, Notes& notes) {
    if (!rule.names_fstype() || !is_known_filesystem(*rule.fstype)) {
        if (is_selector(word.text))
            notes.add(error_at(word, quote_json(word.text) + " chooses what is mounted; a policy cannot forbid it"));
        return;
    }
    if (const auto forbidden = forbidden_option(*rule.fstype, word.text); !forbidden) {
        notes.add(error_at(word,
                           *rule.fstype + " does not know " + quote_json(word.text) + ": " + forbidden.error().what,
                           "take it out"));
    }
}

// Wanted and forbidden at once, by the very word.
void check_contradictions(const MountRule& rule, Notes& notes) {
    std::map<std::string, const MountWord*> wanted;
    for (const auto& word : rule.options) wanted[word.text] = &word;
    for (const auto& word : rule.forbid) {
        const auto other = wanted.find(word.text);
        if (other == wanted.end()) continue;
        notes.add(error_at(word,
                           quote_json(word.text) + " is forbidden here and wanted at " + to_text(other->second->place),
                           "keep one of the two"));
    }
}

// A discard word means continuous or not; `discard` of the same rule has to say the same.
void check_discard(const MountRule& rule, Notes& notes) {
    if (!rule.discard) return;
    const bool wants_it = rule.discard->text == "continuous";
    for (const auto& word : rule.options) {
        const bool is_on = word.text == "discard" || word.text.starts_with("discard=");
        if (!is_on && word.text != "nodiscard") continue;
        if (is_on == wants_it) continue;
        notes.add(error_at(word,
                           quote_json(word.text) + " and discard = " + quote_json(rule.discard->text) + " at " +
                               to_text(rule.discard->place) + " do not mean the same",
                           "keep the one you mean"));
    }
}

Key discard_key(std::string name, std::string doc) {
    Key key = key_of(std::move(name), KeyType::word, std::move(doc));
    key.choices = {"periodic", "continuous", "never"};
    return key;
}

}  // namespace

bool has_glob(std::string_view pattern) {
    return pattern.find_first_of("*?") != std::string_view::npos;
}

std::optional<bool> BackingWish::holds(const Backing& backing) const {
    const bool is_known = backing.unknown.empty();
    const auto& disks = backing.disks;
    const auto all = [&](const auto& fits) { return std::ranges::all_of(disks, fits); };
    if (is_known && model && !all([&](const Disk* disk) { return glob_match(*model, disk->model); })) return false;
    if (is_known && transport && !all([&](const Disk* disk) { return disk->transport == *transport; })) return false;
    const bool spins = std::ranges::any_of(disks, &Disk::rotational);
    if (is_known && rotational && spins != *rotational) return false;
    if (is_known && encrypted && backing.is_encrypted && *backing.is_encrypted != *encrypted) return false;
    if (!is_known || (encrypted && !backing.is_encrypted)) return std::nullopt;
    return true;
}

bool MountRule::names_fstype() const {
    return fstype && !has_glob(*fstype);
}

bool MountRule::names_target() const {
    return target && !has_glob(*target);
}

MountPolicy read_mount_policy(const Policy& policy, Notes& notes) {
    MountPolicy read;
    if (const auto* discard = policy.find("discard"); discard != nullptr && discard->table() != nullptr) {
        if (const auto* filesystem = discard->table()->find("filesystem"))
            read.discard = MountWord{filesystem->text, filesystem->place};
    }
    const auto* rules = policy.find("mount");
    if (rules == nullptr || rules->list() == nullptr) return read;
    for (const auto& element : *rules->list()) {
        auto rule = read_rule(element, policy);
        if (!rule.target && !rule.source && !rule.fstype && !rule.label && !rule.backing.is_given()) {
            notes.add(error_at({"[[mount]]", rule.place},
                               "this [[mount]] rule has no match, so it would mean every mount",
                               "say which mounts it is for, such as match = { target = \"/srv\" }"));
        }
        for (const auto& word : rule.options) check_word(rule, word, notes);
        for (const auto& word : rule.forbid) check_forbidden_word(rule, word, notes);
        check_contradictions(rule, notes);
        check_discard(rule, notes);
        read.rules.push_back(std::move(rule));
    }
    return read;
}

PolicyKeys mount_keys() {
    Key match = key_of("match", KeyType::table, "Which mounts: all keys given must match. Required.");
    match.keys = {
        key_of("target", KeyType::word, "The mount point; a glob."),
        key_of("source", KeyType::word,
               "The source as fstab or the unit names it (UUID=..., /dev/...), or as the kernel does; a glob."),
        key_of("fstype", KeyType::word,
               "The filesystem type; a glob. Without one, an option that this filesystem does not know is an error. "
               "Filesystems without a "
               "disk (tmpfs, proc, ...) match only a rule that names their type."),
        key_of("label", KeyType::word, "The filesystem's label; a glob."),
        key_of("encrypted", KeyType::boolean,
               "Whether a dm-crypt mapping (LUKS, plain) lies below the filesystem, anywhere on the way to the disks."),
        key_of("model", KeyType::word,
               "The model of the disks at the bottom, as [[block]] has it; a glob. Of several disks all must match."),
        key_of("transport", KeyType::word,
               "How the disks at the bottom are attached. Of several disks all must be so."),
        key_of("rotational", KeyType::boolean,
               "Whether a disk at the bottom spins: of several any one, so `false` means that none does. The kernel "
               "says 1 of most virtual disks."),
    };
    for (const auto word : disk_transports()) match.keys[6].choices.emplace_back(word);
    Key rule = key_of("mount", KeyType::rule_array,
                      "Options of mounted filesystems. All matching rules apply, option by option; of one option the "
                      "later rule wins. A "
                      "filesystem that is mounted more than once is one setting, named by its shortest mount point.");
    rule.keys = {
        match,
        key_of("options", KeyType::word_list,
               "Options that must hold, as mount(8) spells them: \"noatime\", \"commit=300\"."),
        key_of("forbid", KeyType::word_list,
               "Options that must not hold. \"compress-force\" forbids any value of it, \"discard=async\" that one."),
        discard_key(
            "discard",
            "Discards of these mounts; more exact than [discard] filesystem, less than a discard word in options."),
    };
    Key discard = key_of("discard", KeyType::table, "Discards (TRIM), layer by layer.");
    discard.keys = {discard_key("filesystem",
                                "How filesystems discard: `periodic` by a scheduled trim, so not while files are "
                                "deleted; `continuous` while files are deleted; "
                                "`never` neither. Holds for ext4, xfs, btrfs, f2fs and vfat on a disk.")};
    return {{rule, discard}};
}

}  // namespace storpol
