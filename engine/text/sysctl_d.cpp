// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sysctl_d.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>

namespace storpol {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::size_t longest_line = std::size_t{1024} * 1024;  // systemd basic/fileio.h, LONG_LINE_MAX

std::string_view strip(std::string_view text, std::string_view what = blanks) {
    const auto first = text.find_first_not_of(what);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(what) - first + 1);
}

unsigned line_end_kind(char c) {
    if (c == '\n') return 1;
    if (c == '\r') return 2;
    return c == '\0' ? 4 : 0;
}

struct Cut {
    std::size_t content = 0;  // bytes before what ends the line
    std::size_t whole = 0;    // with it
};

// systemd basic/fileio.c, read_line_full: '\n', '\r' and NUL end a line, and "\r\n" or "\n\r" are one end; after a NUL
// nothing more belongs to it.
Cut cut_as_systemd(std::string_view text) {
    unsigned seen = 0;
    Cut cut;
    for (; cut.whole < text.size(); ++cut.whole) {
        const unsigned kind = line_end_kind(text[cut.whole]);
        if ((seen & 4U) != 0 || (kind == 0 && seen != 0) || (kind & seen) != 0) break;
        if (kind == 0) ++cut.content;
        seen |= kind;
    }
    return cut;
}

Cut cut_at_newline(std::string_view text) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {text.size(), text.size()};
    return {end, end + 1};
}

// "vm.swappiness = 10", "-net.ipv4.conf.*.rp_filter = 1", "-net.ipv4.conf.all.rp_filter"
void parse_content(std::string_view content, SysctlLine& line) {
    content = strip(content);
    if (content.empty()) return;
    if (content.front() == '#' || content.front() == ';') {
        line.kind = SysctlLine::Kind::comment;
        return;
    }
    const bool dash = content.front() == '-';
    const auto equals = content.find('=');
    if (!dash && equals == std::string_view::npos) {
        line.kind = SysctlLine::Kind::invalid;
        return;
    }
    if (dash) content.remove_prefix(1);
    const auto end = content.find('=');
    line.key = sysctl_path(strip(content.substr(0, end)));
    line.kind = SysctlLine::Kind::exclusion;
    if (end != std::string_view::npos) {
        line.kind = SysctlLine::Kind::assignment;
        line.value = strip(content.substr(end + 1));
        line.ignores_errors = dash;
    }
    if (line.key.empty()) line.kind = SysctlLine::Kind::invalid;
}

// BusyBox procps/sysctl.c: config_read() with two tokens and the delimiters "# \t=".
void parse_busybox(std::string_view content, SysctlLine& line) {
    const auto hash = content.find('#');
    const auto first = content.find_first_not_of(" \t");
    if (first != std::string_view::npos && first == hash) line.kind = SysctlLine::Kind::comment;
    content = content.substr(0, hash);
    const auto begin = content.find_first_not_of(" \t=");
    if (begin == std::string_view::npos) return;
    content.remove_prefix(begin);
    line.kind = SysctlLine::Kind::invalid;
    const auto end = content.find_first_of(" \t=");
    if (end == std::string_view::npos) return;
    const auto value = content.find_first_not_of(" \t=", end);
    if (value == std::string_view::npos) return;
    line.kind = SysctlLine::Kind::assignment;
    line.key = sysctl_path(content.substr(0, end));
    line.value = strip(content.substr(value), " \t");
}

}  // namespace

std::vector<SysctlLine> parse_sysctl_d(std::string_view text, SysctlDialect dialect) {
    std::vector<SysctlLine> lines;
    bool reading = true;
    for (int number = 1; !text.empty(); ++number) {
        const Cut cut = dialect == SysctlDialect::systemd ? cut_as_systemd(text) : cut_at_newline(text);
        SysctlLine line;
        line.line = number;
        line.bytes = text.substr(0, cut.whole);
        reading = reading && !(dialect == SysctlDialect::systemd && cut.content >= longest_line);
        const std::string_view content = text.substr(0, cut.content);
        if (!reading)
            line.kind = SysctlLine::Kind::unread;
        else if (dialect == SysctlDialect::busybox)
            parse_busybox(content.substr(0, content.find('\0')), line);
        else
            parse_content(content.substr(0, content.find('\0')), line);
        lines.push_back(std::move(line));
        text.remove_prefix(cut.whole);
    }
    return lines;
}

std::string render_sysctl_d(const std::vector<SysctlLine>& lines) {
    std::string text;
    for (const auto& line : lines) text += line.bytes;
    return text;
}

namespace {

// systemd basic/path-util.c, path_simplify: no empty parts, no "." parts, no slash at the end.
std::string simplified(std::string_view path) {
    std::string out;
    while (!path.empty()) {
        const auto end = std::min(path.find('/'), path.size());
        const std::string_view part = path.substr(0, end);
        if (!part.empty() && part != ".") {
            if (!out.empty()) out += '/';
            out += part;
        }
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return out;
}

void swap_separators(std::string& text) {
    for (char& c : text) {
        if (c == '.')
            c = '/';
        else if (c == '/')
            c = '.';
    }
}

}  // namespace

std::string sysctl_path(std::string_view key) {
    std::string path(key);
    const auto first = path.find_first_of("./");
    if (first != std::string::npos && path[first] == '.') swap_separators(path);
    return simplified(path);
}

std::string sysctl_name(std::string_view path) {
    const auto first = path.find_first_of("./");
    std::string name(path);
    // A dot before any slash would be taken for the separator; a slash in front says that it is not.
    if (first != std::string_view::npos && path[first] == '.') return "/" + name;
    swap_separators(name);
    return name;
}

bool is_sysctl_glob(std::string_view path) {
    return path.find_first_of("*?[") != std::string_view::npos;
}

bool sysctl_glob_match(const std::string& pattern, const std::string& path) {
    return fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
}

std::optional<std::int64_t> parse_kernel_number(std::string_view text) {
    constexpr std::string_view kernel_blanks = " \t\n";
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
    const bool negative = text.size() > 1 && text.front() == '-';
    if (negative) text.remove_prefix(1);
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    int base = 10;
    if (text.front() == '0' && text.size() > 1) base = 8;
    const auto is_hex = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && is_hex(text[2])) {
        base = 16;
        text.remove_prefix(2);
    }
    std::int64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (parsed.ec != std::errc{}) return std::nullopt;
    const std::string_view rest = text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
    if (!rest.empty() && kernel_blanks.find(rest.front()) == std::string_view::npos) return std::nullopt;
    return negative ? -number : number;
}

}  // namespace storpol
