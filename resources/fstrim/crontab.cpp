// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/fstrim/crontab.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "resources/fstrim/init_system.h"

namespace storpol {
namespace {

// Debian's cron, cronie and dcron, BusyBox.
constexpr std::array<std::string_view, 3> crontabs_of_root{"/var/spool/cron/crontabs/root", "/var/spool/cron/root",
                                                           "/etc/crontabs/root"};
// Where cron looks for a program without a path.
constexpr std::array<std::string_view, 2> found_by_name{"/usr/bin/storpol", "/bin/storpol"};

// Numbers, "*", "*/15", "1-5", and names of months and days.
bool is_time_field(std::string_view field) {
    constexpr std::string_view names = " jan feb mar apr may jun jul aug sep oct nov dec sun mon tue wed thu fri sat ";
    std::string name;
    for (const char c : std::string(field) + ",") {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalpha(byte) != 0) {
            name += static_cast<char>(std::tolower(byte));
            continue;
        }
        const bool is_name = name.empty() || (name.size() == 3 && names.find(" " + name + " ") != names.npos);
        if (!is_name || (std::isdigit(byte) == 0 && std::string_view("*,/-").find(c) == std::string_view::npos))
            return false;
        name.clear();
    }
    return true;
}

std::string why_not_the_program(const std::vector<std::string_view>& words, std::size_t first, Host& host) {
    const auto trim_word = std::ranges::find(words.begin() + static_cast<std::ptrdiff_t>(first), words.end(), "trim");
    const std::size_t at = static_cast<std::size_t>(trim_word - words.begin());
    if (at >= words.size() || at == first) return "it names no program";
    const std::string program(words[at - 1]);
    const bool is_path = program.starts_with('/');
    const std::string_view name = program;
    if (!is_path && program != "storpol") return "\"" + printable(program) + "\" is not storpol";
    if (is_path && name.substr(name.rfind('/') + 1) != "storpol") return printable(program) + " is not storpol";
    const std::array<std::string_view, 1> one{name};
    const bool is_there = !(is_path ? first_program(host, one) : first_program(host, found_by_name)).empty();
    return is_there ? std::string() : "there is no program " + printable(program);
}

std::string why_not_line(std::string_view line, bool has_user, Host& host) {
    auto words = split_words(line);
    std::size_t next = 1;
    // cronie: a "-" keeps the start of the job out of the log.
    if (words.front().size() > 1 && words.front().front() == '-') words.front().remove_prefix(1);
    if (words.front().front() == '@') {
        if (words.front() != "@hourly") return printable(words.front()) + " does not come every hour";
    } else {
        next = 5;
        const bool has_times =
            words.size() > next && std::ranges::all_of(words.begin(), words.begin() + 5, is_time_field);
        if (!has_times) return "it does not begin with five time fields";
    }
    if (has_user) {
        const auto user = next < words.size() ? words[next] : std::string_view();
        if (user.empty() || user.find('/') != std::string_view::npos || user == "storpol")
            return "it names no user, as a line of /etc/cron.d must";
        if (user != "root") return printable(user) + " may not trim: only root may";
        ++next;
    } else if (next < words.size() && words[next] == "root") {
        return "it names a user, which a line of root's own crontab must not";
    }
    return why_not_the_program(words, next, host);
}

// cron passes over a whole table for these (crontab(5); Debian's cron database.c and load_entry()).
std::string why_not_table(std::string_view text, std::string_view path, Host& host) {
    const auto stat = host.stat(path);
    if (stat && stat->type != "file") return "it is no regular file";
    if (stat && stat->uid != 0) return "it does not belong to root";
    if (stat && (stat->mode & 022U) != 0) return "others than its owner may write to it";
    if (!text.empty() && text.back() != '\n') return "its last line has no end, and cron then reads none of it";
    return {};
}

}  // namespace

std::vector<CronLine> cron_lines(std::string_view text, std::string_view path, bool has_user, Host& host) {
    std::vector<CronLine> found;
    const auto of_table = why_not_table(text, path, host);
    const auto without_folder = has_user && cron_with_folder(host).empty();
    int number = 0;
    for (const auto line : split(text, '\n')) {
        ++number;
        const auto one = trim(line);
        if (one.empty() || one.front() == '#' || one.find(cron_command) == std::string_view::npos) continue;
        CronLine job{std::string(path), number, std::string(one), of_table};
        if (job.why_not.empty()) job.why_not = why_not_line(one, has_user, host);
        if (job.why_not.empty() && without_folder)
            job.why_not = "no cron is installed that is known to read " + std::string(path.substr(0, path.rfind('/')));
        found.push_back(std::move(job));
    }
    return found;
}

const CronLine* CronTables::running() const {
    const auto at = std::ranges::find_if(lines, [](const CronLine& line) { return line.why_not.empty(); });
    return at == lines.end() ? nullptr : &*at;
}

CronTables read_cron_tables(Host& host) {
    CronTables tables;
    const auto read = [&](std::string_view path, bool has_user) {
        const auto text = host.read_file(path);
        if (!text) {
            if (text.error().kind != ErrorKind::no_such_file && !tables.unknown) tables.unknown = text.error();
            return;
        }
        for (auto& line : cron_lines(*text, path, has_user, host)) tables.lines.push_back(std::move(line));
    };
    read(cron_job, true);
    for (const auto path : crontabs_of_root) read(path, false);
    return tables;
}

// Debian's cron and cronie (crontab(5)). dcron has the folder without the user, BusyBox and fcron do not have it.
std::string cron_with_folder(Host& host) {
    constexpr std::array<std::string_view, 1> debian{"/usr/sbin/cron"};
    constexpr std::array<std::string_view, 2> daemons{"/usr/sbin/crond", "/usr/bin/crond"};
    constexpr std::array<std::string_view, 1> cronies_own{"/usr/bin/cronnext"};
    const auto cron = first_program(host, debian);
    if (!cron.empty()) return cron;
    const auto daemon = first_program(host, daemons);
    if (daemon.empty()) return {};
    const auto at = host.stat(daemon);
    const bool is_cronie = at && at->path.find("cronie") != std::string::npos;
    return is_cronie || !first_program(host, cronies_own).empty() ? daemon : std::string();
}

}  // namespace storpol
