// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

// A question to the machine in the domain's words, and its answer. One text form for captures, facts.txt and test
// hosts.
namespace storpol {

enum class QueryKind {
    file,  // PATH: the bytes. resolved
    link,  // PATH: the target of a symbolic link, one hop
    list,  // DIR: the names in it, sorted by byte, one a line, without . and ..; resolved
    stat,  // PATH (followed): type=file|dir|link|block|char|other mode=0644 uid= gid= size= nlink= dev=M:N ino= mtime=
           // [rdev=M:N] [immutable=1] [append-only=1] [mnt-id=]; resolved
    now,   // the clock, RFC 3339 in UTC with seconds
    unit,  // NAME: properties the service manager gives: LoadState= ActiveState= UnitFileState= FragmentPath= ...
    uid,   // the effective user id of the reader
    program_exists,  // PATH: "yes" or "no": is it an executable file (never run)
    ext4_super,      // DEVICE: default_mount_opts= mount_opts= errors=, as tune2fs -l names them
    dm_table,        // NAME: of the live table, never with a key: target= (of each kind of segment, with commas)
                     // [segments=] [read-only=1] [suspended=1]; crypt: flags= [integrity=] [key=keyring|table]
                     // [cipher=]; integrity: flags=; thin-pool, cache: features= [data=M:N]; thin: [pool=M:N]; raid:
                     // level=. Flags and features as the table has them: allow_discards, no_discard_passdown
    dm_status,       // NAME: what the kernel reports as in effect: thin-pool, cache: features= ("discard_passdown",
                     // "no_discard_passdown", "ignore_discard"); thin-pool: [mode=rw|ro|out_of_data_space]
                     // [data=USED/TOTAL] [metadata=USED/TOTAL] in blocks
    luks,          // DEVICE (or header file): version=1|2 uuid= flags= (persistent activation flags of a LUKS2 header:
                   // allow-discards, ...) [integrity=] [tokens=] (their types); EINVAL where there is no header
    lvs,           // what LVM reports of all its volumes, a line each: "vg0/pool type=thin-pool discards=passdown
                   // data-percent= metadata-percent="
    journal,       // UNIT N: the last N entries that the journal holds of the unit, oldest first, a line each: what it
                   // printed, `2026-11-29T00:11:02Z "text"`, and how each run ended, `2026-11-29T00:11:02Z result=R
                   // [status=N] [lines=N]` (success, condition, exit-code, timeout, ...). Empty: there are none
    package,       // NAME: the installed version of that package
    image_member,  // IMAGE PATH: the bytes of one file in an initramfs, of the last archive in it that has that file
};

struct Query {
    QueryKind kind = QueryKind::file;
    std::vector<std::string> args;

    auto operator<=>(const Query&) const = default;
    bool operator==(const Query&) const = default;
};

struct Answer {
    std::string text;      // the bytes of a file, or key=value lines
    std::string resolved;  // file, list, stat: the path after all links, as the machine (or the root) follows them
    std::optional<Error> refusal;  // errno in its `code`; not_captured where nothing is known

    bool operator==(const Answer&) const = default;
};

// A refusal by errno. Its words are a function of question and errno alone, so that a machine and its capture refuse
// alike.
Answer refuse(const Query& query, int code);
Answer not_captured(const Query& query);

// Words of the text form: "file", "link", ...; and how many arguments each takes.
std::string_view to_text(QueryKind kind);
std::optional<QueryKind> parse_query_kind(std::string_view word);
int argument_count(QueryKind kind);
// True for what a directory tree can answer: file, link, list, stat, program-exists.
bool is_about_path(QueryKind kind);

// One entry of the text form, ending in '\n':
//   file /etc/fstab resolved=/etc/fstab      word and arguments (blanks as \x20), then what is known of it
//   |UUID=... / ext4 defaults 0 1            lines of the answer behind '|', as escape_bytes() has them; a '\' at the
//   |last line without a newline\            very end: no newline there
//   file /etc/crypttab !ENOENT               a refusal by its errno name, or !not-captured
//   now 2026-11-30T12:00:00Z                 one line of an answer may stand on the line itself, and so may key=value
//   unit fstrim.timer ActiveState=active     answers, several on the line; values quoted "..." where they hold blanks
// Blank lines and lines that start with '#' mean nothing.
std::string render_entry(const Query& query, const Answer& answer);

// Parses a whole text of such entries (a capture without its first line, a facts.txt). An Error names the line.
struct Entry {
    Query query;
    Answer answer;
    int line = 0;
};
// Words of no known kind are an Error, or (a capture of a newer release) left out.
enum class UnknownWords { are_errors, are_left_out };
Result<std::vector<Entry>> parse_entries(std::string_view text,
                                         std::string_view where,
                                         int first_line = 1,
                                         UnknownWords unknown = UnknownWords::are_errors);

}  // namespace storpol
