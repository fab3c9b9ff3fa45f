// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// What the audits look at: the sources of this repository and the objects built from them.
namespace storpol::test {

// Paths relative to the repository, sorted: every .cpp and .h below these folders.
std::vector<std::string> source_files(const std::vector<std::string>& folders);
// Every one of this repository: engine, resources, integration, tests.
std::vector<std::string> source_files();

std::string source_text(const std::string& relative_path);
std::filesystem::path source_path(const std::string& relative_path);

struct ProgramResult {
    int exit_code = -1;  // -1: could not be run
    std::string output;  // both streams
};

// Runs a program by argv, found in PATH.
ProgramResult run(const std::vector<std::string>& arguments);
bool has_program(const std::string& name);

// The text with comments, string and character literals blanked out, each byte of them a space, so that lines and
// columns stay: for audits that count braces or look for words.
std::string without_literals(std::string_view code);

struct Function {
    std::string name;  // what stands before its body, in one line
    int line = 0;      // of its first line
    int length = 0;    // lines
};

// The functions of a clang-formatted file, members and tests among them; one within another is part of that.
std::vector<Function> functions_of(std::string_view code);

}  // namespace storpol::test
