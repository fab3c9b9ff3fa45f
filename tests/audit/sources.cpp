// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/audit/sources.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>

#include "engine/base/handle.h"
#include "engine/base/text.h"

namespace storpol::test {

namespace fs = std::filesystem;

std::vector<std::string> source_files(const std::vector<std::string>& folders) {
    std::vector<std::string> files;
    const fs::path root(STORPOL_SOURCE_DIR);
    for (const std::string& folder : folders) {
        if (!fs::exists(root / folder)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const fs::path& path = entry.path();
            if (path.extension() == ".cpp" || path.extension() == ".h")
                files.push_back(fs::relative(path, root).string());
        }
    }
    std::ranges::sort(files);
    return files;
}

std::vector<std::string> source_files() {
    return source_files({"engine", "resources", "integration", "tests"});
}

fs::path source_path(const std::string& relative_path) {
    return fs::path(STORPOL_SOURCE_DIR) / relative_path;
}

std::string source_text(const std::string& relative_path) {
    std::ifstream file(source_path(relative_path), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

ProgramResult run(const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    Fd reader(ends[0]);
    Fd writer(ends[1]);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, writer.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, writer.get(), STDERR_FILENO);
    std::vector<std::string> copies = arguments;
    std::vector<char*> argv;
    for (std::string& argument : copies) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_t child = 0;
    const int refused = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    writer.reset();
    if (refused != 0) return {};
    ProgramResult result;
    std::array<char, 65536> buffer{};
    for (ssize_t got = 0; (got = ::read(reader.get(), buffer.data(), buffer.size())) > 0;) {
        result.output.append(buffer.data(), static_cast<std::size_t>(got));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return result;
}

bool has_program(const std::string& name) {
    return run({name, "--version"}).exit_code == 0;
}

namespace {

bool is_word_byte(char byte) {
    return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
}

// Where the literal or comment that begins at `at` ends; `at` itself where none begins there.
std::size_t end_of_literal(std::string_view code, std::size_t at) {
    const auto end_at = [code](std::string_view ending, std::size_t from, bool whole) {
        const std::size_t found = code.find(ending, from);
        return found == std::string_view::npos ? code.size() : found + (whole ? ending.size() : 0);
    };
    const std::string_view rest = code.substr(at);
    const bool in_word = at > 0 && is_word_byte(code[at - 1]);
    if (rest.substr(0, 2) == "//") return end_at("\n", at, false);
    if (rest.substr(0, 2) == "/*") return end_at("*/", at + 2, true);
    if (rest.substr(0, 2) == "R\"" && !in_word) {
        const std::size_t open = code.find('(', at);
        if (open == std::string_view::npos) return at;
        return end_at(")" + std::string(code.substr(at + 2, open - at - 2)) + "\"", open, true);
    }
    // A quote within a number (10'000) opens nothing.
    if (code[at] != '"' && (code[at] != '\'' || in_word)) return at;
    std::size_t end = at + 1;
    while (end < code.size() && code[end] != code[at]) end += code[end] == '\\' ? 2 : 1;
    return std::min(end + 1, code.size());
}

// Whether the words before a brace open something that holds functions rather than being one.
bool opens_container(std::string_view words) {
    for (const std::string_view word : split_words(words)) {
        for (const std::string_view container : {"namespace", "class", "struct", "union", "enum", "extern"}) {
            if (word == container && words.find('(') == std::string_view::npos) return true;
        }
    }
    return false;
}

bool opens_data(std::string_view words) {
    return !words.empty() && (words.back() == '=' || words.find('(') == std::string_view::npos);
}

std::string in_one_line(std::string_view text) {
    std::string line;
    for (const std::string_view word : split_words(text)) {
        if (!line.empty()) line += ' ';
        line += word;
    }
    return line;
}

// Preprocessor lines with their continuations: a brace in a macro closes nothing here.
std::string without_directives(std::string text) {
    bool in_directive = false;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = trim(std::string_view(text).substr(begin, end - begin));
        in_directive = in_directive || line.substr(0, 1) == "#";
        const bool goes_on = !line.empty() && line.back() == '\\';
        if (in_directive)
            std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
                      text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
        in_directive = in_directive && goes_on;
        begin = end + 1;
    }
    return text;
}

}  // namespace

std::string without_literals(std::string_view code) {
    std::string out(code);
    for (std::size_t at = 0; at < code.size();) {
        const std::size_t end = end_of_literal(code, at);
        for (std::size_t index = at; index < end; ++index) {
            if (out[index] != '\n') out[index] = ' ';
        }
        at = std::max(end, at + 1);
    }
    return out;
}

std::vector<Function> functions_of(std::string_view code) {
    std::vector<Function> functions;
    const std::string text = without_directives(without_literals(code));
    std::vector<bool>
        containers;  // of the open braces; the first that is no container is the function or datum we are in
    std::size_t words_begin = 0;
    std::size_t first = 0;
    bool in_function = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool outside = std::ranges::find(containers, false) == containers.end();
        if (text[at] == '{') {
            const std::string_view words = trim(std::string_view(text).substr(words_begin, at - words_begin));
            containers.push_back(outside && opens_container(words));
            if (outside) {
                in_function = !containers.back() && !opens_data(words);
                first = text.find_first_not_of(" \t\r\n", words_begin);
            }
        } else if (text[at] == '}' && !containers.empty()) {
            containers.pop_back();
            const bool is_closed = std::ranges::find(containers, false) == containers.end();
            if (in_function && is_closed && !outside) {
                const auto lines_to = [&text](std::size_t end) {
                    return static_cast<int>(
                        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
                };
                const std::string name =
                    in_one_line(std::string_view(text).substr(first, text.find('{', first) - first));
                functions.push_back({name, lines_to(first) + 1, lines_to(at) - lines_to(first) + 1});
                in_function = false;
            }
        }
        if (text[at] == '{' || text[at] == '}' || (text[at] == ';' && outside)) words_begin = at + 1;
    }
    return functions;
}

}  // namespace storpol::test
