// SPDX-License-Identifier: GPL-3.0-or-later
// zram0 of the running kernel, where nobody uses it: reset at the end. Swap is the whole machine's, so only with
// STORPOL_LAB=1.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <thread>

#include "engine/base/text.h"
#include "engine/host/swaps.h"
#include "tests/lab/lab.h"
#include "tests/support/zram_turn.h"

namespace storpol::lab {
namespace {

// The own unit knows no limit.
constexpr const char* no_limit_at_boot =
    "[[accept]]\naddress = 'zram[\"zram0\"].resident-limit'\nplanes = [\"persisted\"]\nuntil = 2999-12-31\nreason = "
    "\"lab\"\n";

constexpr std::size_t mib = std::size_t{1} << 20U;

std::string trimmed(const std::string& path) {
    return std::string(trim(read_text(path)));
}

class ZramLab : public Lab {
  protected:
    void SetUp() override {
        if (!may_change_the_machine()) GTEST_SKIP() << "swap is the whole machine's: STORPOL_LAB=1";
        Lab::SetUp();
        if (IsSkipped()) return;
        if (access("/sys/class/zram-control/hot_add", R_OK) != 0) GTEST_SKIP() << "no zram here";
        turn_.emplace();
        // A systemd machine without any owner of zram, so that the own unit is the one.
        run({"/usr/bin/mkdir", "-p", "/run/systemd/system"});
        const char* generators = "/usr/lib/systemd/system-generators";
        const bool hidden = access(generators, F_OK) != 0 || mount("none", generators, "tmpfs", 0, nullptr) == 0;
        ASSERT_TRUE(hidden);
        run({"/usr/bin/rm", "-rf", "/etc/systemd/zram-generator.conf", "/etc/systemd/zram-generator.conf.d",
             "/etc/default/zramswap"});
        // The own unit sets up zram0: one that is there and nobody's is borrowed, and reset at the end.
        is_added_ = access("/sys/block/zram0", F_OK) != 0;
        const bool is_there = !is_added_ || trimmed("/sys/class/zram-control/hot_add") == "0";
        ASSERT_TRUE(is_there);
        if (trimmed("/sys/block/zram0/disksize") != "0") GTEST_SKIP() << "zram0 is in use here";
        name_ = "zram0";
        if (attribute("comp_algorithm").find("lz4") == std::string::npos)
            GTEST_SKIP() << "this kernel's zram has no lz4";
    }

    void TearDown() override {
        if (name_.empty()) return;
        swapoff(device().c_str());
        for (int tries = 0; tries < 30; ++tries) {
            if (is_added_ ? write_text("/sys/class/zram-control/hot_remove", "0")
                          : write_text("/sys/block/zram0/reset", "1"))
                return;
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        ADD_FAILURE() << name_ << " could not be put back";
    }

    std::string device() const { return "/dev/" + name_; }

    std::string attribute(const std::string& attribute) const {
        return trimmed("/sys/block/" + name_ + "/" + attribute);
    }

    void ask(const std::string& lines) const { ASSERT_TRUE(write_text(policy_file, "version = 1\n[zram]\n" + lines)); }

    std::optional<SwapArea> area() const {
        const auto areas = parse_swaps(read_text("/proc/swaps"));
        const auto* found = find_swap(areas, device());
        return found == nullptr ? std::nullopt : std::optional<SwapArea>(*found);
    }

    // Each mkswap writes another one.
    std::string swap_uuid() const {
        std::string bytes(1052, '\0');
        const int fd = open(device().c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0 || pread(fd, bytes.data(), bytes.size(), 0) != 1052) bytes.clear();
        close(fd);
        return bytes.empty() ? bytes : bytes.substr(1036, 16);
    }

    std::string limit() const { return std::string(split_words(attribute("mm_stat")).at(3)); }

    std::optional<ZramTurn> turn_;
    std::string name_;
    bool is_added_ = false;
};

TEST_F(ZramLab, ApplySetsItUpAndThenAllHolds) {
    ask("size = \"64MiB\"\nalgorithm = \"lz4\"\npriority = 42\nresident-limit = \"48MiB\"\n" +
        std::string(no_limit_at_boot));
    const Ran plan = storpol({"plan"});
    EXPECT_TRUE(plan.says("set it up as swap: 64MiB of lz4")) << plan.all();
    EXPECT_FALSE(area()) << "a plan changes nothing";
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 0) << apply.all();
    EXPECT_EQ(attribute("disksize"), std::to_string(64 * mib));
    EXPECT_NE(attribute("comp_algorithm").find("[lz4]"), std::string::npos);
    EXPECT_EQ(limit(), std::to_string(48 * mib));
    ASSERT_TRUE(area());
    EXPECT_EQ(area()->priority, 42);
    const Ran drift = storpol({"drift"});
    EXPECT_EQ(drift.code, 0) << drift.all();
}

TEST_F(ZramLab, ResizeAndOtherAlgorithmGoThroughAReset) {
    ask("size = \"64MiB\"\nalgorithm = \"lz4\"\npriority = 5\n");
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    ask("size = \"32MiB\"\nalgorithm = \"lzo-rle\"\npriority = 5\n");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 0) << apply.all();
    EXPECT_EQ(attribute("disksize"), std::to_string(32 * mib));
    EXPECT_NE(attribute("comp_algorithm").find("[lzo-rle]"), std::string::npos);
    ASSERT_TRUE(area());
    EXPECT_EQ(area()->priority, 5);
    const Ran back = storpol({"rollback", "--yes"});
    EXPECT_EQ(back.code, 0) << back.all();
    EXPECT_EQ(attribute("disksize"), std::to_string(64 * mib)) << back.all();
    EXPECT_NE(attribute("comp_algorithm").find("[lz4]"), std::string::npos);
    ASSERT_TRUE(area());
}

TEST_F(ZramLab, PriorityAndLimitNeedNoReset) {
    ask("size = \"64MiB\"\nalgorithm = \"lz4\"\npriority = 5\n");
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    const auto uuid = swap_uuid();
    ask("size = \"64MiB\"\nalgorithm = \"lz4\"\npriority = 77\n");
    const Ran other = storpol({"apply", "--yes"});
    EXPECT_EQ(other.code, 0) << other.all();
    ASSERT_TRUE(area());
    EXPECT_EQ(area()->priority, 77);
    ask("size = \"64MiB\"\nresident-limit = \"32MiB\"\n" + std::string(no_limit_at_boot));
    const Ran limited = storpol({"apply", "--yes"});
    EXPECT_EQ(limited.code, 0) << limited.all();
    EXPECT_EQ(limit(), std::to_string(32 * mib));
    EXPECT_FALSE(uuid.empty());
    EXPECT_EQ(swap_uuid(), uuid) << "it was not made anew";
}

TEST_F(ZramLab, LevelIsKnownFromTheRecordAlone) {
    if (access("/sys/block/zram0/algorithm_params", F_OK) != 0) GTEST_SKIP() << "this kernel sets no levels";
    ask("size = \"64MiB\"\nalgorithm = \"lz4\"\nlevel = 3\n");
    const Ran before = storpol({"plan"});
    EXPECT_TRUE(before.says("cannot be read back")) << before.all();
    storpol({"apply", "--yes"});
    ASSERT_TRUE(area());
    const Ran after = storpol({"plan"});
    EXPECT_TRUE(after.says("unknown live cannot be read back")) << after.all();
    EXPECT_TRUE(after.says("last applied: 3")) << after.all();
    EXPECT_FALSE(after.says("set-up-zram")) << "what is unknown never acts: " << after.all();
}

TEST_F(ZramLab, AlgorithmThatTheKernelLacksIsSaidAndNotReplaced) {
    ask("size = \"64MiB\"\nalgorithm = \"lz5\"\n");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 2) << apply.all();
    EXPECT_TRUE(apply.says("this kernel has no lz5")) << apply.all();
}

TEST_F(ZramLab, MountedFilesystemIsLeftAlone) {
    ASSERT_TRUE(write_text("/sys/block/" + name_ + "/disksize", std::to_string(64 * mib)));
    const Ran made = run({"/usr/sbin/mkfs.ext4", "-qF", device()});
    if (made.code != 0) GTEST_SKIP() << "no mkfs.ext4 here";
    run({"/usr/bin/mkdir", "-p", "/run/lab/here"});
    ASSERT_EQ(run({"/usr/bin/mount", device(), "/run/lab/here"}).code, 0);
    ask("size = \"32MiB\"\n");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 2) << apply.all();
    EXPECT_TRUE(apply.says("mounted at /run/lab/here")) << apply.all();
    EXPECT_EQ(attribute("disksize"), std::to_string(64 * mib));
    run({"/usr/bin/umount", "/run/lab/here"});
    const Ran unmounted = storpol({"apply", "--yes"});
    EXPECT_EQ(unmounted.code, 1) << unmounted.all();
    EXPECT_TRUE(unmounted.says("something else than swap")) << unmounted.all();
    EXPECT_EQ(attribute("disksize"), std::to_string(64 * mib));
}

TEST_F(ZramLab, DeviceThatStaysOpenKeepsItsSwap) {
    ask("size = \"64MiB\"\nalgorithm = \"lz4\"\npriority = 5\n");
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    const int holder = open(device().c_str(), O_RDONLY | O_CLOEXEC);
    ask("size = \"32MiB\"\nalgorithm = \"lz4\"\npriority = 5\n");
    const Ran apply = storpol({"apply", "--yes"});
    close(holder);
    EXPECT_EQ(apply.code, 1) << apply.all();
    EXPECT_TRUE(apply.says("busy")) << apply.all();
    EXPECT_EQ(attribute("disksize"), std::to_string(64 * mib));
    ASSERT_TRUE(area());
    EXPECT_EQ(area()->priority, 5);
    EXPECT_EQ(storpol({"apply", "--yes"}).code, 0) << "and once it is closed it goes through";
    EXPECT_EQ(attribute("disksize"), std::to_string(32 * mib));
}

// Killed at any system call, the next apply brings it to an end.
TEST_F(ZramLab, KilledAnywhereItConverges) {
    ask("size = \"64MiB\"\nalgorithm = \"lz4\"\npriority = 5\n");
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    bool small = true;
    bool was_running = true;
    for (int stop = 40; was_running && stop < 6000; stop += 61) {
        ask(std::string("size = \"") + (small ? "32MiB" : "64MiB") + "\"\nalgorithm = \"" + (small ? "lzo" : "lz4") +
            "\"\npriority = 5\n");
        was_running = kill_storpol_at(stop, {"apply", "--yes"});
        const Ran apply = storpol({"apply", "--yes"});
        ASSERT_EQ(apply.code, 0) << "killed at " << stop << ": " << apply.all();
        ASSERT_EQ(attribute("disksize"), std::to_string((small ? 32 : 64) * mib)) << stop;
        ASSERT_TRUE(area()) << stop;
        ASSERT_EQ(area()->priority, 5) << stop;
        small = !small;
    }
    EXPECT_FALSE(was_running) << "it was killed at stops up to its end";
}

// A group of the memory controller with a limit, and a process in it that needs more.
class Squeezed {
  public:
    Squeezed(std::size_t limit, std::size_t bytes) {
        const bool second = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
        folder_ = second ? "/sys/fs/cgroup/storpol-lab" : "/sys/fs/cgroup/memory/storpol-lab";
        if (mkdir(folder_.c_str(), 0755) != 0) return;
        const auto file = folder_ + (second ? "/memory.max" : "/memory.limit_in_bytes");
        if (!write_text(file, std::to_string(limit))) return;
        child_ = fork();
        if (child_ == 0) fill(bytes);
    }

    ~Squeezed() {
        if (child_ > 0) {
            kill(child_, SIGKILL);
            wait_for(child_);
        }
        for (int tries = 0; tries < 50 && rmdir(folder_.c_str()) != 0; ++tries)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }

    Squeezed(const Squeezed&) = delete;
    Squeezed& operator=(const Squeezed&) = delete;

    bool ok() const { return child_ > 0; }

    const std::string& folder() const { return folder_; }

  private:
    [[noreturn]] void fill(std::size_t bytes) const {
        write_text(folder_ + "/cgroup.procs", "0");
        void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) _exit(1);
        std::uint64_t seed = 88172645463325252ULL;  // pages that are all alike cost zram nothing
        auto* words = static_cast<std::uint64_t*>(memory);
        for (std::size_t at = 0; at < bytes / sizeof *words; ++at) {
            seed ^= seed << 13U;
            seed ^= seed >> 7U;
            seed ^= seed << 17U;
            words[at] = at % 512 < 200 ? seed : 0;
        }
        for (;;) pause();
    }

    std::string folder_;
    pid_t child_ = -1;
};

TEST_F(ZramLab, GroupWithoutRoomForItsPagesIsNotKilled) {
    ask("size = \"256MiB\"\nalgorithm = \"lz4\"\npriority = 1000\n");
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    const Squeezed squeezed(64 * mib, 160 * mib);
    if (!squeezed.ok()) GTEST_SKIP() << "no memory controller here";
    for (int tries = 0; tries < 100 && area()->used_kib < 90 * 1024; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (area()->used_kib < 90 * 1024) GTEST_SKIP() << "the group's pages are not swapped out here";
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ask("size = \"128MiB\"\nalgorithm = \"lz4\"\npriority = 1000\n");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_TRUE(apply.says(squeezed.folder())) << apply.all();
    EXPECT_TRUE(apply.says("until a reboot")) << apply.all();
    EXPECT_EQ(attribute("disksize"), std::to_string(256 * mib));
    ASSERT_TRUE(area());
    EXPECT_GT(area()->used_kib, 60 * 1024);
}

}  // namespace
}  // namespace storpol::lab
