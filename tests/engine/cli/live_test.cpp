// SPDX-License-Identifier: GPL-3.0-or-later
// apply on the running machine, in a mount namespace of its own where /etc, /var/lib and /run are empty and stay so
// outside.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>

#include "engine/base/handle.h"
#include "tests/engine/cli/program.h"

namespace storpol::test {
namespace {

using testing::HasSubstr;

class Live : public ProgramTest {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "needs root";
        if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            GTEST_SKIP() << "no private mount namespace to be had here";
        for (const char* place : {"/etc", "/var/lib", "/run"}) {
            ASSERT_EQ(mount("tmpfs", place, "tmpfs", 0, "mode=0755"), 0) << place;
            mounted_.push_back(place);
        }
        fs::create_directories("/run/systemd/system");
        swappiness_ = read_text("/proc/sys/vm/swappiness");
        swappiness_.pop_back();
        // Live is as wanted already, so that nothing of the real kernel is written.
        write_text("/etc/storpol/policy.toml", "version = 1\n[vm]\nswappiness = " + swappiness_ + "\n");
        write_text("/etc/sysctl.d/10-local.conf", "vm.swappiness = " + other() + "\n");
    }

    void TearDown() override {
        for (const char* place : mounted_) umount2(place, MNT_DETACH);
    }

    std::string other() const { return swappiness_ == "1" ? "2" : "1"; }

    static std::string own() { return read_text("/etc/sysctl.d/zz-storpol.conf"); }

    std::string swappiness_;
    std::vector<const char*> mounted_;
};

TEST_F(Live, ApplyWithoutArgumentsTakesTheHostsPolicyAndIsIdempotent) {
    EXPECT_EQ(storpol({"drift"}).code, 2);
    const Ran applied = storpol({"apply", "--yes"});
    ASSERT_EQ(applied.code, 0) << applied.err << applied.out;
    EXPECT_THAT(own(), HasSubstr("vm.swappiness"));
    EXPECT_EQ(storpol({"drift"}).code, 0);
    EXPECT_EQ(storpol({"plan", "--detailed-exitcode"}).code, 0);
    const Ran again = storpol({"apply"});  // nothing to do: nothing to ask
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.out, HasSubstr("nothing to do"));
    EXPECT_EQ(read_text("/proc/sys/vm/swappiness"), swappiness_ + "\n");
    EXPECT_EQ(storpol({"rollback", "--yes"}).code, 0);
    EXPECT_FALSE(fs::exists("/etc/sysctl.d/zz-storpol.conf"));
}

TEST_F(Live, TheSecondOfTwoAppliesIsTold) {
    fs::create_directories("/run/storpol");
    const Fd lock(open("/run/storpol/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(flock(lock.get(), LOCK_EX | LOCK_NB), 0);
    const Ran ran = storpol({"apply", "--yes"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("another storpol"));
    EXPECT_EQ(own(), "");
    EXPECT_EQ(storpol({"plan"}).code, 0);  // reading needs no lock
}

TEST_F(Live, AFullStateDirectoryStopsApplyBeforeItActs) {
    ASSERT_EQ(mount("tmpfs", "/var/lib", "tmpfs", MS_REMOUNT | MS_RDONLY, "mode=0755"), 0);
    const Ran ran = storpol({"apply", "--yes"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("Read-only file system"));
    EXPECT_EQ(own(), "");
}

}  // namespace
}  // namespace storpol::test
