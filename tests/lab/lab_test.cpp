// SPDX-License-Identifier: GPL-3.0-or-later
// What lab.h promises, and that the lab itself keeps its tests apart from the machine.
#include "tests/lab/lab.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace storpol::lab {
namespace {

namespace fs = std::filesystem;

std::string as_path(std::string key) {
    std::ranges::replace(key, '.', '/');
    return "/proc/sys/" + key;
}

// An unlinked temporary file: output of any length without a reader that must keep up.
class Sink {
  public:
    Sink() {
        char name[] = "/tmp/storpol-lab-out-XXXXXX";
        fd_ = mkostemp(name, O_CLOEXEC);
        unlink(name);
    }

    ~Sink() { close(fd_); }

    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    int fd() const { return fd_; }

    std::string text() const {
        std::string out;
        char buffer[4096];
        lseek(fd_, 0, SEEK_SET);
        for (ssize_t n = read(fd_, buffer, sizeof buffer); n > 0; n = read(fd_, buffer, sizeof buffer)) {
            out.append(buffer, static_cast<std::size_t>(n));
        }
        return out;
    }

  private:
    int fd_ = -1;
};

// In the child: never returns.
[[noreturn]] void exec_with(const std::vector<std::string>& arguments, int out, int err) {
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, 0);
    dup2(out < 0 ? null : out, 1);
    dup2(err < 0 ? null : err, 2);
    for (const char* name : {"NO_COLOR", "COLUMNS", "SUDO_UID"}) unsetenv(name);
    std::vector<char*> argv;
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
}

std::vector<std::string> with_binary(const std::vector<std::string>& arguments) {
    std::vector<std::string> all{STORPOL_BINARY_DIR "/storpol"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
}

pid_t start(const std::vector<std::string>& arguments, int out, int err) {
    const pid_t child = fork();
    if (child == 0) exec_with(arguments, out, err);
    return child;
}

bool mount_tmpfs(const std::string& where, const char* options = "mode=0755") {
    return mount("tmpfs", where.c_str(), "tmpfs", 0, options) == 0;
}

// Back to the namespaces this process began in: each test hides the machine anew.
bool return_to_machine() {
    static const std::array began{open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC),
                                  open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC),
                                  open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)};
    return std::ranges::all_of(began, [](int space) { return setns(space, 0) == 0; });
}

// Why the machine cannot be hidden; empty when it is.
std::string hide_machine() {
    if (geteuid() != 0) return "needs root";
    if (!return_to_machine()) return std::string("cannot enter namespaces: ") + strerror(errno);
    if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWNET) != 0)
        return std::string("no namespaces here: ") + strerror(errno);
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "the mounts cannot be made private";
    if (!mount_tmpfs("/run") || !mount_tmpfs("/var/lib")) return "no tmpfs can be mounted";
    for (const char* directory : {"/run/lab", "/run/lab/upper", "/run/lab/work"}) mkdir(directory, 0755);
    if (mount("overlay", "/etc", "overlay", 0, "lowerdir=/etc,upperdir=/run/lab/upper,workdir=/run/lab/work") != 0) {
        return std::string("no overlay over /etc: ") + strerror(errno);
    }
    fs::remove_all("/etc/sysctl.d");
    fs::remove("/etc/sysctl.conf");
    fs::remove_all("/etc/storpol");
    mkdir("/etc/sysctl.d", 0755);
    mkdir("/etc/storpol", 0755);
    for (const char* directory : {"/usr/lib/sysctl.d", "/usr/local/lib/sysctl.d"}) {
        if (fs::is_directory(directory) && !mount_tmpfs(directory)) return std::string("cannot hide ") + directory;
    }
    return {};
}

}  // namespace

bool Ran::says(const std::string& words) const {
    std::istringstream in(all());
    std::string text;
    for (std::string word; in >> word;) text += " " + word;
    return text.find(words) != std::string::npos;
}

std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

bool write_text(const std::string& path, const std::string& bytes) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << bytes;
    out.close();
    return out.good();
}

std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    if (!fs::is_directory(directory)) return names;
    for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

std::string sysctl_value(const std::string& key) {
    std::string text = read_text(as_path(key));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

bool set_sysctl(const std::string& key, const std::string& value) {
    return write_text(as_path(key), value + "\n");
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Ran run(const std::vector<std::string>& arguments) {
    const Sink out;
    const Sink err;
    Ran ran;
    ran.code = wait_for(start(arguments, out.fd(), err.fd()));
    ran.out = out.text();
    ran.err = err.text();
    return ran;
}

Ran storpol(const std::vector<std::string>& arguments) {
    return run(with_binary(arguments));
}

pid_t start_storpol(const std::vector<std::string>& arguments) {
    return start(with_binary(arguments), -1, -1);
}

bool kill_storpol_at(int stop, const std::vector<std::string>& arguments) {
    const auto all = with_binary(arguments);
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        exec_with(all, -1, -1);
    }
    int status = 0;
    waitpid(child, &status, 0);  // stopped at exec
    for (int seen = 0; WIFSTOPPED(status) && seen < stop; ++seen) {
        ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
        waitpid(child, &status, 0);
    }
    if (!WIFSTOPPED(status)) return false;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return true;
}

bool may_change_the_machine() {
    const char* word = std::getenv("STORPOL_LAB");
    return word != nullptr && std::strcmp(word, "1") == 0;
}

void Lab::SetUp() {
    const std::string why = hide_machine();
    if (!why.empty()) GTEST_SKIP() << why;
}

void Lab::want(const std::vector<std::string>& lines) {
    std::string text = "version = 1\n\n[sysctl]\n";
    for (const auto& line : lines) text += line + "\n";
    ASSERT_TRUE(write_text(policy_file, text));
}

namespace {

TEST_F(Lab, ValuesOfTheNetworkAreOfThisNamespaceOnly) {
    const std::string before = sysctl_value("net.core.somaxconn");
    ASSERT_TRUE(set_sysctl("net.core.somaxconn", "321"));
    const pid_t child = fork();
    if (child == 0) _exit(unshare(CLONE_NEWNET) == 0 && sysctl_value("net.core.somaxconn") != "321" ? 0 : 1);
    EXPECT_EQ(wait_for(child), 0);
    EXPECT_NE(before, "321");
}

TEST_F(Lab, KilledAtTheFirstCallThePlanNeverEnds) {
    EXPECT_TRUE(kill_storpol_at(1, {"plan"}));
    EXPECT_FALSE(kill_storpol_at(1'000'000, {"--version"}));
}

}  // namespace
}  // namespace storpol::lab
