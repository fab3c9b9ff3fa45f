// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cli/output.h"

#include <cstdio>

#include "engine/base/text.h"

namespace storpol {

Output::Output(const Options& options) : options_(options), surroundings_(read_surroundings()) {
    style_.color = surroundings_.output_is_terminal && !surroundings_.no_color && !options.no_color;
    style_.verbose = options.verbose;
    style_.columns = surroundings_.columns;
}

int Output::report(std::string_view text, int code) const {
    const auto written = write_user_file("-", text, 0644);
    if (written) return code;
    note("storpol: " + to_text(written.error()));
    return exit_error;
}

int Output::error(const Error& error, const ReportHead& head) const {
    if (is_json()) return report(render_json(error, head), exit_error);
    note("storpol: " + printable(to_text(error)));
    return exit_error;
}

int Output::errors(const std::vector<PolicyError>& errors, const ReportHead& head) const {
    if (is_json()) return report(render_json(errors, head), exit_error);
    std::fputs(render_errors_text(errors).c_str(), stderr);
    return exit_error;
}

void Output::note(std::string_view line) const {
    // Nothing is left to tell an error of standard error to.
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

ReportHead head_of(const Options& options) {
    ReportHead head;
    head.version = STORPOL_VERSION;
    head.command = options.command;
    return head;
}

}  // namespace storpol
