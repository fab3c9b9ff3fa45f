// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "engine/base/text.h"
#include "engine/host/io.h"
#include "engine/host/user_files.h"

namespace storpol {
namespace {

constexpr int min_columns = 20;  // below it nothing can be laid out
constexpr int max_columns = 1000;

std::string_view variable(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? std::string_view() : std::string_view(text);
}

int read_columns() {
    const auto said = parse_int(variable("COLUMNS"));
    if (said && *said >= min_columns && *said <= max_columns) return static_cast<int>(*said);
    winsize size{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    return known && size.ws_col >= min_columns && size.ws_col <= max_columns ? size.ws_col : Surroundings().columns;
}

}  // namespace

Surroundings read_surroundings() {
    Surroundings found;
    found.is_root = geteuid() == 0;
    found.output_is_terminal = isatty(STDOUT_FILENO) == 1;
    found.input_is_terminal = isatty(STDIN_FILENO) == 1;
    found.no_color = !variable("NO_COLOR").empty() || variable("TERM") == "dumb";  // no-color.org: set and not empty
    found.columns = read_columns();
    return found;
}

bool confirm(std::string_view question) {
    if (isatty(STDIN_FILENO) != 1) return false;
    // On standard error, which people see also when the output goes to a file.
    if (write_whole(STDERR_FILENO, std::string(question) + " ") != 0) return false;
    std::string answer;
    char c = 0;
    constexpr std::size_t longest = 256;
    while (answer.size() < longest && read(STDIN_FILENO, &c, 1) == 1 && c != '\n') answer += c;
    const auto said = trim(answer);
    return said == "y" || said == "yes";
}

}  // namespace storpol
