// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/fstab.h"

#include <libmount/libmount.h>

#include <cstdio>
#include <string>

#include "engine/base/handle.h"
#include "engine/base/result.h"

namespace storpol {
namespace {

using MountTable = Handle<libmnt_table, mnt_unref_table>;
using MountIterator = Handle<libmnt_iter, mnt_free_iter>;
using Stream = Handle<FILE, fclose>;

// libmount separates fields by isblank(), which is blank and tab in every locale this program runs in (it sets none).
constexpr bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

struct Line {
    std::string_view text;   // without line end; a CR before the newline is not part of it either
    std::string_view whole;  // with them
    std::size_t begin = 0;
};

// libmount drops one CR at the end of a line, also of one without a newline.
Line take_line(std::string_view text, std::size_t begin) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t next = newline == std::string_view::npos ? text.size() : newline + 1;
    Line line{text.substr(begin, next - begin), text.substr(begin, next - begin), begin};
    if (newline != std::string_view::npos) line.text.remove_suffix(1);
    if (!line.text.empty() && line.text.back() == '\r') line.text.remove_suffix(1);
    return line;
}

std::array<std::optional<Span>, 6> field_spans(const Line& line) {
    std::array<std::optional<Span>, 6> fields;
    std::size_t at = 0;
    for (auto& field : fields) {
        while (at < line.text.size() && is_blank(line.text[at])) ++at;
        if (at == line.text.size()) break;
        const std::size_t begin = at;
        while (at < line.text.size() && !is_blank(line.text[at])) ++at;
        field = Span{line.begin + begin, line.begin + at};
    }
    return fields;
}

bool is_entry_line(std::string_view line) {
    std::size_t at = 0;
    while (at < line.size() && is_blank(line[at])) ++at;
    return at < line.size() && line[at] != '#';
}

std::string text_or_empty(const char* text) {
    return text == nullptr ? std::string() : std::string(text);
}

// One libmount table, used for one line after the other. The first line ever parsed fixes the format that libmount
// guesses
// ("1 2 ext4" would be taken for mountinfo), so a plain fstab line goes through first.
class LineReader {
  public:
    LineReader() : table_(mnt_new_table()), iterator_(mnt_new_iter(MNT_ITER_FORWARD)) {
        if (!table_ || !iterator_) STORPOL_BUG("libmount cannot allocate");
        FstabEntry ignored;
        read("none none none\n", ignored);
    }

    // Fills what the line means; false where libmount skips it.
    bool read(std::string_view line, FstabEntry& entry) {
        mnt_reset_table(table_.get());
        buffer_.assign(line);  // fmemopen wants a buffer that is not const
        const Stream stream(fmemopen(buffer_.data(), buffer_.size(), "r"));
        if (!stream) return false;
        if (mnt_table_parse_stream(table_.get(), stream.get(), "fstab") != 0) return false;
        libmnt_fs* fs = nullptr;  // borrowed from the table
        mnt_reset_iter(iterator_.get(), MNT_ITER_FORWARD);
        if (mnt_table_next_fs(table_.get(), iterator_.get(), &fs) != 0) return false;
        entry.source = text_or_empty(mnt_fs_get_source(fs));
        entry.target = text_or_empty(mnt_fs_get_target(fs));
        entry.fstype = text_or_empty(mnt_fs_get_fstype(fs));
        entry.options = text_or_empty(mnt_fs_get_options(fs));
        entry.freq = mnt_fs_get_freq(fs);
        entry.passno = mnt_fs_get_passno(fs);
        return true;
    }

  private:
    MountTable table_;
    MountIterator iterator_;
    std::string buffer_;
};

// libmount says only that a line is bad; the reason is worked out from the same rules (libmount, mnt_parse_table_line).
std::string why_rejected(const Line& line, const FstabEntry& entry) {
    if (line.whole.find('\0') != std::string_view::npos) return "it holds a NUL byte";
    if (!entry.fields[1]) return "it has one field; source, target and type are needed";
    if (!entry.fields[2]) return "it has two fields; source, target and type are needed";
    if (entry.fields[4]) return "field 5 or 6 is not a number (a blank inside a field is written \\040)";
    return "libmount does not accept it";
}

}  // namespace

Fstab parse_fstab(std::string_view text) {
    Fstab fstab;
    LineReader reader;
    int number = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Line line = take_line(text, at);
        at += line.whole.size();
        ++number;
        if (!is_entry_line(line.text)) continue;
        FstabEntry entry;
        entry.line = number;
        entry.bytes = Span{line.begin, line.begin + line.text.size()};
        entry.fields = field_spans(line);
        const bool has_nul = line.whole.find('\0') != std::string_view::npos;
        if (!has_nul && reader.read(line.whole, entry)) {
            if (!entry.has_options_field()) entry.options.clear();
            fstab.entries.push_back(std::move(entry));
        } else {
            fstab.rejected.push_back({number, why_rejected(line, entry)});
        }
    }
    return fstab;
}

std::string escape_fstab_field(std::string_view field) {
    std::string out;
    for (const char c : field) {
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\\' && c != '#') {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '\\';
        out += static_cast<char>('0' + (byte >> 6));
        out += static_cast<char>('0' + ((byte >> 3) & 7));
        out += static_cast<char>('0' + (byte & 7));
    }
    return out;
}

std::string unescape_fstab_field(std::string_view field) {
    const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
    std::string out;
    for (std::size_t i = 0; i < field.size(); ++i) {
        const bool escape = field[i] == '\\' && i + 3 < field.size() && is_octal(field[i + 1]) &&
                            is_octal(field[i + 2]) && is_octal(field[i + 3]);
        if (!escape) {
            out += field[i];
            continue;
        }
        out += static_cast<char>(((field[i + 1] - '0') << 6) | ((field[i + 2] - '0') << 3) | (field[i + 3] - '0'));
        i += 3;
    }
    return out;
}

}  // namespace storpol
