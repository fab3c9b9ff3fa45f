// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

// Result<T>: a value, or an Error that a caller can decide by (kind) and a person can act on (what, where, fix).
namespace storpol {

enum class ErrorKind {
    no_such_file,  // ENOENT, ENOTDIR, ENXIO: the thing is not there
    denied,        // EACCES, EPERM: there, but not for this user
    failed,        // any other errno; `code` says which
    not_captured,  // a question that this capture or root does not hold: nothing is known of the answer
    invalid,       // text that does not mean what it should
    changed,       // the target is no longer what the caller read
    unsupported,   // this host, build or mode cannot do it
};

struct Error {
    ErrorKind kind = ErrorKind::failed;
    std::string what;   // one sentence without a final full stop, safe to print
    std::string where;  // file, file:line:column, device; may be empty
    std::string fix;    // what a person can do; may be empty
    int code = 0;       // errno where the kernel said it, else 0

    bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

tl::unexpected<Error> fail(ErrorKind kind, std::string what, std::string where = {}, std::string fix = {});

// The Error of a system call that failed with errno `code` while doing `doing` to `where`: "cannot open: Permission
// denied".
tl::unexpected<Error> fail_errno(int code, std::string_view doing, std::string where);
ErrorKind kind_of_errno(int code);

// "where: what; fix", leaving out what is empty.
std::string to_text(const Error& error);

// "ENOENT" for 2 and back; unknown numbers are "E123". name_to_errno answers 0 for a text that is none.
std::string errno_name(int code);
int name_to_errno(std::string_view name);

// A broken invariant of this program: prints file:line and the text, then aborts. Never for bad input.
[[noreturn]] void bug_at(const char* file, int line, std::string_view text);
#define STORPOL_BUG(text) ::storpol::bug_at(__FILE__, __LINE__, text)

}  // namespace storpol
