// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

// The built program, run by its arguments with nothing on standard input, and a directory of its own for each test.
namespace storpol::test {

namespace fs = std::filesystem;

struct Ran {
    int code = -1;
    std::string out;
    std::string err;
};

inline std::string read_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

inline void write_text(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

class ProgramTest : public testing::Test {
  protected:
    ProgramTest() {
        std::string pattern = (fs::temp_directory_path() / "storpol-cli-XXXXXX").string();
        dir = mkdtemp(pattern.data());
    }

    ~ProgramTest() override {
        std::error_code ignored;
        fs::remove_all(dir, ignored);
    }

    // `out_path`: where standard output goes instead of into the answer.
    Ran storpol(std::vector<std::string> arguments, const std::string& out_path = {}) const {
        const std::string out = out_path.empty() ? (dir / "stdout").string() : out_path;
        const std::string err = (dir / "stderr").string();
        arguments.insert(arguments.begin(), STORPOL_BINARY_DIR "/storpol");
        std::vector<char*> argv;
        for (std::string& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        std::array<char*, 1> environment{nullptr};
        pid_t pid = 0;
        const int failed = posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), environment.data());
        posix_spawn_file_actions_destroy(&files);
        Ran ran;
        if (failed != 0) {
            ADD_FAILURE() << "cannot run " << arguments[0];
            return ran;
        }
        int status = 0;
        waitpid(pid, &status, 0);
        ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (out_path.empty()) ran.out = read_text(out);
        ran.err = read_text(err);
        return ran;
    }

    std::string file(const std::string& name, const std::string& text) const {
        write_text(dir / name, text);
        return (dir / name).string();
    }

    fs::path dir;
};

}  // namespace storpol::test
