// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/result.h"

// Programs of the distribution, run without a shell: an absolute path, arguments as they are, a fixed locale and PATH,
// nothing else of the environment, no input.
namespace storpol {

struct Program {
    std::vector<std::string> arguments;  // the absolute path first
    std::chrono::milliseconds limit = std::chrono::seconds(20);
    std::size_t bound = 1 << 20;  // bytes kept of each output: the last ones
};

struct ProgramOutcome {
    int exit_code = 0;  // 128 and the signal for one that a signal ended
    std::string output;
    std::string errors;
    bool is_cut = false;  // more was written than is kept
};

// Past its limit it is ended, with all that it started, first by SIGTERM. An Error when it cannot be started (ENOENT in
// `code` where there is none) or took too long (ETIMEDOUT); any exit code is an outcome.
Result<ProgramOutcome> run_program(const Program& program);

// The last lines, safe to print: what an Error says of a program that failed.
std::string last_lines(const ProgramOutcome& outcome, std::size_t count = 4);

}  // namespace storpol
