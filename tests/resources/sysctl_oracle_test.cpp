// SPDX-License-Identifier: GPL-3.0-or-later
// The real systemd-sysctl and sysctl --system against the simulation: random sets of files in a private mount
// namespace, and only keys that belong to a network, UTS or IPC namespace of the test's own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "resources/sysctl/effective.h"
#include "resources/sysctl/values.h"

namespace storpol {
namespace {

const std::vector<std::string> keys{"net/ipv4/tcp_keepalive_time",
                                    "net/ipv4/tcp_keepalive_intvl",
                                    "net/ipv4/tcp_keepalive_probes",
                                    "net/ipv4/ip_default_ttl",
                                    "kernel/msgmni",
                                    "kernel/domainname"};
const std::vector<std::string> folders{"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d",
                                       "/usr/lib/sysctl.d"};
constexpr const char* systemd_sysctl = "/usr/lib/systemd/systemd-sysctl";
constexpr const char* procps_sysctl = "/sbin/sysctl";

struct TestFile {
    std::string path;
    std::string text;
    bool is_link = false;  // then `text` is the target
};

using Tree = std::vector<TestFile>;

std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

bool isolate() {
    if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC) != 0) return false;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
    for (const char* over : {"/etc", "/run", "/usr/local/lib", "/usr/lib/sysctl.d"}) {
        if (mount("tmpfs", over, "tmpfs", 0, "mode=755") != 0) return false;
    }
    // Distributions have /lib as a link to /usr/lib; where it is a folder, its files would be one more source.
    return !std::filesystem::exists("/lib/sysctl.d") ||
           std::filesystem::equivalent("/lib/sysctl.d", "/usr/lib/sysctl.d");
}

std::string run(const std::vector<std::string>& words) {
    int ends[2];
    if (pipe(ends) != 0) return "";
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        const int null = open("/dev/null", O_RDWR);
        dup2(null, 2);
        std::vector<char*> argv;
        for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        execv(argv[0], argv.data());
        _exit(127);
    }
    close(ends[1]);
    std::string out;
    char buffer[4096];
    for (ssize_t n = read(ends[0], buffer, sizeof buffer); n > 0; n = read(ends[0], buffer, sizeof buffer)) {
        out.append(buffer, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return out;
}

std::string values_now() {
    std::string all;
    for (const auto& key : keys) all += std::string(trim(read_text("/proc/sys/" + key))) + "\n";
    return all;
}

// Runs in a child of its own: prints the keys' values before and after the program ran over the tree.
std::string in_namespace(const Tree& tree, const std::vector<std::string>& words, bool want_output) {
    int ends[2];
    if (pipe(ends) != 0) return "";
    const pid_t child = fork();
    if (child == 0) {
        std::string out = "no namespace";
        if (isolate()) {
            for (const auto& folder : folders) std::filesystem::create_directories(folder);
            for (const auto& file : tree) {
                if (file.is_link)
                    std::filesystem::create_symlink(file.text, file.path);
                else
                    std::ofstream(file.path, std::ios::binary) << file.text;
            }
            out = values_now();
            const std::string said = run(words);
            out = want_output ? said : out + values_now();
        }
        const ssize_t written = write(ends[1], out.data(), out.size());
        _exit(written < 0 ? 1 : 0);
    }
    close(ends[1]);
    std::string out;
    char buffer[4096];
    for (ssize_t n = read(ends[0], buffer, sizeof buffer); n > 0; n = read(ends[0], buffer, sizeof buffer)) {
        out.append(buffer, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return out;
}

MemoryHost host_of(const Tree& tree, bool under_systemd) {
    MemoryHost host;
    if (under_systemd) {
        host.put_file("/run/systemd/system/.keep", "");
    } else {
        host.put_file("/sbin/init", "");
        host.put_file("/sbin/sysctl", "");
    }
    for (const auto& file : tree) {
        if (file.is_link)
            host.put_link(file.path, file.text);
        else
            host.put_file(file.path, file.text);
    }
    return host;
}

std::string spelled(const std::string& path, int how) {
    if (how == 1) return path;
    if (how == 2) return "/" + path;
    return sysctl_name(path);
}

// A line that names one of our keys, with values that the kernel accepts everywhere. procps compares "/net/x" and
// "net/x" as different keys when it asks whether a glob is overridden; nobody writes that, and the simulation does not
// follow it.
std::string some_line(int spellings) {
    static const std::vector<std::string> odd{"# comment = 1",
                                              "; kernel.msgmni = 7",
                                              "no assignment here",
                                              "",
                                              "kernel . msgmni = 5",
                                              "net.ipv4.no_such_key=1",
                                              "=5",
                                              "   \t"};
    static const std::vector<std::string> globs{"net.ipv4.tcp_keepalive_*", "net/ipv4/tcp_keepalive_[ip]*",
                                                "net.ipv4.ip_default_tt?"};
    const int kind = *rc::gen::inRange(0, 10);
    if (kind == 0) return *rc::gen::elementOf(odd);
    const std::string value =
        std::to_string(*rc::gen::inRange(2, 100)) + *rc::gen::element<std::string>("", "", "  ", " # why");
    const std::string key =
        kind == 1 ? *rc::gen::elementOf(globs) : spelled(*rc::gen::elementOf(keys), *rc::gen::inRange(0, spellings));
    if (kind == 2) return "-" + key;
    const std::string blank = *rc::gen::element<std::string>("", " ", "\t");
    return blank + (kind == 3 ? "-" : "") + key + blank + "=" + blank + value;
}

Tree some_tree(bool with_conf, int spellings = 3) {
    static const std::vector<std::string> names{"10-a.conf",      "9-a.conf",  "Z.conf",  "_x.conf", "zz.conf",
                                                "99-sysctl.conf", ".dot.conf", "a.conf~", "b",       ".conf"};
    std::map<std::string, TestFile> files;
    const auto text = [spellings] {
        std::string all;
        const int lines = *rc::gen::inRange(0, 6);
        for (int i = 0; i < lines; ++i)
            all += some_line(spellings) + *rc::gen::element<std::string>("\n", "\n", "\r\n");
        return *rc::gen::arbitrary<bool>() ? all : all + some_line(spellings);
    };
    const int count = *rc::gen::inRange(0, 9);
    for (int i = 0; i < count; ++i) {
        const std::string path = *rc::gen::elementOf(folders) + "/" + *rc::gen::elementOf(names);
        const int kind = *rc::gen::inRange(0, 8);
        if (kind == 0)
            files[path] = {path, "/dev/null", true};
        else if (kind == 1)
            files[path] = {path, "/nowhere/at.all", true};
        else if (kind == 2)
            files[path] = {path, "../sysctl.conf", true};
        else
            files[path] = {path, text(), false};
    }
    if (with_conf && *rc::gen::arbitrary<bool>()) files["/etc/sysctl.conf"] = {"/etc/sysctl.conf", text(), false};
    Tree tree;
    for (const auto& [path, file] : files) tree.push_back(file);
    return tree;
}

std::string describe(const Tree& tree) {
    std::string all;
    for (const auto& file : tree) all += "== " + file.path + (file.is_link ? " -> " : "\n") + file.text + "\n";
    return all;
}

void compare_with(const Tree& tree, const std::vector<std::string>& words, bool under_systemd) {
    const std::string output = in_namespace(tree, words, false);
    const auto lines = split_lines(output);
    RC_ASSERT(lines.size() == 2 * keys.size());
    MemoryHost host = host_of(tree, under_systemd);
    const SysctlSources sources = read_sysctl_sources(host);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const SysctlOutcome outcome = outcome_of(keys[i], sources);
        const std::string before(lines[i]);
        std::string expected = before;
        if (outcome.from == SysctlOutcome::From::line) {
            // The domain name is text: the kernel keeps a comment after it.
            expected =
                keys[i] == "kernel/domainname" ? outcome.value : to_text(sysctl_value(keys[i], outcome.value, true));
        }
        if (expected != lines[keys.size() + i]) {
            RC_FAIL(keys[i] + ": expected " + expected + ", the kernel holds " + std::string(lines[keys.size() + i]) +
                    "\n" + describe(tree));
        }
    }
}

bool can_isolate() {
    return geteuid() == 0 && in_namespace({}, {"/bin/true"}, false) != "no namespace";
}

TEST(SysctlOracle, SystemdSysctlLeavesWhatTheSimulationSays) {
    if (access(systemd_sysctl, X_OK) != 0) GTEST_SKIP() << systemd_sysctl << " is not here";
    if (!can_isolate()) GTEST_SKIP() << "needs root and namespaces";
    EXPECT_TRUE(rc::check("systemd-sysctl agrees", [] { compare_with(some_tree(true), {systemd_sysctl}, true); }));
}

TEST(SysctlOracle, ProcpsSysctlLeavesWhatTheSimulationSays) {
    if (access(procps_sysctl, X_OK) != 0) GTEST_SKIP() << procps_sysctl << " is not here";
    if (run({procps_sysctl, "--version"}).find("procps-ng 4") == std::string::npos) GTEST_SKIP() << "not procps-ng 4";
    if (!can_isolate()) GTEST_SKIP() << "needs root and namespaces";
    EXPECT_TRUE(rc::check("sysctl --system agrees", [] {
        compare_with(some_tree(true, 2), {procps_sysctl, "--system"}, false);
    }));
}

TEST(SysctlOracle, SystemdReadsTheFilesInOurOrder) {
    if (access(systemd_sysctl, X_OK) != 0) GTEST_SKIP() << systemd_sysctl << " is not here";
    if (!can_isolate()) GTEST_SKIP() << "needs root and namespaces";
    EXPECT_TRUE(rc::check("systemd-sysctl --cat-config agrees", [] {
        Tree tree;
        for (const auto& file : some_tree(false)) {
            if (!file.is_link || file.text == "/dev/null")
                tree.push_back(file);  // --cat-config stops at a dangling link
        }
        std::vector<std::string> theirs;
        const std::string output = in_namespace(tree, {systemd_sysctl, "--cat-config"}, true);
        for (const auto line : split_lines(output)) {
            if (line.substr(0, 3) == "# /") theirs.emplace_back(line.substr(2));
        }
        MemoryHost host = host_of(tree, true);
        std::vector<std::string> ours;
        for (const auto& file : read_sysctl_sources(host).files) ours.push_back(file.listed);
        RC_ASSERT(ours == theirs);
    }));
}

}  // namespace
}  // namespace storpol
