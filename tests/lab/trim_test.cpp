// SPDX-License-Identifier: GPL-3.0-or-later
// storpol trim on real filesystems: ext4, xfs and btrfs on loop devices.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

#include "engine/model/trim_record.h"
#include "tests/lab/lab.h"
#include "tests/lab/loop_disk.h"

namespace storpol::lab {
namespace {

using namespace std::chrono_literals;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> records() {
    std::vector<std::string> found;
    for (const auto& name : names_in("/var/lib/storpol/trim")) {
        if (name.ends_with(".json")) found.push_back("/var/lib/storpol/trim/" + name);
    }
    return found;
}

TrimRecord record_in(const std::string& path) {
    const auto record = parse_trim_record(read_text(path));
    EXPECT_TRUE(record) << path << ": " << (record ? "" : record.error().what);
    return record.value_or(TrimRecord());
}

TrimRecord only_record() {
    const auto found = records();
    EXPECT_EQ(found.size(), 1U);
    return found.size() == 1 ? record_in(found.front()) : TrimRecord();
}

std::uint64_t discards_of(const LoopDisk& disk) {
    const auto text = read_text("/sys/block/" + disk.name() + "/stat");
    std::vector<std::uint64_t> numbers;
    for (std::size_t at = 0; at < text.size();) {
        const auto begin = text.find_first_not_of(" \n", at);
        if (begin == std::string::npos) break;
        at = std::min(text.find_first_of(" \n", begin), text.size());
        numbers.push_back(std::stoull(text.substr(begin, at - begin)));
    }
    return numbers.size() > 11 ? numbers[11] : 0;
}

// Discards since it was made: the counters of a loop device outlive the file on it.
class DiscardCount {
  public:
    explicit DiscardCount(const LoopDisk& disk) : disk_(disk), before_(discards_of(disk)) {}

    std::uint64_t now() const { return discards_of(disk_) - before_; }

  private:
    const LoopDisk& disk_;
    std::uint64_t before_;
};

// Somebody who writes 4 KiB after 4 KiB to one file, each durable before the next.
class Writer {
  public:
    explicit Writer(const std::string& path) : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_DSYNC | O_CLOEXEC, 0600)) {
        thread_ = std::thread([this] {
            const std::string block(4096, 'w');
            for (off_t at = 0; !stop_; at = (at + 4096) % (1 << 20)) {
                if (pwrite(fd_, block.data(), block.size(), at) < 0) return;
            }
        });
    }

    ~Writer() { end(); }

    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void end() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
        if (fd_ >= 0) close(fd_);
        fd_ = -1;
    }

  private:
    int fd_;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

// Somebody who reads the disk and does not hold the filesystem on it.
class Reader {
  public:
    explicit Reader(const std::string& device) : fd_(open(device.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC)) {
        thread_ = std::thread([this] {
            alignas(4096) static char block[4096];
            for (off_t at = 0; !stop_; at = (at + 4096) % (1 << 24)) {
                if (pread(fd_, block, sizeof block, at) < 0) return;
            }
        });
    }

    ~Reader() {
        stop_ = true;
        thread_.join();
        if (fd_ >= 0) close(fd_);
    }

    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

  private:
    int fd_;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

class TrimLab : public Lab {
  protected:
    void SetUp() override {
        Lab::SetUp();
        if (IsSkipped()) return;
        ASSERT_TRUE(write_text("/etc/fstab", ""));
    }

    void policy(const std::string& text) const {
        run({"/usr/bin/mkdir", "-p", "/etc/storpol"});
        ASSERT_TRUE(write_text(policy_file, "version = 1\n" + text));
    }

    // Files of 4 KiB, every second one deleted again: a trim of some seconds beside a writer.
    void fragment(const std::string& target) const {
        for (int number = 0; number < 3000; ++number) {
            if (number % 500 == 0) std::filesystem::create_directories(target + "/d" + std::to_string(number / 500));
            write_text(target + "/d" + std::to_string(number / 500) + "/" + std::to_string(number),
                       std::string(4096, 'x'));
        }
        sync();
        for (int number = 0; number < 3000; number += 2)
            unlink((target + "/d" + std::to_string(number / 500) + "/" + std::to_string(number)).c_str());
        sync();
    }

    // Waits until the run has noted where it stands.
    static bool has_begun() {
        for (int tries = 0; tries < 600; ++tries, std::this_thread::sleep_for(50ms)) {
            if (!records().empty()) return true;
        }
        return false;
    }

    const std::string base_ = "/tmp/storpol-lab-trim-" + std::to_string(getpid());
};

#define NEED(disk) \
    if (!(disk).ok()) GTEST_SKIP() << "no loop device or no mkfs for it"

TEST_F(TrimLab, EachFilesystemIsTrimmedOnceAndRemembered) {
    const LoopDisk ext4("ext4", base_ + "-e"), xfs("xfs", base_ + "-x"), btrfs("btrfs", base_ + "-b");
    NEED(ext4);
    NEED(xfs);
    NEED(btrfs);
    std::filesystem::create_directories(base_ + "-again");
    ASSERT_EQ(::mount((base_ + "-e").c_str(), (base_ + "-again").c_str(), nullptr, MS_BIND, nullptr), 0);
    const Ran ran = storpol({"trim", base_ + "-e", base_ + "-x", base_ + "-b", base_ + "-again"});
    EXPECT_EQ(ran.code, 0) << ran.all();
    for (const auto* disk : {&ext4, &xfs, &btrfs}) {
        EXPECT_TRUE(has(ran.out, " bytes) trimmed on " + disk->device() + " in ")) << ran.all();
        EXPECT_TRUE(has(ran.out, "counted by " + disk->name())) << ran.all();
        EXPECT_GT(discards_of(*disk), 0U);
    }
    EXPECT_FALSE(has(ran.out, base_ + "-again: ")) << ran.out;
    const auto found = records();
    EXPECT_EQ(found.size(), 3U);
    for (const auto& path : found) {
        const auto record = record_in(path);
        EXPECT_EQ(record.uuid.size(), 36U);
        ASSERT_TRUE(record.last_success);
        EXPECT_GT(record.last_success->bytes, 1 << 20);
        EXPECT_GT(record.last_success->discards.value_or(0), 0);
        EXPECT_FALSE(record.resume);
    }
    umount2((base_ + "-again").c_str(), MNT_DETACH);
    std::filesystem::remove(base_ + "-again");
}

TEST_F(TrimLab, GivesBackWhatFstrimWould) {
    const auto trimmed_by = [&](const std::string& fstype, bool ours) {
        const LoopDisk disk(fstype, base_ + "-c");
        if (!disk.ok()) return std::int64_t{-1};
        fragment(base_ + "-c");
        if (ours) {
            const Ran ran = storpol({"trim", base_ + "-c"});
            EXPECT_EQ(ran.code, 0) << ran.all();
        } else {
            run({"/usr/sbin/fstrim", base_ + "-c"});
        }
        sync();
        struct stat about {};
        stat(("/tmp/storpol-lab-" + std::to_string(getpid()) + "-" + fstype + ".img").c_str(), &about);
        return static_cast<std::int64_t>(about.st_blocks) * 512;
    };
    for (const char* fstype : {"ext4", "xfs", "btrfs"}) {
        const auto ours = trimmed_by(fstype, true);
        if (ours < 0) GTEST_SKIP() << "no loop device or no mkfs." << fstype;
        const auto theirs = trimmed_by(fstype, false);
        // Where blocks lie differs a little from one making to the next; XFS misses some in whole calls.
        EXPECT_LE(ours, theirs + theirs / 20) << fstype;
        const bool misses_some = std::string(fstype) == "xfs";
        EXPECT_GE(ours, misses_some ? 0 : theirs - theirs / 20) << fstype;
    }
}

TEST_F(TrimLab, ADryRunSaysWhatItWouldDoAndDoesNothing) {
    const LoopDisk disk("ext4", base_);
    NEED(disk);
    const DiscardCount discards(disk);
    const Ran ran = storpol({"trim", "--dry-run", base_});
    EXPECT_EQ(ran.code, 0) << ran.all();
    EXPECT_TRUE(has(ran.out, base_ + ": would be trimmed: all free extents")) << ran.all();
    EXPECT_EQ(discards.now(), 0U);
    EXPECT_TRUE(records().empty());
    const Ran json = storpol({"trim", "--dry-run", "--format", "json", base_});
    EXPECT_TRUE(has(json.out, "\"outcome\": \"would-trim\"")) << json.all();
}

TEST_F(TrimLab, WhatIsLeftOutHasItsReason) {
    const LoopDisk disk("ext4", base_);
    NEED(disk);
    const DiscardCount discards(disk);
    ASSERT_TRUE(write_text("/etc/fstab", disk.device() + " " + base_ + " ext4 defaults,X-fstrim.notrim 0 0\n"));
    Ran ran = storpol({"trim", base_});
    EXPECT_EQ(ran.code, 0) << ran.all();
    EXPECT_TRUE(has(ran.out, "skipped: X-fstrim.notrim (/etc/fstab:1)")) << ran.all();
    ASSERT_TRUE(write_text("/etc/fstab", ""));
    policy("[[mount]]\nmatch = { target = \"" + base_ + "\" }\nfstrim = { enabled = false }\n");
    ran = storpol({"trim", base_});
    EXPECT_TRUE(has(ran.out, "skipped: the policy leaves it out")) << ran.all();
    policy("[discard]\nfilesystem = \"never\"\n");
    ran = storpol({"trim", base_});
    EXPECT_TRUE(has(ran.out, "skipped: the policy wants it never discarded")) << ran.all();
    policy("[fstrim]\nenabled = false\n");
    ran = storpol({"trim", "--scheduled", base_});
    EXPECT_TRUE(has(ran.out, "skipped: the policy wants no scheduled trims")) << ran.all();
    EXPECT_EQ(discards.now(), 0U);
    ran = storpol({"trim", base_});
    EXPECT_TRUE(has(ran.out, "trimmed on")) << "a person asks: " << ran.all();
    EXPECT_EQ(storpol({"trim", "/proc"}).code, 1);
    EXPECT_EQ(storpol({"trim", "srv"}).code, 1);
}

TEST_F(TrimLab, AFloorLeavesSmallExtentsForTheNextFullPass) {
    const LoopDisk disk("ext4", base_);
    NEED(disk);
    fragment(base_);
    const DiscardCount discards(disk);
    policy("[fstrim]\nrunner = \"storpol\"\nmin-extent = \"1MiB\"\n");
    const Ran with_floor = storpol({"trim", base_});
    EXPECT_EQ(with_floor.code, 0) << with_floor.all();
    EXPECT_LT(discards.now(), 100U);
    policy("[fstrim]\nrunner = \"storpol\"\nmin-extent = \"1MiB\"\nfull-pass = \"monthly\"\n");
    const Ran full = storpol({"trim", base_});
    EXPECT_EQ(full.code, 0) << full.all();
    EXPECT_GT(discards.now(), 500U) << full.all();
    EXPECT_TRUE(only_record().last_full);
    EXPECT_EQ(storpol({"trim", base_}).code, 0);
    EXPECT_EQ(only_record().runs.back().min_extent, 1 << 20) << "not again this month";
}

TEST_F(TrimLab, BlockedBelowIsSaidAndIsNoSuccess) {
    // ramfs cannot punch holes, so a loop device over a file in it takes no discards.
    std::filesystem::create_directories(base_ + "/ram");
    std::filesystem::create_directories(base_ + "/mnt");
    ASSERT_EQ(::mount("none", (base_ + "/ram").c_str(), "ramfs", 0, nullptr), 0);
    ASSERT_TRUE(write_text(base_ + "/ram/image", std::string(16 << 20, '\0')));
    ASSERT_EQ(run({"/usr/sbin/mkfs.ext4", "-q", "-F", base_ + "/ram/image"}).code, 0);
    const Ran mounted = run({"/usr/bin/mount", "-o", "loop", base_ + "/ram/image", base_ + "/mnt"});
    if (mounted.code != 0) GTEST_SKIP() << mounted.err;
    const Ran ran = storpol({"trim", base_ + "/mnt"});
    EXPECT_EQ(ran.code, 0) << ran.all();
    EXPECT_TRUE(has(ran.out, "skipped: blocked by loop")) << ran.all();
    EXPECT_FALSE(only_record().last_success);
    run({"/usr/bin/umount", base_ + "/mnt"});
    run({"/usr/bin/umount", base_ + "/ram"});
    std::filesystem::remove_all(base_);
}

TEST_F(TrimLab, AFrozenFilesystemIsTrimmedAndStaysFrozen) {
    const LoopDisk disk("ext4", base_);
    NEED(disk);
    ASSERT_EQ(run({"/usr/sbin/fsfreeze", "-f", base_}).code, 0);
    const Ran ran = storpol({"trim", base_});
    EXPECT_EQ(run({"/usr/sbin/fsfreeze", "-u", base_}).code, 0);
    EXPECT_EQ(ran.code, 0) << ran.all();
    EXPECT_TRUE(has(ran.out, "trimmed on")) << ran.all();
}

TEST_F(TrimLab, AKilledRunLeavesWhereItStoodAndTheNextGoesOnThere) {
    const LoopDisk disk("xfs", base_);
    NEED(disk);
    fragment(base_);
    Writer writer(base_ + "/w");
    const pid_t child = start_storpol({"trim", base_});
    const bool begun = has_begun();
    kill(child, SIGKILL);
    const int code = wait_for(child);
    writer.end();
    if (!begun || code != 128 + SIGKILL) GTEST_SKIP() << "it was done before it could be killed";
    const auto left = only_record();
    ASSERT_TRUE(left.resume) << read_text(records().front());
    EXPECT_GT(left.resume->position, 0);
    EXPECT_TRUE(left.runs.empty());
    const Ran again = storpol({"trim", "--format", "json", base_});
    EXPECT_EQ(again.code, 0) << again.all();
    EXPECT_TRUE(has(again.out, "\"resumed\": true")) << again.all();
    EXPECT_FALSE(only_record().resume);
}

TEST_F(TrimLab, ASignalEndsItCleanly) {
    const LoopDisk disk("xfs", base_);
    NEED(disk);
    fragment(base_);
    Writer writer(base_ + "/w");
    const pid_t child = start_storpol({"trim", base_});
    const bool begun = has_begun();
    kill(child, SIGTERM);
    const int code = wait_for(child);
    writer.end();
    if (!begun || code == 0) GTEST_SKIP() << "it was done before the signal came";
    EXPECT_EQ(code, 2);
    const auto record = only_record();
    ASSERT_FALSE(record.runs.empty());
    EXPECT_EQ(record.runs.back().outcome, TrimOutcome::interrupted);
    EXPECT_EQ(record.runs.back().why, "SIGTERM");
    EXPECT_TRUE(record.resume);
}

TEST_F(TrimLab, AnUnmountInMidTrimIsNotHeldUp) {
    const LoopDisk disk("xfs", base_);
    NEED(disk);
    fragment(base_);
    const Reader reader(disk.device());
    const pid_t child = start_storpol({"trim", base_});
    const bool begun = has_begun();
    bool unmounted = false;
    for (int tries = 0; begun && !unmounted && tries < 1000; ++tries, std::this_thread::sleep_for(5ms))
        unmounted = ::umount2(base_.c_str(), 0) == 0;
    const int code = wait_for(child);
    EXPECT_TRUE(unmounted) << "between slices nothing is held open";
    if (code == 0) GTEST_SKIP() << "it was done before the unmount";
    EXPECT_EQ(code, 2);
    EXPECT_EQ(only_record().runs.back().outcome, TrimOutcome::interrupted);
}

TEST_F(TrimLab, ItEndsWithItsWindowHoweverBusyTheDiskIs) {
    const LoopDisk disk("xfs", base_);
    NEED(disk);
    fragment(base_);
    policy("[fstrim]\nrunner = \"storpol\"\nwindow = \"2s\"\n");
    Writer writer(base_ + "/w");
    const auto began = std::chrono::steady_clock::now();
    const Ran ran = storpol({"trim", base_});
    const auto took = std::chrono::steady_clock::now() - began;
    writer.end();
    EXPECT_TRUE(ran.code == 0 || (ran.code == 2 && has(ran.out, "the window is over"))) << ran.all();
    EXPECT_LT(took, 10s);
}

TEST_F(TrimLab, TwoRunsAtOnceFollowEachOther) {
    const LoopDisk disk("ext4", base_);
    NEED(disk);
    const DiscardCount discards(disk);
    std::filesystem::create_directories("/run/storpol");
    const int lock = open("/run/storpol/trim.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    ASSERT_EQ(flock(lock, LOCK_EX | LOCK_NB), 0);
    policy("[fstrim]\nrunner = \"storpol\"\nwindow = \"1s\"\n");
    const Ran waits = storpol({"trim", base_});
    EXPECT_EQ(waits.code, 1) << waits.all();
    EXPECT_TRUE(waits.says("another storpol trim")) << waits.all();
    EXPECT_EQ(discards.now(), 0U);
    policy("");
    const pid_t child = start_storpol({"trim", base_});
    std::this_thread::sleep_for(300ms);
    close(lock);
    EXPECT_EQ(wait_for(child), 0);
    EXPECT_GT(discards.now(), 0U);
}

TEST_F(TrimLab, ARunningFstrimIsWaitedFor) {
    const LoopDisk disk("ext4", base_);
    NEED(disk);
    ASSERT_EQ(run({"/usr/bin/cp", "/usr/bin/sleep", "/run/lab/fstrim"}).code, 0);
    std::thread other([] { run({"/run/lab/fstrim", "2"}); });
    std::this_thread::sleep_for(200ms);
    const Ran ran = storpol({"trim", base_});
    other.join();
    EXPECT_EQ(ran.code, 0) << ran.all();
    EXPECT_TRUE(ran.says("waiting for fstrim (process")) << ran.all();
}

TEST_F(TrimLab, OnBatteryAScheduledTrimIsSkipped) {
    const LoopDisk disk("ext4", base_);
    NEED(disk);
    const DiscardCount discards(disk);
    if (::mount("none", "/sys/class/power_supply", "tmpfs", 0, "mode=755") != 0)
        GTEST_SKIP() << "no /sys/class/power_supply to put a battery into";
    std::filesystem::create_directories("/sys/class/power_supply/BAT0");
    ASSERT_TRUE(write_text("/sys/class/power_supply/BAT0/type", "Battery\n"));
    ASSERT_TRUE(write_text("/sys/class/power_supply/BAT0/status", "Discharging\n"));
    const Ran scheduled = storpol({"trim", "--scheduled", base_});
    EXPECT_EQ(scheduled.code, 0) << scheduled.all();
    EXPECT_TRUE(has(scheduled.out, "skipped: on battery")) << scheduled.all();
    EXPECT_EQ(discards.now(), 0U);
    policy("[fstrim]\non-battery = \"run\"\n");
    EXPECT_TRUE(has(storpol({"trim", "--scheduled", base_}).out, "trimmed on"));
    umount2("/sys/class/power_supply", MNT_DETACH);
}

TEST_F(TrimLab, AnHourlyJobTrimsWhatIsDueAndIsQuiet) {
    const LoopDisk disk("ext4", base_);
    NEED(disk);
    const DiscardCount discards(disk);
    policy("[fstrim]\nschedule = \"yearly\"\n");
    const Ran first = storpol({"trim", "--scheduled", "--when-due", base_});
    EXPECT_EQ(first.code, 0) << first.all();
    EXPECT_EQ(first.all(), "") << "cron would mail it";
    const auto after_first = discards.now();
    EXPECT_GT(after_first, 0U);
    const Ran second = storpol({"trim", "--scheduled", "--when-due", "--verbose", base_});
    EXPECT_EQ(second.code, 0) << second.all();
    EXPECT_TRUE(has(second.out, "skipped: not due before ")) << second.all();
    EXPECT_EQ(discards.now(), after_first);
    EXPECT_EQ(storpol({"trim", "--when-due", base_}).code, 1) << "not without --scheduled";
    EXPECT_TRUE(has(storpol({"trim", base_}).out, "trimmed on")) << "a person asks";
}

TEST_F(TrimLab, ADamagedRecordIsPutAsideAndANewerOneLeftAlone) {
    const LoopDisk disk("ext4", base_);
    NEED(disk);
    ASSERT_EQ(storpol({"trim", base_}).code, 0);
    const auto path = records().front();
    ASSERT_TRUE(write_text(path, "{ \"format\": 1, \"ru"));
    const Ran damaged = storpol({"trim", base_});
    EXPECT_EQ(damaged.code, 0) << damaged.all();
    EXPECT_TRUE(damaged.says("put aside as .broken")) << damaged.all();
    EXPECT_EQ(read_text(path + ".broken"), "{ \"format\": 1, \"ru");
    EXPECT_EQ(only_record().runs.size(), 1U);
    ASSERT_TRUE(write_text(path, "{ \"format\": 7 }\n"));
    const Ran newer = storpol({"trim", base_});
    EXPECT_EQ(newer.code, 0) << newer.all();
    EXPECT_TRUE(newer.says("not remembered")) << newer.all();
    EXPECT_EQ(read_text(path), "{ \"format\": 7 }\n");
}

TEST_F(TrimLab, ReadOnlyFilesystemsAreSkipped) {
    const LoopDisk disk("ext4", base_, "ro");
    NEED(disk);
    const Ran ran = storpol({"trim", base_});
    EXPECT_EQ(ran.code, 0) << ran.all();
    EXPECT_TRUE(has(ran.out, "skipped: mounted read-only")) << ran.all();
}

}  // namespace
}  // namespace storpol::lab
