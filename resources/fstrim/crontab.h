// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

// The lines of cron's tables that ask `storpol trim` every hour, and whether cron would do what they say.
namespace storpol {

class Host;

inline constexpr std::string_view cron_job = "/etc/cron.d/storpol-trim";  // cron passes over names with dots
inline constexpr std::string_view cron_command = " trim --scheduled --when-due";

struct CronLine {
    std::string path;
    int number = 0;
    std::string text;
    std::string why_not;  // why cron does not run it, or not so; empty: it does

    std::string where() const { return path + ":" + std::to_string(number); }
};

// Those of one table that are not commented out. `has_user`: each line names a user (crontab(5), /etc/cron.d), as in
// root's own it does not. The table's owner and mode are asked of the host, which has it or will.
std::vector<CronLine> cron_lines(std::string_view text, std::string_view path, bool has_user, Host& host);

struct CronTables {
    std::vector<CronLine> lines;
    std::optional<Error> unknown;  // of a table that cannot be read

    // One that cron runs; nullptr for none.
    const CronLine* running() const;
};

// The job of storpol's own, and root's crontab where the crons that are known keep it.
CronTables read_cron_tables(Host& host);

// The program of a cron that reads /etc/cron.d with a user in each line; empty for none.
std::string cron_with_folder(Host& host);

}  // namespace storpol
