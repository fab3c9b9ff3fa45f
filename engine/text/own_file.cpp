// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/own_file.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <utility>

#include "engine/base/text.h"

namespace storpol {

namespace {

// Older and newer versions may say the rest differently; the beginning is what tells the head.
constexpr std::string_view head_begins = "# Written by storpol";
constexpr std::string_view head_line =
    "# Written by storpol; do not edit by hand: each line comes from the policy, and \"storpol apply\" puts it back.\n";

bool is_word_byte(char byte) {
    return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '-' || byte == '_';
}

// Takes a run of word bytes off the front; false where there is none.
bool take_word(std::string_view& text) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_word_byte);
    const auto length = static_cast<std::size_t>(end - text.begin());
    text.remove_prefix(length);
    return length > 0;
}

// ".word" as often as it comes; false for a dot that no word follows.
bool take_dotted_words(std::string_view& text, int& count) {
    while (!text.empty() && text.front() == '.') {
        text.remove_prefix(1);
        if (!take_word(text)) return false;
        ++count;
    }
    return true;
}

// ["NAME"], NAME as in a JSON string.
bool take_bracketed_name(std::string_view& text) {
    if (text.substr(0, 2) != "[\"") return false;
    text.remove_prefix(2);
    while (!text.empty() && text.front() != '"')
        text.remove_prefix(std::min<std::size_t>(text.front() == '\\' ? 2 : 1, text.size()));
    if (text.substr(0, 2) != "\"]") return false;
    text.remove_prefix(2);
    return true;
}

std::string_view without_line_end(std::string_view line) {
    if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
}

bool is_blank(std::string_view line) {
    return trim(line).empty();
}

bool is_header(std::string_view line) {
    const std::string_view text = trim(line);
    return text.size() > 2 && text.front() == '[' && text.back() == ']';
}

// The address in "# ADDRESS"; empty for any other line.
std::string_view address_in(std::string_view line) {
    constexpr std::string_view begins = "# ";
    const std::string_view text = without_line_end(line);
    if (text.substr(0, begins.size()) != begins || !is_address(text.substr(begins.size()))) return {};
    return text.substr(begins.size());
}

bool can_be_owned(std::string_view line) {
    return !is_blank(line) && !is_header(line) && address_in(line).empty();
}

// Lines with their line ends; nothing of the text is lost.
std::vector<std::string_view> whole_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
        lines.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return lines;
}

bool has_line_end(std::string_view text) {
    constexpr std::string_view ends{"\r\n\0", 3};
    return text.find_first_of(ends) != std::string_view::npos;
}

tl::unexpected<Error> cannot_stand(std::string_view what, std::string_view text) {
    return fail(ErrorKind::invalid,
                std::string(what) + " \"" + printable(text) + "\" cannot stand in a file of storpol");
}

// Whether what set() is asked for would be read back as one entry.
Result<void> check_entry(std::string_view section, std::string_view address, const std::vector<std::string>& lines) {
    if (!is_address(address)) return cannot_stand("the address", address);
    if (!section.empty() && (!is_header(section) || section != trim(section) || has_line_end(section))) {
        return cannot_stand("the section", section);
    }
    for (const std::string& line : lines) {
        if (has_line_end(line) || !can_be_owned(line)) return cannot_stand("the line", line);
    }
    return {};
}

std::string key_of(std::string_view section, std::string_view address) {
    return std::string(section) + '\0' + std::string(address);
}

}  // namespace

bool is_address(std::string_view text) {
    int words = 1;
    if (has_line_end(text) || !take_word(text) || !take_dotted_words(text, words)) return false;
    if (!text.empty() && text.front() == '[') {
        words += 1;
        if (!take_bracketed_name(text) || !take_dotted_words(text, words)) return false;
    }
    return text.empty() && words > 1;
}

OwnFile OwnFile::parse(std::string_view text) {
    OwnFile file;
    std::string section;
    const auto lines = whole_lines(text);
    for (std::size_t index = 0; index < lines.size(); ++index) {
        const std::string_view line = lines[index];
        Piece piece;
        piece.bytes = line;
        if (index == 0 && line.substr(0, head_begins.size()) == head_begins) {
            piece.kind = PieceKind::head;
        } else if (is_header(line)) {
            piece.kind = PieceKind::header;
            section = trim(line);
        } else if (is_blank(line)) {
            piece.kind = PieceKind::blank;
        } else if (const std::string_view address = address_in(line); !address.empty()) {
            piece.kind = PieceKind::entry;
            piece.address = address;
            if (index + 1 < lines.size() && can_be_owned(lines[index + 1])) {
                ++index;
                piece.bytes += lines[index];
                piece.line = without_line_end(lines[index]);
            }
        }
        piece.section = section;
        if (piece.kind == PieceKind::entry) file.seen_.insert(key_of(section, piece.address));
        file.has_headers_ = file.has_headers_ || piece.kind == PieceKind::header;
        file.pieces_.push_back(std::move(piece));
    }
    return file;
}

std::vector<OwnFile::Entry> OwnFile::entries() const {
    std::vector<Entry> entries;
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> index_of;
    int line = 1;
    for (const Piece& piece : pieces_) {
        if (piece.kind == PieceKind::entry) {
            const auto place = index_of.try_emplace({piece.section, piece.address}, entries.size());
            if (place.second) entries.push_back(Entry{piece.section, piece.address, {}, line});
            Entry& entry = entries[place.first->second];
            if (!piece.line.empty()) {
                if (entry.lines.empty()) entry.line = line + 1;
                entry.lines.push_back(piece.line);
            }
        }
        line += static_cast<int>(std::count(piece.bytes.begin(), piece.bytes.end(), '\n'));
    }
    return entries;
}

Result<void> OwnFile::set(std::string_view section, std::string_view address, const std::vector<std::string>& lines) {
    if (auto checked = check_entry(section, address, lines); !checked) return checked;
    if (lines.empty()) {
        remove(section, address);
        return {};
    }
    std::vector<Piece> wanted;
    for (const std::string& line : lines) {
        const std::string bytes = "# " + std::string(address) + '\n' + line + '\n';
        wanted.push_back(Piece{PieceKind::entry, bytes, std::string(section), std::string(address), line});
    }
    // A file of thousands of new entries is made in linear time: nothing is searched for what was never there.
    if (seen_.insert(key_of(section, address)).second) {
        add_head();
        if (!section.empty()) add_section(section);
        insert(place_for(section), std::move(wanted));
        return {};
    }
    const auto is_of_entry = [section, address](const Piece& piece) {
        return piece.kind == PieceKind::entry && piece.section == section && piece.address == address;
    };
    std::vector<std::string> found;
    for (const Piece& piece : pieces_) {
        if (is_of_entry(piece)) found.push_back(piece.line);
    }
    if (found == lines) return {};
    const auto first = std::find_if(pieces_.begin(), pieces_.end(), is_of_entry);
    if (first == pieces_.end()) {
        add_head();
        if (!section.empty()) add_section(section);
        insert(place_for(section), std::move(wanted));
        return {};
    }
    // Only pieces after the first one go, so its position stays.
    const auto at = static_cast<Position>(first - pieces_.begin());
    std::erase_if(pieces_, is_of_entry);
    insert(at, std::move(wanted));
    drop_bare_comments();
    return {};
}

void OwnFile::remove(std::string_view section, std::string_view address) {
    for (Position at = pieces_.size(); at-- > 0;) {
        const Piece& piece = pieces_[at];
        if (piece.kind != PieceKind::entry || piece.section != section || piece.address != address) continue;
        pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(at));
        remove_empty_header(at);
        at = std::min(at, pieces_.size());
    }
    drop_bare_comments();
}

void OwnFile::remove(std::string_view address) {
    for (const Entry& entry : entries()) {
        if (entry.address == address) remove(entry.section, address);
    }
}

std::string OwnFile::render() const {
    std::string text;
    for (const Piece& piece : pieces_) text += piece.bytes;
    return text;
}

bool OwnFile::is_empty() const {
    return std::none_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) {
        return piece.kind == PieceKind::entry || piece.kind == PieceKind::foreign;
    });
}

// Where the first region of a section begins, just below its header; the number of pieces where it has none.
OwnFile::Position OwnFile::region_begin(std::string_view section) const {
    for (Position at = 0; at < pieces_.size(); ++at) {
        const bool is_head = pieces_[at].kind == PieceKind::head;
        if (section.empty()) return is_head ? at + 1 : at;
        if (pieces_[at].kind == PieceKind::header && pieces_[at].section == section) return at + 1;
    }
    return pieces_.size();
}

OwnFile::Position OwnFile::region_end(Position begin, std::string_view section) const {
    Position end = begin;
    while (end < pieces_.size() && pieces_[end].kind != PieceKind::header && pieces_[end].section == section) ++end;
    return end;
}

// Where a new entry goes: at the end of its section, before the blank lines that part it from the next. The order of a
// file's entries is the order in which they were set: udev and others take the last of two.
OwnFile::Position OwnFile::place_for(std::string_view section) const {
    const Position begin = region_begin(section);
    Position at = has_headers_ ? region_end(begin, section) : pieces_.size();
    while (at > begin && pieces_[at - 1].kind == PieceKind::blank) --at;
    return at;
}

void OwnFile::insert(Position at, std::vector<Piece> pieces) {
    if (at > 0 && !pieces_[at - 1].bytes.empty() && pieces_[at - 1].bytes.back() != '\n') pieces_[at - 1].bytes += '\n';
    pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(pieces.begin()),
                   std::make_move_iterator(pieces.end()));
}

// After a piece was taken out at `at`: the header above it goes too when only blank lines are left below it, and with
// it one blank line that parted it from what is above.
void OwnFile::remove_empty_header(Position at) {
    Position begin = at;
    while (begin > 0 && pieces_[begin - 1].kind == PieceKind::blank) --begin;
    if (begin == 0 || pieces_[begin - 1].kind != PieceKind::header) return;
    const Position end = region_end(begin, pieces_[begin - 1].section);
    const bool is_bare = std::all_of(pieces_.begin() + static_cast<std::ptrdiff_t>(begin),
                                     pieces_.begin() + static_cast<std::ptrdiff_t>(end),
                                     [](const Piece& piece) { return piece.kind == PieceKind::blank; });
    if (!is_bare) return;
    Position from = begin - 1;
    if (from > 0 && pieces_[from - 1].kind == PieceKind::blank) --from;
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(from),
                  pieces_.begin() + static_cast<std::ptrdiff_t>(begin));
}

// An address comment whose line is gone and that now stands above a foreign line would claim it when read back.
void OwnFile::drop_bare_comments() {
    for (Position at = pieces_.size(); at-- > 0;) {
        const bool is_bare = pieces_[at].kind == PieceKind::entry && pieces_[at].line.empty();
        const bool is_above_foreign = at + 1 < pieces_.size() && pieces_[at + 1].kind == PieceKind::foreign;
        if (is_bare && is_above_foreign) pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

// Makes the section at the end of the file, parted by a blank line, unless there is one.
void OwnFile::add_section(std::string_view section) {
    const bool is_there = std::any_of(pieces_.begin(), pieces_.end(), [section](const Piece& piece) {
        return piece.kind == PieceKind::header && piece.section == section;
    });
    if (is_there) return;
    has_headers_ = true;
    const std::string above = pieces_.empty() ? std::string() : pieces_.back().section;
    insert(pieces_.size(), {Piece{PieceKind::blank, "\n", above, {}, {}},
                            Piece{PieceKind::header, std::string(section) + '\n', std::string(section), {}, {}}});
}

void OwnFile::add_head() {
    if (!pieces_.empty() && pieces_.front().kind == PieceKind::head) return;
    insert(0, {Piece{PieceKind::head, std::string(head_line), {}, {}, {}}});
}

}  // namespace storpol
