// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/result.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace storpol {

namespace {

// Above the highest errno of any Linux architecture (EHWPOISON is 133 on x86, 168 on MIPS; MIPS also has EDQUOT 1133).
constexpr int errno_limit = 1200;

}  // namespace

tl::unexpected<Error> fail(ErrorKind kind, std::string what, std::string where, std::string fix) {
    return tl::unexpected<Error>(Error{kind, std::move(what), std::move(where), std::move(fix), 0});
}

tl::unexpected<Error> fail_errno(int code, std::string_view doing, std::string where) {
    // strerrordesc_np (glibc 2.32) answers without locale and without a shared buffer, unlike strerror.
    const char* description = ::strerrordesc_np(code);
    std::string what(doing);
    what += ": ";
    what += description != nullptr ? std::string(description) : errno_name(code);
    return tl::unexpected<Error>(Error{kind_of_errno(code), std::move(what), std::move(where), {}, code});
}

ErrorKind kind_of_errno(int code) {
    switch (code) {
        case ENOENT:
        case ENOTDIR:
        case ENXIO:
            return ErrorKind::no_such_file;
        case EACCES:
        case EPERM:
            return ErrorKind::denied;
        default:
            return ErrorKind::failed;
    }
}

std::string to_text(const Error& error) {
    std::string text = error.where;
    if (!error.what.empty()) {
        if (!text.empty()) text += ": ";
        text += error.what;
    }
    if (!error.fix.empty()) {
        if (!text.empty()) text += "; ";
        text += error.fix;
    }
    return text;
}

std::string errno_name(int code) {
    const char* name = code > 0 ? ::strerrorname_np(code) : nullptr;
    return name != nullptr ? std::string(name) : "E" + std::to_string(code);
}

int name_to_errno(std::string_view name) {
    if (name.size() < 2 || name.front() != 'E') return 0;
    // Aliases that glibc gives one name each.
    if (name == "EWOULDBLOCK") return EWOULDBLOCK;
    if (name == "EDEADLOCK") return EDEADLOCK;
    if (name == "ENOTSUP" || name == "EOPNOTSUPP") return EOPNOTSUPP;
    for (int code = 1; code < errno_limit; ++code) {
        const char* known = ::strerrorname_np(code);
        if (known != nullptr && name == known) return code;
    }
    int number = 0;
    const auto* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + 1, end, number);
    return parsed.ec == std::errc{} && parsed.ptr == end && number > 0 ? number : 0;
}

void bug_at(const char* file, int line, std::string_view text) {
    std::fprintf(stderr, "storpol: broken invariant at %s:%d: %.*s\n", file, line, static_cast<int>(text.size()),
                 text.data());
    std::abort();
}

}  // namespace storpol
