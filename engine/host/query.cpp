// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/query.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "engine/base/text.h"
#include "engine/host/never_read.h"

namespace storpol {
namespace {

struct Word {
    QueryKind kind;
    std::string_view word;
    int arguments;
};

constexpr std::array words{
    Word{QueryKind::file, "file", 1},
    Word{QueryKind::link, "link", 1},
    Word{QueryKind::list, "list", 1},
    Word{QueryKind::stat, "stat", 1},
    Word{QueryKind::now, "now", 0},
    Word{QueryKind::unit, "unit", 1},
    Word{QueryKind::uid, "uid", 0},
    Word{QueryKind::program_exists, "program-exists", 1},
    Word{QueryKind::ext4_super, "ext4-super", 1},
    Word{QueryKind::dm_table, "dm-table", 1},
    Word{QueryKind::dm_status, "dm-status", 1},
    Word{QueryKind::luks, "luks", 1},
    Word{QueryKind::lvs, "lvs", 0},
    Word{QueryKind::journal, "journal", 2},
    Word{QueryKind::package, "package", 1},
    Word{QueryKind::image_member, "image-member", 2},
};

const Word& word_of(QueryKind kind) {
    for (const auto& word : words)
        if (word.kind == kind) return word;
    STORPOL_BUG("a query kind without its word");
}

// The question itself for people: "/etc/fstab", "unit fstrim.timer", "now".
std::string subject_of(const Query& query) {
    const bool is_path = query.kind == QueryKind::file || query.kind == QueryKind::link ||
                         query.kind == QueryKind::list || query.kind == QueryKind::stat;
    std::string text = is_path ? "" : std::string(to_text(query.kind));
    for (const auto& arg : query.args) text += (text.empty() ? "" : " ") + printable(arg);
    return text;
}

std::string_view doing(QueryKind kind) {
    switch (kind) {
        case QueryKind::file:
            return "cannot read";
        case QueryKind::link:
            return "cannot read the link";
        case QueryKind::list:
            return "cannot list";
        case QueryKind::stat:
            return "cannot look at it";
        case QueryKind::now:
            return "cannot read the clock";
        case QueryKind::unit:
            return "cannot ask the service manager";
        case QueryKind::uid:
            return "cannot tell the user";
        case QueryKind::program_exists:
            return "cannot look for the program";
        case QueryKind::ext4_super:
            return "cannot read the superblock";
        case QueryKind::dm_table:
        case QueryKind::dm_status:
            return "cannot ask device-mapper";
        case QueryKind::luks:
            return "cannot read the LUKS header";
        case QueryKind::lvs:
            return "cannot ask LVM";
        case QueryKind::journal:
            return "cannot read the journal";
        case QueryKind::package:
            return "cannot tell the version of the package";
        case QueryKind::image_member:
            return "cannot read the initramfs";
    }
    STORPOL_BUG("a query kind out of range");
}

}  // namespace

std::string_view to_text(QueryKind kind) {
    return word_of(kind).word;
}

bool is_about_path(QueryKind kind) {
    return kind == QueryKind::file || kind == QueryKind::link || kind == QueryKind::list || kind == QueryKind::stat ||
           kind == QueryKind::program_exists;
}

std::optional<QueryKind> parse_query_kind(std::string_view word) {
    for (const auto& known : words)
        if (known.word == word) return known.kind;
    return std::nullopt;
}

int argument_count(QueryKind kind) {
    return word_of(kind).arguments;
}

Answer refuse(const Query& query, int code) {
    Error error = fail_errno(code, doing(query.kind), subject_of(query)).value();
    if (code == EPERM && query.kind == QueryKind::file && is_never_read(query.args.at(0)))
        error.what = "never read by storpol: it holds secrets, or reading it acts";
    if (code == EREMOTE)
        error.what = "lies on a network, FUSE or autofs mount, below which storpol opens nothing (it could hang)";
    if (code == EFBIG) error.what = "larger than the 16 MiB that are read of one file";
    if (code == EILSEQ && query.kind == QueryKind::list) error.what = "holds a file whose name has a line break";
    if (query.kind == QueryKind::unit && code == ENOENT) error.what = "no service manager answers on the system bus";
    return Answer{"", "", error};
}

Answer not_captured(const Query& query) {
    Error error;
    error.kind = ErrorKind::not_captured;
    error.what = "not in this capture or image";
    error.where = subject_of(query);
    return Answer{"", "", error};
}

}  // namespace storpol
