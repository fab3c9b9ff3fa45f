// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_stop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "engine/base/text.h"
#include "engine/host/io.h"

namespace storpol {
namespace {

constexpr std::array stop_signals{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t asked_by = 0;
volatile std::sig_atomic_t wake_fd = -1;

extern "C" void on_stop_signal(int signal) {
    const int kept = errno;
    asked_by = signal;
    const char byte = 0;
    if (wake_fd >= 0) [[maybe_unused]]
        const auto written = write(wake_fd, &byte, 1);
    errno = kept;
}

std::chrono::microseconds read_time(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_nsec / 1000);
}

constexpr const char* run_directory = "/run/storpol";
constexpr const char* lock_name = "trim.lock";

}  // namespace

StopSignals::StopSignals() {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
        read_.reset(ends[0]);
        write_.reset(ends[1]);
    }
    asked_by = 0;
    wake_fd = write_.get();

    struct sigaction action {};

    action.sa_handler = on_stop_signal;
    for (const int signal : stop_signals) {
        struct sigaction old {};

        // nohup and a shell's background jobs ignore some on purpose.
        const bool is_ignored = sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN;
        if (!is_ignored) sigaction(signal, &action, nullptr);
    }
}

StopSignals::~StopSignals() {
    reset();
    wake_fd = -1;
}

void StopSignals::reset() {
    for (const int signal : stop_signals) {
        struct sigaction old {};

        if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler == on_stop_signal) std::signal(signal, SIG_DFL);
    }
}

bool StopSignals::asked() const {
    return asked_by != 0;
}

std::string StopSignals::name() const {
    const char* abbreviation = asked_by == 0 ? nullptr : sigabbrev_np(asked_by);
    return abbreviation == nullptr ? "" : "SIG" + std::string(abbreviation);
}

bool StopSignals::wait(std::chrono::microseconds time) const {
    const auto end = monotonic_now() + time;
    while (!asked()) {
        const auto left = end - monotonic_now();
        if (left <= std::chrono::microseconds(0)) return true;
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
        const timespec limit{seconds.count(), static_cast<long>((left - seconds).count() * 1000)};
        pollfd wake{fd(), POLLIN, 0};
        ppoll(&wake, fd() < 0 ? 0 : 1, &limit, nullptr);
    }
    return false;
}

std::chrono::microseconds monotonic_now() {
    return read_time(CLOCK_MONOTONIC);
}

std::chrono::microseconds time_asleep() {
    return read_time(CLOCK_BOOTTIME) - read_time(CLOCK_MONOTONIC);
}

Result<bool> TrimLock::try_lock(pid_t& holder) {
    holder = 0;
    const std::string path = std::string(run_directory) + "/" + lock_name;
    if (!fd_) {
        if (mkdir(run_directory, 0755) != 0 && errno != EEXIST)
            return fail_errno(errno, "cannot make the directory", run_directory);
        directory_.reset(open(run_directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!directory_) return fail_errno(errno, "cannot open the directory", run_directory);
        constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
        fd_.reset(openat(directory_.get(), lock_name, flags, 0600));
        if (!fd_) return fail_errno(errno, "cannot open the lock", path);
        // Who may open a file for reading may lock it: nobody but root is to hold up a trim.
        fchmod(fd_.get(), 0600);
    }
    if (flock(fd_.get(), LOCK_EX | LOCK_NB) == 0) {
        // For people who ask who holds it; the lock itself is the flock, so that a refused write harms nothing.
        if (ftruncate(fd_.get(), 0) == 0 && lseek(fd_.get(), 0, SEEK_SET) == 0)
            write_whole(fd_.get(), std::to_string(getpid()) + "\n");
        return true;
    }
    const int code = errno;
    if (code != EWOULDBLOCK) return fail_errno(code, "cannot take the lock", path);
    std::string text;
    if (lseek(fd_.get(), 0, SEEK_SET) == 0) read_to_end(fd_.get(), text, 64, 0, false);
    holder = static_cast<pid_t>(parse_int(trim(text)).value_or(0));
    return false;
}

}  // namespace storpol
