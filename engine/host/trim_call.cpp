// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_call.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/ioprio.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "engine/base/text.h"
#include "engine/host/path_walk.h"

namespace storpol {
namespace {

using Time = std::chrono::microseconds;
using std::chrono::seconds;

// What the child writes into the pipe.
struct Reply {
    int code = 0;
    std::uint64_t bytes = 0;
};

constexpr Time time_to_die = seconds(5);
// BFQ serves the idle class when nobody else wants the disk: beside one busy writer a trim never ended.
constexpr Time starving = seconds(10);

void set_io_priority(pid_t process, int io_class, int level) {
    // Refused inside some containers; the trim is then as important as any other process.
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, process, IOPRIO_PRIO_VALUE(io_class, level));
}

[[noreturn]] void trim_in_child(int fd, int pipe, pid_t parent, const TrimRequest& request) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    StopSignals::reset();
    if (request.priority.io == TrimPriority::Io::idle) set_io_priority(0, IOPRIO_CLASS_IDLE, 0);
    if (request.priority.io == TrimPriority::Io::best_effort) set_io_priority(0, IOPRIO_CLASS_BE, 7);
    if (request.priority.io == TrimPriority::Io::realtime) set_io_priority(0, IOPRIO_CLASS_RT, 7);
    setpriority(PRIO_PROCESS, 0, request.priority.nice);
    fstrim_range range{request.range.start, request.range.length, request.min_extent};
    Reply reply;
    reply.code = ioctl(fd, FITRIM, &range) == 0 ? 0 : errno;
    reply.bytes = range.len;
    // Less than PIPE_BUF is written whole.
    _exit(write(pipe, &reply, sizeof reply) == static_cast<ssize_t>(sizeof reply) ? 0 : 1);
}

class Child {
  public:
    Child(pid_t pid, Fd pipe) : pid_(pid), pipe_(std::move(pipe)) {}

    // What it answered; none when it has ended without an answer, or not within the time.
    std::optional<Reply> wait(const TrimRequest& request, const StopSignals& stop);

    bool has_ended() const { return ended_; }

    // Kills it where it is still at work; true when it is gone.
    bool end();

  private:
    bool poll_for(Time time, int stop_fd, bool& stopped) const;

    pid_t pid_;
    Fd pipe_;
    bool ended_ = false;
};

// True once the pipe can be read or has been closed.
bool Child::poll_for(Time time, int stop_fd, bool& stopped) const {
    std::array<pollfd, 2> both{pollfd{pipe_.get(), POLLIN, 0}, pollfd{stop_fd, POLLIN, 0}};
    const auto count = stop_fd < 0 ? 1U : 2U;
    const auto milliseconds = std::clamp<Time::rep>(time.count() / 1000 + 1, 0, 3'600'000);
    if (::poll(both.data(), count, static_cast<int>(milliseconds)) <= 0) return false;
    stopped = count == 2 && both[1].revents != 0;
    return both[0].revents != 0;
}

std::optional<Reply> Child::wait(const TrimRequest& request, const StopSignals& stop) {
    const auto begin = monotonic_now();
    bool is_raised = !request.may_starve || request.priority.io != TrimPriority::Io::idle;
    for (bool stopped = false; !stopped && !stop.asked();) {
        const auto passed = monotonic_now() - begin;
        if (passed >= request.limit) return std::nullopt;
        if (!is_raised && passed >= starving) {
            set_io_priority(pid_, IOPRIO_CLASS_BE, 7);
            is_raised = true;
        }
        const auto next = is_raised ? request.limit : std::min(request.limit, starving);
        if (!poll_for(next - passed, stop.fd(), stopped)) continue;
        Reply reply;
        const auto size = ::read(pipe_.get(), &reply, sizeof reply);
        ended_ = true;
        if (size == static_cast<ssize_t>(sizeof reply)) return reply;
        return std::nullopt;
    }
    return std::nullopt;
}

bool Child::end() {
    // One that has answered is about to be gone.
    if (ended_) return waitpid(pid_, nullptr, 0) == pid_;
    ::kill(pid_, SIGKILL);
    const auto limit = monotonic_now() + time_to_die;
    while (monotonic_now() < limit) {
        if (waitpid(pid_, nullptr, WNOHANG) != 0) return true;
        usleep(1000);
    }
    return false;
}

}  // namespace

TrimCall call_fitrim(int fd, const TrimRequest& request, const StopSignals& stop) {
    TrimCall call;
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        call.code = errno;
        return call;
    }
    Fd reading(ends[0]);
    Fd writing(ends[1]);
    const auto asleep = time_asleep();
    const auto begin = monotonic_now();
    const auto parent = getpid();
    const auto pid = fork();
    if (pid < 0) {
        call.code = errno;
        return call;
    }
    if (pid == 0) trim_in_child(fd, writing.get(), parent, request);
    writing.reset();
    Child child(pid, std::move(reading));
    const auto reply = child.wait(request, stop);
    call.took = monotonic_now() - begin;
    call.is_stuck = !child.end();
    // Reading the two clocks one after the other never agrees to the microsecond.
    call.slept = time_asleep() - asleep > std::chrono::milliseconds(100);
    if (reply) {
        call.code = reply->code;
        call.bytes = reply->code == 0 ? reply->bytes : 0;
    } else if (stop.asked()) {
        call.code = ECANCELED;
    } else {
        call.code = child.has_ended() ? EINTR : ETIMEDOUT;
    }
    return call;
}

Result<Fd> open_mounted(const std::string& target, const std::string& mount_id) {
    PathWalk walk;
    auto place = walk.open_exact(target, O_PATH | O_CLOEXEC);
    if (place.code != 0) return fail_errno(place.code, "cannot open the mount point", printable(target));

    struct statx found {};

    // Not even looking must start an automount.
    if (statx(place.fd.get(), "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_MNT_ID, &found) != 0)
        return fail_errno(errno, "cannot look at the mount point", printable(target));
    if ((found.stx_mask & STATX_MNT_ID) != 0 && std::to_string(found.stx_mnt_id) != mount_id)
        return fail(ErrorKind::changed, "no longer mounted there", printable(target));
    Fd fd(open(("/proc/self/fd/" + std::to_string(place.fd.get())).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!fd) return fail_errno(errno, "cannot open the mount point", printable(target));
    return fd;
}

}  // namespace storpol
