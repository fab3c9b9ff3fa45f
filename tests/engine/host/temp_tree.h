// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

// A temporary directory that is gone with its object, and a way to run a check in namespaces of its own.
namespace storpol {

class TempTree {
  public:
    TempTree() {
        std::string name = "/tmp/storpol-test-XXXXXX";
        path_ = mkdtemp(name.data());
    }

    TempTree(const TempTree&) = delete;
    TempTree& operator=(const TempTree&) = delete;

    ~TempTree() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::string& path() const { return path_; }

    std::string at(const std::string& below) const { return path_ + below; }

    void write(const std::string& below, const std::string& bytes, unsigned mode = 0644) const {
        const auto file = at(below);
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file, std::ios::binary) << bytes;
        chmod(file.c_str(), mode);
    }

    void link(const std::string& below, const std::string& target) const {
        const auto file = at(below);
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::filesystem::create_symlink(target, file);
    }

    void make_directory(const std::string& below) const { std::filesystem::create_directories(at(below)); }

    std::string read(const std::string& below) const {
        std::ifstream in(at(below), std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    }

    struct stat stat(const std::string& below) const {
        struct stat about {};

        EXPECT_EQ(lstat(at(below).c_str(), &about), 0) << below;
        return about;
    }

    std::vector<std::string> names(const std::string& below) const {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(at(below)))
            found.push_back(entry.path().filename());
        std::sort(found.begin(), found.end());
        return found;
    }

  private:
    std::string path_;
};

// Runs `check` in a child with a private mount namespace (and others of `more`); its failed expectations fail the test.
// Answers false where no namespace can be made.
inline bool run_isolated(const std::function<void()>& check, int more = 0) {
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNS | more) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            _exit(77);
        check();
        _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return false;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the isolated check failed, see above";
    return true;
}

}  // namespace storpol

#define STORPOL_NEEDS_ROOT() \
    if (geteuid() != 0) GTEST_SKIP() << "needs root"
