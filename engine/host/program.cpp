// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "engine/base/handle.h"
#include "engine/base/text.h"

namespace storpol {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto slice = std::chrono::milliseconds(50);
constexpr auto grace = std::chrono::seconds(5);  // between SIGTERM and SIGKILL

struct Pipe {
    Fd read_end;
    Fd write_end;
};

int make_pipe(Pipe& made) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
    made.read_end.reset(ends[0]);
    made.write_end.reset(ends[1]);
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
}

// What posix_spawn wants to be told, given back on every path.
class SpawnPlan {
  public:
    SpawnPlan() {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
    }

    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    ~SpawnPlan() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }

    int start(const Program& program, const Pipe& output, const Pipe& errors, pid_t& child) {
        sigset_t none;
        sigset_t all;
        sigemptyset(&none);
        sigfillset(&all);
        int code = posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (code == 0) code = posix_spawn_file_actions_adddup2(&actions_, output.write_end.get(), STDOUT_FILENO);
        if (code == 0) code = posix_spawn_file_actions_adddup2(&actions_, errors.write_end.get(), STDERR_FILENO);
        if (code == 0) code = posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
        // A group of its own: what it starts is ended with it, and Ctrl-C at the terminal leaves it to finish.
        const short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
        if (code == 0) code = posix_spawnattr_setflags(&attributes_, flags);
        if (code == 0) code = posix_spawnattr_setsigmask(&attributes_, &none);
        if (code == 0) code = posix_spawnattr_setsigdefault(&attributes_, &all);
        if (code != 0) return code;
        std::vector<char*> arguments;
        for (const auto& argument : program.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
        arguments.push_back(nullptr);
        const std::string locale = "LC_ALL=C";
        const std::string path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
        const std::array<char*, 3> environment{const_cast<char*>(locale.c_str()), const_cast<char*>(path.c_str()),
                                               nullptr};
        return posix_spawn(&child, arguments.front(), &actions_, &attributes_, arguments.data(), environment.data());
    }

  private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

// Takes what is there now; false when the other end is closed.
bool drain(int fd, std::string& into, std::size_t bound, bool& is_cut) {
    std::array<char, 16384> buffer{};
    for (;;) {
        const auto got = read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno == EAGAIN;
        if (got == 0) return false;
        into.append(buffer.data(), static_cast<std::size_t>(got));
        if (into.size() <= bound) continue;
        is_cut = true;
        into.erase(0, into.size() - bound);
    }
}

class Running {
  public:
    Running(const Program& program, pid_t child, Pipe output, Pipe errors)
        : program_(program), child_(child), output_(std::move(output)), errors_(std::move(errors)) {
        output_.write_end.reset();
        errors_.write_end.reset();
    }

    // Until the program itself ends: what it leaves running with its output open is not waited for.
    Result<ProgramOutcome> wait() {
        const auto deadline = Clock::now() + program_.limit;
        while (!has_ended()) {
            if (Clock::now() > deadline) return end_it();
            take();
        }
        drain_both();
        outcome_.exit_code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
        return std::move(outcome_);
    }

  private:
    bool has_ended() {
        const auto got = waitpid(child_, &status_, WNOHANG);
        return got == child_ || (got < 0 && errno == ECHILD);
    }

    bool drain_both() {
        const bool out = drain(output_.read_end.get(), outcome_.output, program_.bound, outcome_.is_cut);
        const bool err = drain(errors_.read_end.get(), outcome_.errors, program_.bound, outcome_.is_cut);
        return out || err;
    }

    void take() {
        std::array<pollfd, 2> ends{pollfd{output_.read_end.get(), POLLIN, 0},
                                   pollfd{errors_.read_end.get(), POLLIN, 0}};
        poll(ends.data(), is_open_ ? ends.size() : 0, static_cast<int>(is_open_ ? slice.count() : 2));
        is_open_ = drain_both();
    }

    Result<ProgramOutcome> end_it() {
        kill(-child_, SIGTERM);
        for (const auto deadline = Clock::now() + grace; !has_ended() && Clock::now() < deadline;) take();
        kill(-child_, SIGKILL);
        waitpid(child_, &status_, 0);
        auto error = fail_errno(ETIMEDOUT, "it was ended after " + std::to_string(program_.limit.count() / 1000) + " s",
                                printable(program_.arguments.front()));
        if (const auto lines = last_lines(outcome_); !lines.empty()) error.value().what += " (" + lines + ")";
        return error;
    }

    const Program& program_;
    pid_t child_;
    Pipe output_;
    Pipe errors_;
    ProgramOutcome outcome_;
    int status_ = 0;
    bool is_open_ = true;
};

}  // namespace

Result<ProgramOutcome> run_program(const Program& program) {
    if (program.arguments.empty() || !program.arguments.front().starts_with('/'))
        STORPOL_BUG("a program is started by its absolute path");
    const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
    const auto& where = program.arguments.front();
    if (std::ranges::any_of(program.arguments, has_nul))
        return fail(ErrorKind::invalid, "an argument holds a NUL byte", printable(where));
    Pipe output;
    Pipe errors;
    int code = make_pipe(output);
    if (code == 0) code = make_pipe(errors);
    pid_t child = -1;
    if (code == 0) code = SpawnPlan().start(program, output, errors, child);
    if (code != 0) return fail_errno(code, "cannot start the program", printable(where));
    return Running(program, child, std::move(output), std::move(errors)).wait();
}

std::string last_lines(const ProgramOutcome& outcome, std::size_t count) {
    const auto& text = trim(outcome.errors).empty() ? outcome.output : outcome.errors;
    std::vector<std::string> kept;
    for (const auto line : split_lines(text))
        if (!trim(line).empty()) kept.push_back(printable(trim(line)));
    if (kept.size() > count) kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(count));
    return join(kept, "; ");
}

}  // namespace storpol
