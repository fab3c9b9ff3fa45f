// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

#include "engine/report/report.h"

// Lines for a terminal: indented, wrapped at the style's columns, coloured only where the style says so. The words
// carry the meaning, colour only repeats it. Text given to it has been made printable() where it comes from the host.
namespace storpol {

enum class Tone { plain, good, bad, doubtful, faint, strong };

class TextWriter {
  public:
    explicit TextWriter(const TextStyle& style) : style_(style) {}

    std::string paint(Tone tone, std::string_view text) const;
    void line(std::string_view text);  // as it is
    void blank();                      // an empty line, unless nothing stands above it
    // Words of `text`, wrapped; the first line starts with `lead` (already painted, `lead_width` wide), the others with
    // as many blanks. A word longer than a line stays whole.
    void wrapped(std::string_view lead, std::size_t lead_width, std::string_view text, Tone tone = Tone::plain);
    // `left`, two blanks and `right` on one line when they fit, else `right` on a line of its own under `indent`
    // blanks.
    void pair(
        std::string_view left, std::size_t left_width, std::string_view right, std::size_t indent, Tone right_tone);
    // A unified diff, each line under `indent` blanks. Tabs stay; other control bytes become \xNN.
    void diff(std::size_t indent, std::string_view text);

    std::string take() { return std::move(out_); }

    const TextStyle& style() const { return style_; }

  private:
    TextStyle style_;
    std::string out_;
};

// Columns a text takes: its characters, not its bytes.
std::size_t width_of(std::string_view text);
std::string padded(std::string_view text, std::size_t width);

}  // namespace storpol
