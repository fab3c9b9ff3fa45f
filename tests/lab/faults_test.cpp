// SPDX-License-Identifier: GPL-3.0-or-later
// What goes wrong on real machines while something is applied: a kill, a second apply, a disk that is full or
// read-only.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/lab/lab.h"

namespace storpol::lab {
namespace {

// Keys of the network namespace that take any small number.
const std::vector<std::string> keys{"net.core.somaxconn",           "net.ipv4.tcp_fin_timeout",
                                    "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes",
                                    "net.ipv4.tcp_max_tw_buckets",  "net.ipv4.tcp_reordering"};

class FaultLab : public Lab {
  protected:
    void SetUp() override {
        Lab::SetUp();
        if (IsSkipped()) return;
        for (const auto& key : keys) ASSERT_TRUE(set_sysctl(key, "50"));
        want_all("61");
    }

    static void want_all(const std::string& value) {
        std::vector<std::string> lines;
        for (const auto& key : keys) lines.push_back(key + " = " + value);
        want(lines);
    }

    static std::set<std::string> values() {
        std::set<std::string> all;
        for (const auto& key : keys) all.insert(sysctl_value(key));
        return all;
    }

    // Nothing but whole files where storpol writes: no temporary one is left behind.
    static void expect_clean() {
        EXPECT_EQ(names_in("/etc/sysctl.d"), std::vector<std::string>{"zz-storpol.conf"});
        for (const auto& name : names_in("/var/lib/storpol")) {
            EXPECT_TRUE(name == "applied.json" || name == "journal") << name;
        }
    }

    // Whatever went wrong before, the next apply ends with everything as wanted.
    static void expect_converges(const std::string& value) {
        const Ran apply = storpol({"apply", "--yes"});
        ASSERT_EQ(apply.code, 0) << apply.all();
        EXPECT_EQ(values(), std::set<std::string>{value});
        expect_clean();
        const Ran plan = storpol({"plan", "--detailed-exitcode"});
        EXPECT_EQ(plan.code, 0) << plan.all();
    }
};

// Every n-th stop of the traced program; without a factor in common with the two stops of a call, so that entries and
// exits are both hit. The journal is cleared between kills: a longer one would add calls as fast as the sweep goes on.
TEST_F(FaultLab, KilledAtAnySystemCallEveryFileIsWholeAndTheNextApplyConverges) {
    std::string files[2];
    const std::string wanted[2] = {"62", "61"};
    for (int i : {0, 1}) {
        want_all(wanted[i]);
        ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
        files[i] = read_text(own_file);
    }
    ASSERT_NE(files[0], files[1]);
    int kills = 0;
    int interrupted = 0;
    constexpr int step = 11;
    for (int stop = 1;; stop += step) {
        const int now = kills % 2;
        want_all(wanted[now]);
        std::filesystem::remove_all("/var/lib/storpol");
        if (!kill_storpol_at(stop, {"apply", "--yes"})) break;
        ++kills;
        const std::string bytes = read_text(own_file);
        ASSERT_TRUE(bytes == files[0] || bytes == files[1]) << "torn at stop " << stop << ":\n" << bytes;
        const Ran plan = storpol({"plan"});
        ASSERT_EQ(plan.code, 0) << "at stop " << stop << "\n" << plan.all();
        if (plan.says("interrupted")) ++interrupted;
        expect_converges(wanted[now]);
        if (HasFailure()) FAIL() << "at stop " << stop;
    }
    EXPECT_GT(kills, 20);
    EXPECT_GT(interrupted, 0) << "no plan spoke of an interrupted apply";
}

TEST_F(FaultLab, KilledAtAnySystemCallOfARollbackTheNextApplyConverges) {
    constexpr int step = 19;
    int kills = 0;
    for (int stop = 1;; stop += step) {
        std::filesystem::remove_all("/var/lib/storpol");
        std::filesystem::remove(own_file);
        for (const auto& key : keys) ASSERT_TRUE(set_sysctl(key, "50"));
        ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
        if (!kill_storpol_at(stop, {"rollback", "--yes"})) break;
        ++kills;
        expect_converges("61");
        if (HasFailure()) FAIL() << "at stop " << stop;
    }
    EXPECT_GT(kills, 10);
}

TEST_F(FaultLab, LockHeldByAnotherApplyIsSaidAndNothingIsChanged) {
    std::filesystem::create_directories("/run/storpol");
    const int lock = open("/run/storpol/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(lock, 0);
    ASSERT_EQ(flock(lock, LOCK_EX), 0);
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 1) << apply.all();
    EXPECT_TRUE(apply.says("another")) << apply.all();
    EXPECT_EQ(values(), std::set<std::string>{"50"});
    EXPECT_EQ(storpol({"plan"}).code, 0);
    close(lock);
    expect_converges("61");
}

TEST_F(FaultLab, SeveralAppliesAtOnceLeaveOneWholeResult) {
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) children.push_back(start_storpol({"apply", "--yes"}));
    int applied = 0;
    for (const pid_t child : children) {
        const int code = wait_for(child);
        EXPECT_TRUE(code == 0 || code == 1) << code;
        if (code == 0) ++applied;
    }
    EXPECT_GE(applied, 1);
    EXPECT_EQ(values(), std::set<std::string>{"61"});
    expect_converges("61");
}

TEST_F(FaultLab, ReadOnlyEtcIsAFailedStepAndTheNextApplyCures) {
    ASSERT_EQ(mount(nullptr, "/etc", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr), 0);
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 1) << apply.all();
    EXPECT_TRUE(apply.says("Read-only file system")) << apply.all();
    EXPECT_TRUE(names_in("/etc/sysctl.d").empty());
    ASSERT_EQ(mount(nullptr, "/etc", nullptr, MS_REMOUNT | MS_BIND, nullptr), 0);
    expect_converges("61");
}

// Fills a small file system to its last byte.
void fill(const std::string& directory) {
    const int fd = open((directory + "/fill").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(fd, 0);
    const std::string page(4096, 'x');
    while (write(fd, page.data(), page.size()) > 0) {
    }
    close(fd);
}

TEST_F(FaultLab, FullDiskBelowEtcLeavesTheOldFileWhole) {
    ASSERT_EQ(mount("tmpfs", "/etc/sysctl.d", "tmpfs", 0, "size=64k,mode=0755"), 0);
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    const std::string before = read_text(own_file);
    fill("/etc/sysctl.d");
    want_all("62");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 1) << apply.all();
    EXPECT_TRUE(apply.says("No space left on device")) << apply.all();
    EXPECT_EQ(read_text(own_file), before);
    EXPECT_EQ(names_in("/etc/sysctl.d"), (std::vector<std::string>{"fill", "zz-storpol.conf"}));
    ASSERT_EQ(unlink("/etc/sysctl.d/fill"), 0);
    expect_converges("62");
}

TEST_F(FaultLab, FullDiskBelowTheJournalMeansThatNothingIsChanged) {
    std::filesystem::create_directories("/var/lib/storpol");
    ASSERT_EQ(mount("tmpfs", "/var/lib/storpol", "tmpfs", 0, "size=64k,mode=0755"), 0);
    fill("/var/lib/storpol");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 1) << apply.all();
    EXPECT_TRUE(apply.says("No space left on device")) << apply.all();
    EXPECT_EQ(values(), std::set<std::string>{"50"});
    EXPECT_TRUE(names_in("/etc/sysctl.d").empty());
    ASSERT_EQ(unlink("/var/lib/storpol/fill"), 0);
    expect_converges("61");
}

bool set_immutable(const std::string& path, bool on) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    int flags = 0;
    bool done = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;
    flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
    done = done && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
    if (fd >= 0) close(fd);
    return done;
}

TEST_F(FaultLab, ImmutableFileIsLeftAloneAndSaid) {
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    const std::string before = read_text(own_file);
    if (!set_immutable(own_file, true)) GTEST_SKIP() << "no immutable files on this kernel's tmpfs";
    want_all("62");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_TRUE(apply.code == 1 || apply.code == 2) << apply.all();
    EXPECT_TRUE(apply.says("immutable")) << apply.all();
    EXPECT_EQ(read_text(own_file), before);
    ASSERT_TRUE(set_immutable(own_file, false));
    expect_converges("62");
}

TEST_F(FaultLab, FileThatIsALinkOutOfEtcIsNotFollowed) {
    ASSERT_TRUE(write_text("/run/lab/elsewhere", "# mine\n"));
    ASSERT_EQ(symlink("/run/lab/elsewhere", own_file), 0);
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_NE(apply.code, 0) << apply.all();
    EXPECT_EQ(read_text("/run/lab/elsewhere"), "# mine\n");
}

TEST_F(FaultLab, LinesThatAPersonAddedToOurFileStay) {
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    ASSERT_TRUE(write_text(own_file, read_text(own_file) + "# by hand\nnet.ipv4.tcp_retries2 = 9\n"));
    want_all("62");
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    EXPECT_NE(read_text(own_file).find("# by hand\nnet.ipv4.tcp_retries2 = 9\n"), std::string::npos)
        << read_text(own_file);
}

TEST_F(FaultLab, DamagedRecordAndJournalNeverStopAPlan) {
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    ASSERT_TRUE(write_text("/var/lib/storpol/applied.json", "{\"format\": 1, \"applied\": [nul"));
    for (const auto& name : names_in("/var/lib/storpol/journal")) {
        ASSERT_TRUE(write_text("/var/lib/storpol/journal/" + name, std::string("\x00\xff{]\n", 5)));
    }
    EXPECT_EQ(storpol({"plan"}).code, 0);
    EXPECT_EQ(storpol({"drift"}).code, 0);
    EXPECT_EQ(storpol({"history"}).code, 1);
}

}  // namespace
}  // namespace storpol::lab
