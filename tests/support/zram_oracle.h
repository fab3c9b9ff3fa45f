// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

// The real zram-generator under its test root: it reads DIR/etc, DIR/usr/lib, DIR/run and DIR/proc and writes its units
// where it is told, and makes no device. Without a PATH it finds no modprobe for the algorithms that it reads of. Which
// program: the environment's STORPOL_ZRAM_GENERATOR, else the installed one.
namespace storpol {

class ZramOracle {
  public:
    struct Answer {
        int exit_code = -1;
        std::map<std::string, std::string> units;  // *.swap and *.mount, by name
    };

    ZramOracle() {
        std::string name = (std::filesystem::temp_directory_path() / "storpol-zram-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr) root_ = name;
    }

    ~ZramOracle() {
        std::error_code ignored;
        if (!root_.empty()) std::filesystem::remove_all(root_, ignored);
    }

    ZramOracle(const ZramOracle&) = delete;
    ZramOracle& operator=(const ZramOracle&) = delete;

    static std::string program() {
        const char* given = std::getenv("STORPOL_ZRAM_GENERATOR");
        if (given != nullptr) return given;
        for (const char* path :
             {"/usr/lib/systemd/system-generators/zram-generator", "/lib/systemd/system-generators/zram-generator"}) {
            if (std::filesystem::exists(path)) return path;
        }
        return {};
    }

    static constexpr const char* why_skipped =
        "no zram-generator is installed (Debian: systemd-zram-generator), and STORPOL_ZRAM_GENERATOR names none";

    // A text that depends on its version: 1.2.0 and later know zram-resident-limit, earlier ones pass it over.
    std::string version() {
        const auto answer = ask({{"/etc/systemd/zram-generator.conf", "[zram0]\nzram-resident-limit = -1\n"}});
        return answer.exit_code == 0 ? "1.1.2" : "1.2.1";
    }

    // Files by their path on the machine they play.
    Answer ask(const std::map<std::string, std::string>& files,
               unsigned long memory_kib = 8192000,
               const std::string& command_line = "") {
        namespace fs = std::filesystem;
        for (const char* folder : {"etc", "usr", "run", "proc", "out"}) fs::remove_all(root_ + "/" + folder);
        put("/proc/meminfo", "MemTotal:       " + std::to_string(memory_kib) + " kB\n");
        put("/proc/cmdline", command_line + "\n");
        for (const auto& [path, bytes] : files) put(path, bytes);
        const auto out = root_ + "/out";
        fs::create_directories(out);
        const auto command = "PATH=/nonexistent ZRAM_GENERATOR_ROOT=" + root_ + " " + program() + " " + out + " " +
                             out + " " + out + " >/dev/null 2>&1";
        Answer answer;
        const int status = std::system(command.c_str());  // our own words alone
        answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        for (const auto& entry : fs::directory_iterator(out)) {
            const auto name = entry.path().filename().string();
            if (!name.ends_with(".swap") && !name.ends_with(".mount")) continue;
            std::ostringstream text;
            text << std::ifstream(entry.path()).rdbuf();
            answer.units[name] = text.str();
        }
        return answer;
    }

  private:
    void put(const std::string& path, const std::string& bytes) const {
        const std::filesystem::path file = root_ + path;
        std::filesystem::create_directories(file.parent_path());
        if (bytes == "-> /dev/null") {
            std::filesystem::create_symlink("/dev/null", file);
        } else {
            std::ofstream(file) << bytes;
        }
    }

    std::string root_;
};

}  // namespace storpol
