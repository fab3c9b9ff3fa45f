// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_run.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <deque>
#include <map>

// The loop over slices, on a machine without a device: time passes when it is told to.
namespace storpol {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t group = std::uint64_t{128} << 20;

class FakeDevice final : public TrimDevice {
  public:
    Result<TrimCall> trim(const TrimRange& range, std::uint64_t min_extent, Time limit) override {
        ranges.push_back(range);
        floors.push_back(min_extent);
        limits.push_back(limit);
        if (unmounted_after != 0 && ranges.size() > unmounted_after)
            return fail(ErrorKind::changed, "no longer mounted there", "/mnt");
        TrimCall call;
        call.took = cost * static_cast<int>(range.length / group + 1);
        if (const auto planned = calls.find(ranges.size()); planned != calls.end()) {
            call = planned->second;
        } else {
            call.bytes = range.length;
            counted.discards += discards_count ? 1 : 0;
            counted.discarded_bytes += discards_count ? range.length : 0;
        }
        clock += call.took;
        return call;
    }

    DiskCounters counters() override { return counted; }

    Time now() override { return clock; }

    bool wait(Time time) override {
        clock += time;
        waits += time;
        if (is_busy) counted.use.writes += 10;
        return stop_reason().empty();
    }

    std::string stop_reason() override { return stop_after != 0 && ranges.size() >= stop_after ? "SIGTERM" : ""; }

    static TrimCall refusal(int code) {
        TrimCall call;
        call.code = code;
        return call;
    }

    std::map<std::size_t, TrimCall> calls;  // by number, from 1: what is answered in place of success
    std::size_t stop_after = 0;
    std::size_t unmounted_after = 0;
    Time cost = milliseconds(60);
    bool is_busy = false;
    bool discards_count = true;
    DiskCounters counted{{}, 0, 0, 0, true};
    std::vector<TrimRange> ranges;
    std::vector<std::uint64_t> floors;
    std::vector<Time> limits;
    Time clock{seconds(1000)};
    Time waits{0};
};

TrimJob job(std::uint64_t groups) {
    TrimJob job;
    job.slices = TrimSlices::even(0, group, groups * group, 1000);
    job.window = hours(2);
    return job;
}

TEST(TrimRun, TrimsAllOfIt) {
    FakeDevice device;
    auto what = job(20);
    what.min_extent = 4096;
    const auto result = run_trim(what, device);
    EXPECT_EQ(result.outcome, TrimOutcome::trimmed) << result.why;
    EXPECT_EQ(result.bytes, 20 * group);
    EXPECT_EQ(result.slices, device.ranges.size());
    EXPECT_EQ(result.disks.discards, device.ranges.size());
    EXPECT_EQ(device.ranges.front(), (TrimRange{0, group}));
    for (const auto floor : device.floors) EXPECT_EQ(floor, 4096U);
    EXPECT_LE(device.waits, milliseconds(200)) << "nobody else uses the disk";
}

TEST(TrimRun, MakesExt4ForgetBeforeEachSlice) {
    FakeDevice device;
    auto what = job(4);
    what.forget_with = group;
    EXPECT_EQ(run_trim(what, device).outcome, TrimOutcome::trimmed);
    ASSERT_EQ(device.ranges.size() % 2, 0U);
    for (std::size_t call = 0; call < device.ranges.size(); call += 2) {
        EXPECT_EQ(device.ranges[call], (TrimRange{device.ranges[call + 1].start, 4096}));
        EXPECT_EQ(device.floors[call], group);
        EXPECT_EQ(device.floors[call + 1], 0U);
    }
}

TEST(TrimRun, KeepsOutOfTheWayOfOthers) {
    FakeDevice device;
    device.is_busy = true;
    const auto result = run_trim(job(20), device);
    EXPECT_EQ(result.outcome, TrimOutcome::trimmed);
    EXPECT_GT(device.waits, 10 * result.in_trim);
}

TEST(TrimRun, EndsWithTheWindowAndSaysWhereItStands) {
    FakeDevice device;
    device.cost = seconds(10);
    auto what = job(20);
    what.window = seconds(60);
    const auto result = run_trim(what, device);
    EXPECT_EQ(result.outcome, TrimOutcome::interrupted);
    EXPECT_EQ(result.why, "the window is over");
    EXPECT_GT(result.position, 0U);
    EXPECT_EQ(result.position % group, 0U);
    EXPECT_LE(device.limits.back(), seconds(60));
    EXPECT_LT(result.took, seconds(90));
}

TEST(TrimRun, GoesOnWhereItWasCutShort) {
    FakeDevice first;
    first.stop_after = 2;
    const auto cut_short = run_trim(job(20), first);
    EXPECT_EQ(cut_short.outcome, TrimOutcome::interrupted);
    EXPECT_EQ(cut_short.why, "SIGTERM");
    FakeDevice second;
    auto rest = job(20);
    rest.position = cut_short.position;
    rest.bytes = cut_short.bytes;
    const auto result = run_trim(rest, second);
    EXPECT_EQ(result.outcome, TrimOutcome::trimmed);
    EXPECT_EQ(second.ranges.front().start, cut_short.position);
    EXPECT_EQ(result.bytes, 20 * group);
}

TEST(TrimRun, NothingIsLeftAfterAPositionAtTheEnd) {
    FakeDevice device;
    auto what = job(20);
    what.position = 20 * group;
    EXPECT_EQ(run_trim(what, device).outcome, TrimOutcome::trimmed);
    EXPECT_TRUE(device.ranges.empty());
}

TEST(TrimRun, ACallThatIsStoppedIsNotAFailure) {
    FakeDevice device;
    device.calls[2] = FakeDevice::refusal(ECANCELED);
    const auto result = run_trim(job(20), device);
    EXPECT_EQ(result.outcome, TrimOutcome::interrupted);
    EXPECT_EQ(result.position, group) << "the slice that was stopped comes again";
}

TEST(TrimRun, AnUnmountEndsIt) {
    FakeDevice device;
    device.unmounted_after = 2;
    const auto result = run_trim(job(20), device);
    EXPECT_EQ(result.outcome, TrimOutcome::interrupted);
    EXPECT_EQ(result.why, "no longer mounted there");
    EXPECT_GT(result.position, 0U);
}

TEST(TrimRun, WhatCannotBeTrimmedIsSkippedWithTheReason) {
    const std::map<int, std::string> reasons{{EOPNOTSUPP, "its device takes no discards"},
                                             {ENOTTY, "this filesystem cannot be trimmed"},
                                             {EBADF, "this filesystem cannot be trimmed"},
                                             {EROFS, "it is mounted without having its log replayed"}};
    for (const auto& [code, why] : reasons) {
        FakeDevice device;
        device.calls[1] = FakeDevice::refusal(code);
        const auto result = run_trim(job(20), device);
        EXPECT_EQ(result.outcome, TrimOutcome::skipped) << code;
        EXPECT_EQ(result.why, why);
        EXPECT_EQ(device.ranges.size(), 1U);
    }
}

TEST(TrimRun, DiscardsThatAreRefusedHalfWayAreAFailure) {
    FakeDevice device;
    device.calls[2] = FakeDevice::refusal(EOPNOTSUPP);
    const auto result = run_trim(job(20), device);
    EXPECT_EQ(result.outcome, TrimOutcome::failed);
    EXPECT_NE(result.why.find("FITRIM: Operation not supported (from byte 134217728)"), std::string::npos)
        << result.why;
}

TEST(TrimRun, WithoutThePrivilegeItFails) {
    FakeDevice device;
    device.calls[1] = FakeDevice::refusal(EPERM);
    const auto result = run_trim(job(20), device);
    EXPECT_EQ(result.outcome, TrimOutcome::failed);
    EXPECT_NE(result.why.find("root outside of any container"), std::string::npos);
}

TEST(TrimRun, AnErrorOfOneSliceIsTriedAgain) {
    FakeDevice device;
    device.calls[2] = FakeDevice::refusal(EIO);
    const auto result = run_trim(job(20), device);
    EXPECT_EQ(result.outcome, TrimOutcome::trimmed) << result.why;
    EXPECT_EQ(device.ranges[1], device.ranges[2]);
    EXPECT_EQ(result.bytes, 20 * group);
}

TEST(TrimRun, ASliceThatFailsForGoodLeavesTheOthersTrimmed) {
    FakeDevice device;
    for (std::size_t call = 2; call <= 4; ++call) device.calls[call] = FakeDevice::refusal(EIO);
    const auto result = run_trim(job(20), device);
    EXPECT_EQ(result.outcome, TrimOutcome::failed);
    EXPECT_NE(result.why.find("Input/output error"), std::string::npos) << result.why;
    EXPECT_GT(result.bytes, 15 * group);
    EXPECT_EQ(result.position, 0U) << "the next run begins anew";
}

TEST(TrimRun, ADeviceThatRefusesEverythingIsGivenUp) {
    FakeDevice device;
    for (std::size_t call = 1; call <= 1000; ++call) device.calls[call] = FakeDevice::refusal(EIO);
    const auto result = run_trim(job(1000), device);
    EXPECT_EQ(result.outcome, TrimOutcome::failed);
    EXPECT_LE(device.ranges.size(), 9U);
}

TEST(TrimRun, ADeviceThatIsGoneIsGivenUpAtOnce) {
    FakeDevice device;
    device.calls[3] = FakeDevice::refusal(ENODEV);
    const auto result = run_trim(job(1000), device);
    EXPECT_EQ(result.outcome, TrimOutcome::failed);
    EXPECT_EQ(device.ranges.size(), 3U);
}

TEST(TrimRun, ACallThatNeverComesBackIsSaid) {
    FakeDevice device;
    device.calls[2] = FakeDevice::refusal(ETIMEDOUT);
    device.calls[2].is_stuck = true;
    const auto result = run_trim(job(20), device);
    EXPECT_EQ(result.outcome, TrimOutcome::failed);
    EXPECT_TRUE(result.is_stuck);
    EXPECT_NE(result.why.find("does not answer"), std::string::npos);
}

TEST(TrimRun, ASliceInWhichTheMachineSleptComesAgain) {
    FakeDevice device;
    device.calls[2] = TrimCall();
    device.calls[2].bytes = 5;
    device.calls[2].slept = true;
    const auto result = run_trim(job(20), device);
    EXPECT_EQ(result.outcome, TrimOutcome::trimmed);
    EXPECT_EQ(device.ranges[1], device.ranges[2]);
    EXPECT_EQ(result.bytes, 20 * group) << "what the first try said does not count twice";
}

TEST(TrimRun, AFilesystemThatHasShrunkIsDone) {
    FakeDevice device;
    device.calls[2] = FakeDevice::refusal(EINVAL);
    EXPECT_EQ(run_trim(job(20), device).outcome, TrimOutcome::trimmed);
    FakeDevice refuses;
    refuses.calls[1] = FakeDevice::refusal(EINVAL);
    EXPECT_EQ(run_trim(job(20), refuses).outcome, TrimOutcome::failed) << "a floor that is too large";
}

TEST(TrimRun, BytesThatNoDiskCountedAreLost) {
    FakeDevice device;
    device.discards_count = false;
    const auto result = run_trim(job(20), device);
    EXPECT_EQ(result.outcome, TrimOutcome::lost);
    EXPECT_NE(result.why.find("no disk below counted a discard"), std::string::npos);
}

TEST(TrimRun, WhatIsNotCountedIsNotCalledLost) {
    FakeDevice device;
    device.discards_count = false;
    device.counted.counts_discards = false;
    EXPECT_EQ(run_trim(job(20), device).outcome, TrimOutcome::trimmed);
    FakeDevice xfs;
    xfs.discards_count = false;
    auto what = job(20);
    what.says_its_size = true;
    what.min_extent = 1 << 20;
    EXPECT_EQ(run_trim(what, xfs).outcome, TrimOutcome::trimmed) << "there may be no extent as large as that";
    what.min_extent = 0;
    EXPECT_EQ(run_trim(what, xfs).outcome, TrimOutcome::lost);
}

TEST(TrimRun, TellsHowFarItIs) {
    FakeDevice device;
    std::vector<TrimProgress> seen;
    auto what = job(20);
    what.progress = [&](const TrimProgress& made) { seen.push_back(made); };
    run_trim(what, device);
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.front().position, group);
    EXPECT_EQ(seen.back().units, 20U);
    EXPECT_EQ(seen.back().position, 0U);
    EXPECT_EQ(seen.back().bytes, 20 * group);
}

TEST(DiskCounters, ReadsTheKernelsLine) {
    const auto counters = parse_disk_counters(
        "    8452        0   620610     1830     5290     3400   169416     7215        0     5140    11320      812 "
        "       0  6422528     2270      611        4\n");
    ASSERT_TRUE(counters);
    EXPECT_EQ(counters->use, (DiskUse{8452, 5290, milliseconds(9045)}));
    EXPECT_EQ(counters->discards, 812U);
    EXPECT_EQ(counters->discarded_bytes, 6422528U * 512);
    EXPECT_EQ(counters->written_bytes, 169416U * 512);
    EXPECT_TRUE(counters->counts_discards);
}

TEST(DiskCounters, AKernelWithoutDiscardFieldsCountsNone) {
    const auto counters = parse_disk_counters("1 2 3 4 5 6 7 8 9 10 11\n");
    ASSERT_TRUE(counters);
    EXPECT_FALSE(counters->counts_discards);
    for (const char* text : {"", "1 2 3", "a b c d e f g h i j k", "1 2 3 4 5 6 7 8 9 10 -1"})
        EXPECT_FALSE(parse_disk_counters(text)) << text;
}

}  // namespace
}  // namespace storpol
