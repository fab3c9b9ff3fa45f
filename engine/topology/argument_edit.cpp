// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <map>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/text/field_edit.h"
#include "engine/topology/next_boot.h"

namespace storpol {
namespace {

constexpr std::string_view blanks = " \t";

std::vector<std::string> comma_words(std::string_view field) {
    std::vector<std::string> words;
    for (const auto word : split(field, ',')) words.emplace_back(word);
    return words;
}

// The blank-separated field that the byte at `offset` lies in: its number from 1, and where it begins and ends.
struct Field {
    int number = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
};

Field field_at(std::string_view line, std::size_t offset) {
    Field field;
    while (field.end <= offset) {
        field.begin = line.find_first_not_of(blanks, field.end);
        if (field.begin == std::string_view::npos || field.begin > offset) return {};
        field.end = std::min(line.find_first_of(blanks, field.begin), line.size());
        ++field.number;
        if (field.end == line.size() && field.end <= offset) return {};
    }
    return field;
}

// One field before and after, as words to take out and put in. Where an edit by words gives something else than what is
// wanted (commas within quotes), there is none.
std::optional<FieldWords> as_words(std::string_view bytes,
                                   int line,
                                   int number,
                                   std::string_view before,
                                   std::string_view after,
                                   std::string_view wanted_bytes) {
    const auto old_words = comma_words(before);
    const auto new_words = comma_words(after);
    FieldWords edit;
    edit.line = line;
    edit.field = number;
    std::size_t same = 0;
    while (same < old_words.size() && same < new_words.size() && old_words[same] == new_words[same]) ++same;
    edit.take_out.assign(old_words.begin() + static_cast<std::ptrdiff_t>(same), old_words.end());
    edit.put_in.assign(new_words.begin() + static_cast<std::ptrdiff_t>(same), new_words.end());
    const auto edited = edit_words(bytes, line, number, edit.take_out, edit.put_in);
    if (edited && *edited == wanted_bytes) return edit;
    edit.take_out = {std::string(before)};
    edit.put_in = {std::string(after)};
    const auto whole = edit_words(bytes, line, number, edit.take_out, edit.put_in);
    return whole && *whole == wanted_bytes ? std::optional(edit) : std::nullopt;
}

tl::unexpected<Error> not_by_words(const PlacedArgument& argument) {
    return fail(ErrorKind::unsupported, quote_json(argument.word) + " cannot be changed there without a person",
                to_text(argument.place));
}

Result<EditFile> edit_of_field(const FileText& file,
                               int line,
                               std::string_view text,
                               const Field& field,
                               std::vector<const ArgumentChange*> changes) {
    std::ranges::sort(changes, std::greater{}, [](const ArgumentChange* change) { return *change->old_word.offset; });
    std::string after(text.substr(field.begin, field.end - field.begin));
    for (const auto* change : changes) {
        after.replace(*change->old_word.offset - field.begin, change->old_word.word.size(), change->new_word);
    }
    const auto line_begin = static_cast<std::size_t>(text.data() - file.bytes.data());
    std::string wanted = file.bytes;
    wanted.replace(line_begin + field.begin, field.end - field.begin, after);
    const auto words =
        as_words(file.bytes, line, field.number, text.substr(field.begin, field.end - field.begin), after, wanted);
    if (!words) return not_by_words(changes.front()->old_word);
    return EditFile{file.path, digest_of(file.bytes), *words};
}

}  // namespace

Result<std::vector<EditFile>> edit_arguments(const std::vector<ArgumentChange>& changes, Host& host) {
    std::map<std::pair<std::string, int>, std::vector<const ArgumentChange*>> by_line;
    for (const auto& change : changes) {
        const auto& place = change.old_word.place;
        const bool is_for_people = place.file.starts_with("/etc/") || place.file.ends_with(".conf");
        if (!change.old_word.offset || place.line <= 0 || !is_for_people) return not_by_words(change.old_word);
        by_line[{place.file, place.line}].push_back(&change);
    }
    std::vector<EditFile> edits;
    for (const auto& [place, on_line] : by_line) {
        const auto file = host.read_file_resolved(place.first);
        if (!file) return tl::unexpected<Error>(file.error());
        const auto lines = split_lines(file->bytes);
        const auto index = static_cast<std::size_t>(place.second) - 1;
        if (index >= lines.size()) return not_by_words(on_line.front()->old_word);
        std::map<int, std::pair<Field, std::vector<const ArgumentChange*>>> by_field;
        for (const auto* change : on_line) {
            const auto& word = change->old_word;
            const auto field = field_at(lines[index], *word.offset);
            const bool stands_there = field.number > 0 && *word.offset + word.word.size() <= field.end &&
                                      lines[index].substr(*word.offset, word.word.size()) == word.word;
            if (!stands_there) return not_by_words(word);
            auto& in_field = by_field[field.number];
            in_field.first = field;
            in_field.second.push_back(change);
        }
        for (const auto& [number, in_field] : by_field) {
            auto edit = edit_of_field(*file, place.second, lines[index], in_field.first, in_field.second);
            if (!edit) return tl::unexpected<Error>(edit.error());
            edits.push_back(std::move(*edit));
        }
    }
    return edits;
}

}  // namespace storpol
