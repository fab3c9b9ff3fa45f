// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/unit_file.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"

namespace storpol {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string_view strip_front(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\n\r");
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// An odd number of backslashes at the end: the line goes on in the next one.
bool is_continued(std::string_view line) {
    std::size_t count = 0;
    while (count < line.size() && line[line.size() - 1 - count] == '\\') ++count;
    return count % 2 == 1;
}

// Length of the UTF-8 sequence at the front, 0 where there is none (overlong forms and surrogates are none).
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
    }
    const unsigned second = byte(1);
    const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                       (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return wrong ? 0 : length;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

// systemd (src/basic/fileio.c, read_line_full) ends a line at \n, \r or NUL, and takes a run of different ones for one
// end.
std::vector<std::string_view> unit_lines(std::string_view text) {
    constexpr std::string_view ends{"\n\r\0", 3};
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find_first_of(ends);
        lines.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        std::string seen;
        text.remove_prefix(end);
        while (!text.empty() && ends.find(text.front()) != std::string_view::npos &&
               seen.find(text.front()) == std::string::npos) {
            seen += text.front();
            text.remove_prefix(1);
        }
    }
    return lines;
}

class Parser {
  public:
    // One logical line: continuation lines already joined.
    void take(std::string_view text, int first, int last) {
        const std::string_view line = trim(text);
        if (line.empty()) return;
        if (!is_utf8(line)) return reject(first, "it is not valid UTF-8");
        if (line.front() == '[') return take_section(line, first);
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) return reject(first, "it has no '='");
        if (!in_section_) return reject(first, "it stands before the first section");
        if (ignoring_) return reject(first, "its section has a malformed header");
        const std::string_view key = trim(line.substr(0, equals));
        if (key.empty()) return reject(first, "nothing stands before '='");
        file.assignments.push_back(
            {section_, std::string(key), std::string(trim(line.substr(equals + 1))), first, last});
    }

    UnitFile file;

  private:
    void reject(int line, std::string why) { file.rejected.push_back({line, std::move(why)}); }

    // A header without ']' makes systemd refuse the whole file; the lines below it are no setting of anything.
    void take_section(std::string_view line, int number) {
        in_section_ = true;
        ignoring_ = line.back() != ']';
        if (ignoring_) return reject(number, "a section header ends with ']'");
        section_ = line.substr(1, line.size() - 2);
    }

    std::string section_;
    bool in_section_ = false;
    bool ignoring_ = false;
};

}  // namespace

UnitFile parse_unit_file(std::string_view text) {
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    Parser parser;
    std::string pending;  // what a '\' at its end carried over
    int first = 0;
    int number = 0;
    for (const std::string_view raw : unit_lines(text)) {
        ++number;
        const std::string_view line = strip_front(raw);
        if (!line.empty() && (line.front() == '#' || line.front() == ';')) continue;  // also between continuation lines
        if (first == 0) first = number;
        pending += line;
        if (is_continued(line)) {
            pending.back() = ' ';
            continue;
        }
        parser.take(pending, first, number);
        pending.clear();
        first = 0;
    }
    if (first != 0) parser.take(pending, first, number);
    return std::move(parser.file);
}

const UnitAssignment* last_assignment(const std::vector<UnitAssignment>& all,
                                      std::string_view section,
                                      std::string_view key) {
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
        if (it->section == section && it->key == key) return &*it;
    }
    return nullptr;
}

std::vector<const UnitAssignment*> list_assignments(const std::vector<UnitAssignment>& all,
                                                    std::string_view section,
                                                    std::string_view key) {
    std::vector<const UnitAssignment*> list;
    for (const UnitAssignment& assignment : all) {
        if (assignment.section != section || assignment.key != key) continue;
        if (assignment.value.empty())
            list.clear();
        else
            list.push_back(&assignment);
    }
    return list;
}

std::optional<bool> parse_unit_boolean(std::string_view value) {
    std::string lower(value);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    constexpr std::array<std::string_view, 6> yes{"1", "yes", "y", "true", "t", "on"};
    constexpr std::array<std::string_view, 6> no{"0", "no", "n", "false", "f", "off"};
    if (std::find(yes.begin(), yes.end(), lower) != yes.end()) return true;
    if (std::find(no.begin(), no.end(), lower) != no.end()) return false;
    return std::nullopt;
}

}  // namespace storpol
