// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_run.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace storpol {
namespace {

using Time = TrimDevice::Time;
using std::chrono::seconds;

constexpr int tries_of_a_slice = 3;
constexpr int failures_in_a_row = 3;
constexpr Time before_trying_again = seconds(1);
constexpr const char* window_is_over = "the window is over";

// Trying again or going on elsewhere is of no use.
bool is_final(int code) {
    switch (code) {
        case ENODEV:
        case ENXIO:
        case ESHUTDOWN:
        case EUCLEAN:
        case EPERM:
        case EINVAL:
        case EOPNOTSUPP:
        case ENOTTY:
        case ENOSYS:
        case EBADF:
        case EROFS:
            return true;
        default:
            return false;
    }
}

// Why a filesystem that takes no trims at all does not; empty for what is a failure.
std::string reason_to_skip(int code) {
    switch (code) {
        case EOPNOTSUPP:
            return "its device takes no discards";
        // What fstrim(8) counts as unsupported; EBADF from drivers of the NTFS family.
        case ENOTTY:
        case ENOSYS:
        case EBADF:
            return "this filesystem cannot be trimmed";
        case EROFS:
            return "it is mounted without having its log replayed";
        default:
            return {};
    }
}

std::string refusal(int code) {
    auto text = fail_errno(code, "FITRIM", {}).value().what;
    if (code == EPERM) text += "; it needs root outside of any container";
    return text;
}

class Run {
  public:
    Run(const TrimJob& job, TrimDevice& device)
        : job_(job),
          device_(device),
          began_(device.now()),
          unit_(job.slices.unit_at(job.position)),
          pacer_(job.pace, job.slices.count() - std::min(job.slices.count(), unit_), job.window) {
        result_.bytes = job.bytes;
    }

    TrimResult go() {
        const auto before = device_.counters();
        look();
        while (!done_ && unit_ < job_.slices.count()) work();
        result_.took = device_.now() - began_;
        result_.position = unit_ < job_.slices.count() ? job_.slices.range(unit_, 1).start : 0;
        count_disks(before, device_.counters());
        judge();
        return std::move(result_);
    }

  private:
    Time left() const { return began_ + job_.window - device_.now(); }

    void end(TrimOutcome outcome, std::string why) {
        result_.outcome = outcome;
        result_.why = std::move(why);
        done_ = true;
    }

    // True when it is time to stop.
    bool must_stop() {
        auto why = device_.stop_reason();
        if (why.empty() && left() <= Time(0)) why = window_is_over;
        if (!why.empty()) end(TrimOutcome::interrupted, std::move(why));
        return done_;
    }

    void look() {
        const auto time = pacer_.first_look();
        const auto before = device_.counters();
        device_.wait(time);
        pacer_.looked(device_.counters().use - before.use, time);
    }

    void work() {
        if (must_stop()) return;
        const auto units = std::min(pacer_.next_units(job_.slices.most()), job_.slices.count() - unit_);
        const auto before = device_.counters();
        const auto call = trim(job_.slices.range(unit_, units));
        if (!call) return;
        const auto use = device_.counters().use - before.use;
        const bool failed = call->code != 0;
        if (failed) take_failure(*call, units);
        if (done_) return;
        failures_ = failed ? failures_ + 1 : 0;
        if (failures_ == failures_in_a_row) return end(TrimOutcome::failed, result_.why);
        unit_ += units;
        pacer_.took(units, call->took, use);
        report();
        rest();
    }

    // One slice, tried again after a failure that may pass or when the machine slept meanwhile. None: ended.
    std::optional<TrimCall> trim(const TrimRange& range) {
        for (int tries = 1;; ++tries) {
            if (job_.forget_with > job_.min_extent)
                device_.trim({range.start, job_.block}, job_.forget_with, std::max(left(), Time(0)));
            auto call = device_.trim(range, job_.min_extent, std::max(left(), Time(0)));
            if (!call) {
                end(TrimOutcome::interrupted, call.error().what);
                return std::nullopt;
            }
            ++result_.slices;
            result_.in_trim += call->took;
            result_.longest = std::max(result_.longest, call->took);
            result_.bytes += call->bytes;
            result_.is_stuck = call->is_stuck;
            const bool is_over = call->is_stuck || call->code == ECANCELED || call->code == ETIMEDOUT;
            const bool is_whole = call->code == 0 && !call->slept;
            if (is_over || is_whole || is_final(call->code) || tries == tries_of_a_slice) return *call;
            if (call->slept) result_.bytes -= call->bytes;
            if (!call->slept && !device_.wait(before_trying_again)) {
                must_stop();
                return std::nullopt;
            }
        }
    }

    void take_failure(const TrimCall& call, std::uint64_t units) {
        if (call.is_stuck) return end(TrimOutcome::failed, "FITRIM does not come back: its device does not answer");
        if (call.code == ETIMEDOUT) return end(TrimOutcome::interrupted, window_is_over);
        if (call.code == ECANCELED) {
            auto why = device_.stop_reason();
            return end(TrimOutcome::interrupted, why.empty() ? "stopped" : std::move(why));
        }
        const bool is_first = result_.slices == 1;
        // It has shrunk, or its last part is not to be trimmed (an XFS realtime device before Linux 6.13).
        if (call.code == EINVAL && unit_ > 0) {
            unit_ = job_.slices.count();
            done_ = true;
            return;
        }
        if (const auto why = reason_to_skip(call.code); !why.empty() && is_first) return end(TrimOutcome::skipped, why);
        const auto range = job_.slices.range(unit_, units);
        result_.why = refusal(call.code) + " (from byte " + std::to_string(range.start) + ")";
        result_.outcome = TrimOutcome::failed;
        done_ = is_final(call.code);
    }

    void rest() {
        for (;;) {
            const auto time = pacer_.next_rest(left());
            if (time <= Time(0) || device_.stop_reason() != "") return;
            const auto before = device_.counters();
            const auto began = device_.now();
            if (!device_.wait(time)) return;
            pacer_.rested(device_.now() - began, device_.counters().use - before.use);
            report();
        }
    }

    void report() {
        if (!job_.progress) return;
        const auto position = unit_ < job_.slices.count() ? job_.slices.range(unit_, 1).start : 0;
        job_.progress({unit_, job_.slices.count(), position, result_.bytes, pacer_.time_left(), pacer_.is_busy()});
    }

    void count_disks(const DiskCounters& before, const DiskCounters& after) {
        const auto grown = [](std::uint64_t now, std::uint64_t then) { return now > then ? now - then : 0; };
        result_.disks.use = after.use - before.use;
        result_.disks.written_bytes = after.written_bytes;
        result_.disks.discards = grown(after.discards, before.discards);
        result_.disks.discarded_bytes = grown(after.discarded_bytes, before.discarded_bytes);
        result_.disks.counts_discards = before.counts_discards && after.counts_discards;
    }

    void judge() {
        if (result_.outcome != TrimOutcome::trimmed) return;
        const bool is_measured = !job_.says_its_size || job_.min_extent == 0;
        const bool is_lost = result_.disks.counts_discards && result_.disks.discards == 0 && is_measured &&
                             result_.bytes > job_.bytes + job_.lost_above;
        if (!is_lost) return;
        result_.outcome = TrimOutcome::lost;
        result_.why = "the filesystem says that it trimmed, and no disk below counted a discard";
    }

    const TrimJob& job_;
    TrimDevice& device_;
    Time began_;
    std::uint64_t unit_;
    TrimPacer pacer_;
    TrimResult result_;
    int failures_ = 0;
    bool done_ = false;
};

class LiveTrimDevice final : public TrimDevice {
  public:
    LiveTrimDevice(const LiveTrimTarget& target, const StopSignals& stop)
        : target_(target), stop_(stop), disks_(target.disks) {}

    Result<TrimCall> trim(const TrimRange& range, std::uint64_t min_extent, Time limit) override {
        const auto fd = open_mounted(target_.target, target_.mount_id);
        if (!fd) return tl::make_unexpected(fd.error());
        TrimRequest request;
        request.range = range;
        request.min_extent = min_extent;
        request.priority = target_.priority;
        request.limit = limit;
        request.may_starve = disks_.has_bfq();
        return call_fitrim(fd->get(), request, stop_);
    }

    DiskCounters counters() override { return disks_.read(); }

    Time now() override { return monotonic_now(); }

    bool wait(Time time) override { return stop_.wait(time); }

    std::string stop_reason() override {
        if (stop_.asked()) return stop_.name();
        // The supply does not change within a slice or two.
        constexpr Time between_looks = seconds(10);
        if (target_.is_on_battery && now() - looked_ >= between_looks) {
            looked_ = now();
            if (target_.is_on_battery()) return "on battery";
        }
        return {};
    }

  private:
    LiveTrimTarget target_;
    const StopSignals& stop_;
    DiskWatch disks_;
    Time looked_{monotonic_now()};
};

}  // namespace

std::unique_ptr<TrimDevice> make_trim_device(const LiveTrimTarget& target, const StopSignals& stop) {
    return std::make_unique<LiveTrimDevice>(target, stop);
}

TrimResult run_trim(const TrimJob& job, TrimDevice& device) {
    return Run(job, device).go();
}

}  // namespace storpol
