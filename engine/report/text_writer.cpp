// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/report/text_writer.h"

#include <algorithm>

#include "engine/base/text.h"

namespace storpol {
namespace {

// SGR sequences every terminal of the last decades knows (ECMA-48 8.3.117).
std::string_view code_of(Tone tone) {
    switch (tone) {
        case Tone::plain:
            return "";
        case Tone::good:
            return "\x1b[32m";
        case Tone::bad:
            return "\x1b[31m";
        case Tone::doubtful:
            return "\x1b[33m";
        case Tone::faint:
            return "\x1b[2m";
        case Tone::strong:
            return "\x1b[1m";
    }
    return "";
}

Tone tone_of_diff(std::string_view line) {
    if (line.substr(0, 3) == "---" || line.substr(0, 3) == "+++") return Tone::strong;
    if (line.substr(0, 1) == "+") return Tone::good;
    if (line.substr(0, 1) == "-") return Tone::bad;
    if (line.substr(0, 2) == "@@") return Tone::faint;
    return Tone::plain;
}

std::string printable_with_tabs(std::string_view line) {
    std::string out;
    for (const std::string_view part : split(line, '\t')) {
        if (!out.empty() || part.data() != line.data()) out += '\t';
        out += printable(part);
    }
    return out;
}

}  // namespace

std::size_t width_of(std::string_view text) {
    const auto is_first_byte = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u; };
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_first_byte));
}

std::string padded(std::string_view text, std::size_t width) {
    std::string out{text};
    if (const std::size_t has = width_of(text); has < width) out.append(width - has, ' ');
    return out;
}

std::string TextWriter::paint(Tone tone, std::string_view text) const {
    if (!style_.color || tone == Tone::plain || text.empty()) return std::string{text};
    return std::string{code_of(tone)} + std::string{text} + "\x1b[0m";
}

void TextWriter::line(std::string_view text) {
    out_ += text;
    out_ += '\n';
}

void TextWriter::blank() {
    if (!out_.empty()) out_ += '\n';
}

void TextWriter::wrapped(std::string_view lead, std::size_t lead_width, std::string_view text, Tone tone) {
    const auto columns = static_cast<std::size_t>(std::max(style_.columns, 40));
    std::string prefix{lead};
    std::string current;
    for (const std::string_view word : split_words(text)) {
        if (!current.empty() && lead_width + width_of(current) + 1 + width_of(word) > columns) {
            line(prefix + paint(tone, current));
            prefix.assign(lead_width, ' ');
            current.clear();
        }
        if (!current.empty()) current += ' ';
        current += word;
    }
    line(prefix + paint(tone, current));
}

void TextWriter::pair(
    std::string_view left, std::size_t left_width, std::string_view right, std::size_t indent, Tone right_tone) {
    if (right.empty()) return line(left);
    const auto columns = static_cast<std::size_t>(std::max(style_.columns, 40));
    if (left_width + 2 + width_of(right) <= columns) return line(std::string{left} + "  " + paint(right_tone, right));
    line(left);
    line(std::string(indent, ' ') + paint(right_tone, right));
}

void TextWriter::diff(std::size_t indent, std::string_view text) {
    for (const std::string_view each : split_lines(text))
        line(std::string(indent, ' ') + paint(tone_of_diff(each), printable_with_tabs(each)));
}

}  // namespace storpol
