// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/cli/options.h"
#include "engine/host/user_files.h"
#include "engine/report/report.h"

namespace storpol {

// Exit codes are API: docs/exit-codes.md.
inline constexpr int exit_ok = 0;
inline constexpr int exit_error = 1;
inline constexpr int exit_drift = 2;
inline constexpr int exit_unknown = 3;

// Where a command's words go: the report to standard output, errors and progress to standard error; with --format json
// an error is a document on standard output. Each function answers the exit code the command should end with.
class Output {
  public:
    explicit Output(const Options& options);

    const TextStyle& style() const { return style_; }

    const Surroundings& surroundings() const { return surroundings_; }

    bool is_json() const { return options_.format == Format::json; }

    // Writes the report; `code` when all of it went out, else exit_error.
    int report(std::string_view text, int code) const;
    int error(const Error& error, const ReportHead& head) const;
    int errors(const std::vector<PolicyError>& errors, const ReportHead& head) const;
    void note(std::string_view line) const;  // a line on standard error

  private:
    Options options_;
    Surroundings surroundings_;
    TextStyle style_;
};

// The head of a document before a host is known.
ReportHead head_of(const Options& options);

}  // namespace storpol
