// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/base/result.h"

namespace storpol {

// A configuration file that storpol owns: a head comment, then for each of its lines a comment with the address that
// the line is of, so that people and --prune know why it stands there:
//
//     # Written by storpol; do not edit by hand: ...
//     # sysctl["vm.swappiness"]
//     vm.swappiness = 150
//
// In unit files entries stand below their section's header. An entry of several lines repeats its comment above each of
// them, so that a line added by hand is never taken for storpol's. Everything else (lines, comments, blank lines, CRLF)
// is foreign and keeps its bytes. Any text parses, and rendering what was parsed gives the same bytes.
class OwnFile {
  public:
    struct Entry {
        std::string section;  // "[Timer]"; empty above the first header
        std::string address;
        std::vector<std::string> lines;  // without line ends; none where somebody took the line and left the comment
        int line = 0;                    // of the first of `lines` (of the comment where there are none), from 1
        bool operator==(const Entry&) const = default;
    };

    static OwnFile parse(std::string_view text);  // "" for a file that does not exist

    std::vector<Entry> entries() const;  // in the order of the file

    // The entry becomes these lines: in place where there is one, else at the end of its section, which is made where
    // it is missing. An entry that has these lines already keeps its bytes. No lines: as remove(). An Error,
    // and no change, for what could not be read back as one entry: an odd address or header, a line that is blank or
    // has line ends.
    Result<void> set(std::string_view section, std::string_view address, const std::vector<std::string>& lines);

    // Takes the entry out, and the section's header where nothing is left below it.
    void remove(std::string_view section, std::string_view address);
    void remove(std::string_view address);  // in all sections

    std::string render() const;

    // Neither an entry nor anything foreign but blank lines and headers is left: the file may be deleted.
    bool is_empty() const;

  private:
    // The file as a row of pieces whose bytes, one after the other, are its text.
    enum class PieceKind { head, header, blank, entry, foreign };

    struct Piece {
        PieceKind kind = PieceKind::foreign;
        std::string bytes;    // with line ends
        std::string section;  // of the header last seen; a header's own
        std::string address;  // entries only
        std::string line;     // entries only: the line itself; empty where only the comment is there
    };

    using Position = std::vector<Piece>::size_type;

    Position region_begin(std::string_view section) const;
    Position region_end(Position begin, std::string_view section) const;
    Position place_for(std::string_view section) const;
    void insert(Position at, std::vector<Piece> pieces);
    void remove_empty_header(Position at);
    void drop_bare_comments();
    void add_head();
    void add_section(std::string_view section);

    std::vector<Piece> pieces_;
    std::unordered_set<std::string> seen_;  // every section and address that there is, or was
    bool has_headers_ = false;
};

// Whether a text has the shape of an address: mglru.min-ttl, sysctl["vm.swappiness"], mount["/"].commit.
bool is_address(std::string_view text);

}  // namespace storpol
