// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/dm_crypt/option_edits.h"

#include <algorithm>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/topology/next_boot.h"

namespace storpol {
namespace {

// The words of a line or argument that are this flag to this reader, or are meant to be.
std::vector<std::string> words_for(CryptReader reader, const std::vector<std::string>& words, std::string_view flag) {
    std::vector<std::string> found;
    for (const auto& word : words) {
        if (flag_of_option(reader, word) == flag || flag_meant(reader, word) == flag) found.push_back(word);
    }
    return found;
}

std::vector<std::string> changed_words(CryptReader reader,
                                       std::vector<std::string> words,
                                       const std::map<std::string, bool>& flags) {
    for (const auto& [flag, on] : flags) {
        const auto old = words_for(reader, words, flag);
        std::erase_if(words, [&](const std::string& word) { return std::ranges::find(old, word) != old.end(); });
        if (on) words.emplace_back(*option_of_flag(reader, flag));
    }
    return words;
}

// The word of the command line as it is to be; none where it has no such form.
std::optional<std::string> changed_argument(const PlacedArgument& argument,
                                            CryptReader reader,
                                            const std::map<std::string, bool>& flags) {
    if (!argument.value || argument.word != argument.name + "=" + *argument.value) {
        // rd.luks.allow-discards, without a value
        const bool is_switch = !argument.value && argument.word == "rd.luks.allow-discards" && !flags.begin()->second;
        return is_switch ? std::optional<std::string>("rd.luks.allow-discards=0") : std::nullopt;
    }
    if (reader == CryptReader::arch_encrypt) {
        const auto parts = split(*argument.value, ':');
        std::vector<std::string> words;
        if (parts.size() > 3) return std::nullopt;
        if (parts.size() == 3) {
            for (const auto word : split(parts[2], ',')) {
                if (!word.empty()) words.emplace_back(word);
            }
        }
        words = changed_words(reader, std::move(words), flags);
        auto head = argument.name + "=" + std::string(parts[0]);
        head += parts.size() > 1 ? ":" + std::string(parts[1]) : words.empty() ? "" : ":root";
        return words.empty() ? head : head + ":" + join(words, ",");
    }
    if (!argument.name.ends_with("luks.options")) {
        const bool is_switch = argument.name == "rd.luks.allow-discards" && !flags.begin()->second;
        return is_switch ? std::optional<std::string>("rd.luks.allow-discards=0") : std::nullopt;
    }
    const auto old = words_of_luks_options(argument);
    const auto tail = join(old, ",");
    if (!argument.word.ends_with(tail)) return std::nullopt;
    auto words = changed_words(reader, old, flags);
    if (words.empty()) words.emplace_back("luks");  // means nothing, but is no empty list
    return argument.word.substr(0, argument.word.size() - tail.size()) + join(words, ",");
}

void add_name(std::string& names, const CryptMapping& mapping, std::string_view flag, bool on) {
    names += (names.empty() ? "" : "; ") + std::string(on ? "set " : "clear ") + std::string(flag) + " of " +
             printable(mapping.name);
}

void add(std::vector<SettingPlane>& to, const std::vector<SettingPlane>& from) {
    for (const auto& served : from) {
        if (std::ranges::find(to, served) == to.end()) to.push_back(served);
    }
}

Action file_action(EditFile edit, const std::vector<SettingPlane>& serves, std::string says) {
    Action action;
    action.verb = Verb::edit;
    action.target = edit.path;
    action.step = std::move(edit);
    action.serves = serves;
    action.when = When::next_boot;
    action.says = std::move(says);
    return action;
}

void add_gaps(Remedy& remedy, const std::vector<SettingPlane>& serves, const std::string& why) {
    for (const auto& served : serves) remedy.gaps.push_back({served, std::nullopt, why});
}

}  // namespace

std::string CryptOptionEdits::change(const CryptMapping& mapping,
                                     const CryptSource& source,
                                     std::string_view flag,
                                     bool on,
                                     const std::vector<SettingPlane>& serves) {
    if (on && !option_of_flag(source.reader, flag))
        return source.read_by + " has no word for " + std::string(flag) + "; a LUKS2 header can keep it";
    const std::string name(flag);
    return source.kind == CryptSource::Kind::crypttab ? change_line(mapping, source, name, on, serves)
                                                      : change_word(mapping, source, name, on, serves);
}

std::string CryptOptionEdits::change_line(const CryptMapping& mapping,
                                          const CryptSource& source,
                                          const std::string& flag,
                                          bool on,
                                          const std::vector<SettingPlane>& serves) {
    const auto& line = source.line;
    if (source.place.line == 0 || !source.place.file.starts_with("/etc/"))
        return printable(source.where) + " is no file that is edited here: it is made by something else";
    if (on && line.fields < crypttab_key_field)
        return source.where + " has no third field (the key): write \"none " +
               std::string(*option_of_flag(source.reader, flag)) + "\" behind it";
    auto& edit = lines_[{source.place.file, source.place.line}];
    edit.entry = line;
    edit.path = source.place.file;
    edit.is_luks = !line.is_other_than_luks();
    for (auto& word : words_for(source.reader, source.words, flag)) edit.take_out.insert(std::move(word));
    if (on) edit.put_in.emplace_back(*option_of_flag(source.reader, flag));
    add(edit.serves, serves);
    add_name(edit.names, mapping, flag, on);
    return {};
}

std::string CryptOptionEdits::change_word(const CryptMapping& mapping,
                                          const CryptSource& source,
                                          const std::string& flag,
                                          bool on,
                                          const std::vector<SettingPlane>& serves) {
    const auto& argument = source.argument;
    if (!changed_argument(argument, source.reader, {{flag, on}})) {
        return quote_json(argument.word) + " at " + source.where + " has no place for the option" +
               (mapping.uuid.empty() ? ""
                                     : "; write rd.luks.options=" + mapping.uuid + "= with all options of the device");
    }
    auto& edit =
        words_[to_text(argument.place) + " " + std::to_string(argument.offset.value_or(0)) + " " + argument.word];
    const auto known = edit.flags.find(flag);
    if (known != edit.flags.end() && known->second != on)
        return quote_json(argument.word) + " at " + source.where +
               " is for several mappings of which the policy wants different things";
    edit.argument = argument;
    edit.reader = source.reader;
    edit.flags[flag] = on;
    add(edit.serves, serves);
    add_name(edit.names, mapping, flag, on);
    return {};
}

void CryptOptionEdits::finish(Remedy& remedy) {
    finish_lines(remedy);
    finish_words(remedy);
}

void CryptOptionEdits::finish_lines(Remedy& remedy) const {
    for (const auto& [place, line] : lines_) {
        const auto file = host_.read_file(line.path);
        if (!file) {
            add_gaps(remedy, line.serves, to_text(file.error()));
            continue;
        }
        FieldWords words;
        words.line = place.second;
        words.field = crypttab_options_field;
        words.put_in = line.put_in;
        for (const auto& option : line.entry.options) {
            if (line.take_out.contains(option)) words.take_out.push_back(option);
        }
        const bool nothing_left = line.put_in.empty() && words.take_out.size() == line.entry.options.size();
        // An empty field has no spelling, and "defaults" is no word of crypttab.
        if (nothing_left) words.put_in = {line.is_luks ? "luks" : "plain"};
        if (line.entry.options.empty() && !line.entry.options_text.empty())
            words.take_out = {line.entry.options_text};  // "-" or "none"
        remedy.actions.push_back(
            file_action({line.path, digest_of(*file), words}, line.serves, line.names + " in its options"));
    }
}

void CryptOptionEdits::finish_words(Remedy& remedy) const {
    std::map<std::pair<std::string, int>, std::vector<const WordEdit*>> by_line;
    for (const auto& [key, word] : words_)
        by_line[{word.argument.place.file, word.argument.place.line}].push_back(&word);
    for (const auto& [place, on_line] : by_line) {
        std::vector<ArgumentChange> changes;
        std::vector<SettingPlane> serves;
        std::string names;
        for (const auto* word : on_line) {
            changes.push_back({word->argument, *changed_argument(word->argument, word->reader, word->flags)});
            add(serves, word->serves);
            names += (names.empty() ? "" : "; ") + word->names;
        }
        auto edits = edit_arguments(changes, host_);
        if (!edits) {
            add_gaps(remedy, serves, to_text(edits.error()) + "; write " + quote_json(changes.front().new_word));
            continue;
        }
        for (auto& edit : *edits)
            remedy.actions.push_back(file_action(std::move(edit), serves, names + " on the command line"));
    }
}

}  // namespace storpol
