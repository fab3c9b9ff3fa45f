// SPDX-License-Identifier: GPL-3.0-or-later
// storpol_measure ROUNDS -- PROGRAM ARGUMENT... [-- PROGRAM ARGUMENT...]...: runs the commands in turn, ROUNDS times,
// output thrown away, and prints a line per run: the command's number, CPU microseconds (user and system), peak KiB,
// exit code. A program of its own because the kernel counts the memory of whoever forks into the child's peak.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

long microseconds(const timeval& time) {
    return time.tv_sec * 1'000'000 + time.tv_usec;
}

int run(int number, char** argv) {
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
        execv(argv[0], argv);
        _exit(127);
    }
    int status = 0;
    rusage usage{};
    if (wait4(child, &status, 0, &usage) != child) return 1;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    std::printf("%d %ld %ld %d\n", number, microseconds(usage.ru_utime) + microseconds(usage.ru_stime), usage.ru_maxrss,
                code);
    std::fflush(stdout);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 0;
    char** commands[16];
    int count = 0;
    for (int i = 2; i < argc; ++i) {
        if (std::strcmp(argv[i], "--") != 0) continue;
        argv[i] = nullptr;
        if (count < 16 && i + 1 < argc) commands[count++] = argv + i + 1;
    }
    if (rounds < 1 || count == 0) {
        std::fprintf(stderr, "usage: storpol_measure ROUNDS -- PROGRAM ARGUMENT... [-- PROGRAM ARGUMENT...]...\n");
        return 1;
    }
    for (int round = 0; round < rounds; ++round) {
        for (int command = 0; command < count; ++command) {
            if (run(command, commands[command]) != 0) return 1;
        }
    }
    return 0;
}
