// SPDX-License-Identifier: GPL-3.0-or-later
// Mount options on real filesystems: ext4, xfs and btrfs on loop devices, fstab in the test's own /etc.
#include <sys/mount.h>
#include <unistd.h>

#include <memory>

#include "tests/lab/lab.h"
#include "tests/lab/loop_disk.h"

namespace storpol::lab {
namespace {

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class MountLab : public Lab {
  protected:
    void SetUp() override {
        Lab::SetUp();
        if (IsSkipped()) return;
        ext4_ = std::make_unique<LoopDisk>("ext4", base_ + "/e", "nosuid,nodev");
        xfs_ = std::make_unique<LoopDisk>("xfs", base_ + "/x");
        btrfs_ = std::make_unique<LoopDisk>("btrfs", base_ + "/b");
        if (!ext4_->ok() || !xfs_->ok() || !btrfs_->ok())
            GTEST_SKIP() << "no loop devices, or no mkfs for ext4, xfs and btrfs";
        fstab_ = "# a comment\n" + ext4_->device() + "\t" + base_ + "/e  ext4\tdefaults,nosuid,nodev  0 2\n" +
                 xfs_->device() + " " + base_ + "/x xfs noatime\n" + btrfs_->device() + " " + base_ +
                 "/b btrfs compress=zstd 0 0\nbad line\n";
        ASSERT_TRUE(write_text("/etc/fstab", fstab_));
    }

    static void policy(const std::string& rules) {
        run({"/usr/bin/mkdir", "-p", "/etc/storpol"});
        ASSERT_TRUE(write_text(policy_file, "version = 1\n" + rules));
    }

    std::string rule(const std::string& mount, const std::string& options) const {
        return "[[mount]]\nmatch = { target = \"" + base_ + "/" + mount + "\" }\noptions = [" + options + "]\n";
    }

    const std::string base_ = "/tmp/storpol-lab-mounts-" + std::to_string(getpid());
    std::unique_ptr<LoopDisk> ext4_, xfs_, btrfs_;
    std::string fstab_;
};

TEST_F(MountLab, OptionsHoldLiveAndInFstabAfterApplyAndRollbackPutsBothBack) {
    policy(rule("*", "\"noatime\"") + rule("e", "\"commit=300\", \"nodiscard\"") +
           rule("b", "\"commit=300\", \"discard=async\", \"compress=zstd\""));
    const std::string before = ext4_->shown() + xfs_->shown() + btrfs_->shown();
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 0) << apply.all();
    EXPECT_TRUE(has(ext4_->shown(), "rw,nosuid,nodev,noatime")) << ext4_->shown();
    EXPECT_TRUE(has(ext4_->shown(), "commit=300"));
    EXPECT_TRUE(has(xfs_->shown(), "noatime"));
    EXPECT_TRUE(has(btrfs_->shown(), "compress=zstd:3")) << btrfs_->shown();
    const Ran again = storpol({"plan", "--detailed-exitcode"});
    EXPECT_EQ(again.code, 0) << again.all();
    EXPECT_TRUE(has(read_text("/etc/fstab"), "ext4\tdefaults,nosuid,nodev,noatime,commit=300  0 2\n"))
        << read_text("/etc/fstab");
    EXPECT_TRUE(has(read_text("/etc/fstab"), "\nbad line\n"));

    // mount(8) would bring fstab's noatime along.
    const auto flags = [this](unsigned long atime) {
        return ::mount(nullptr, (base_ + "/e").c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV | atime,
                       nullptr);
    };
    ASSERT_EQ(flags(MS_RELATIME), 0);
    const Ran drift = storpol({"drift"});
    EXPECT_EQ(drift.code, 2) << drift.all();
    EXPECT_TRUE(drift.says("moved")) << drift.all();
    ASSERT_EQ(flags(MS_NOATIME), 0);

    const Ran back = storpol({"rollback", "--yes"});
    EXPECT_EQ(back.code, 0) << back.all();
    EXPECT_EQ(read_text("/etc/fstab"), fstab_);
    EXPECT_EQ(ext4_->shown() + xfs_->shown() + btrfs_->shown(), before);
}

TEST_F(MountLab, XfsDiscardWaitsForTheNextMountAndThenHolds) {
    policy(rule("x", "\"discard\""));
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 0) << apply.all();
    const Ran waiting = storpol({"plan", "--detailed-exitcode"});
    EXPECT_EQ(waiting.code, 0) << waiting.all();
    EXPECT_TRUE(waiting.says("waits for the next mount")) << waiting.all();
    EXPECT_EQ(storpol({"drift"}).code, 0);
    EXPECT_EQ(storpol({"drift", "--strict"}).code, 2);
    ASSERT_EQ(xfs_->unmount().code, 0);
    ASSERT_EQ(run({"/usr/bin/mount", base_ + "/x"}).code, 0);
    EXPECT_TRUE(has(xfs_->shown(), "discard")) << xfs_->shown();
    EXPECT_EQ(storpol({"drift", "--strict"}).code, 0);
}

TEST_F(MountLab, AMountThatIgnoresTheNewOptionIsDriftAgain) {
    policy(rule("x", "\"discard\""));
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    ASSERT_EQ(xfs_->unmount().code, 0);
    ASSERT_EQ(xfs_->mount("nodiscard").code, 0);
    const Ran drift = storpol({"drift"});
    EXPECT_EQ(drift.code, 2) << drift.all();
}

TEST_F(MountLab, ABusyWriterKeepsTheMountWritableAndTheReportSaysSo) {
    policy(rule("e", "\"ro\""));
    const std::string file = base_ + "/e/open";
    FILE* writer = fopen(file.c_str(), "w");
    ASSERT_NE(writer, nullptr);
    const Ran refused = storpol({"apply", "--yes"});
    EXPECT_EQ(refused.code, 2) << refused.all();
    const Ran failed = storpol({"apply", "--yes", "--allow", "remount:" + base_ + "/e"});
    EXPECT_EQ(failed.code, 1) << failed.all();
    EXPECT_TRUE(failed.says("busy")) << failed.all();
    EXPECT_TRUE(has(ext4_->shown(), " rw,nosuid,nodev"));
    fclose(writer);
    EXPECT_EQ(storpol({"apply", "--yes", "--allow", "remount:" + base_ + "/e"}).code, 0);
    EXPECT_TRUE(has(ext4_->shown(), "- ext4 " + ext4_->device() + " ro")) << ext4_->shown();
}

TEST_F(MountLab, AMountOnTopOfTheOneThePlanSawIsNotTouched) {
    policy(rule("e", "\"noatime\""));
    ASSERT_EQ(run({"/usr/bin/mount", "-t", "tmpfs", "-o", "mode=755", "none", base_ + "/e"}).code, 0);
    const Ran plan = storpol({"plan", "--detailed-exitcode"});
    EXPECT_EQ(plan.code, 2) << "the line is still not as wanted: " << plan.all();
    EXPECT_FALSE(plan.says("remount:" + base_ + "/e")) << plan.all();
    ASSERT_EQ(run({"/usr/bin/umount", base_ + "/e"}).code, 0);
}

TEST_F(MountLab, ACaptureShowsTheSameDifferences) {
    policy(rule("*", "\"noatime\""));
    ASSERT_EQ(storpol({"capture", "-o", "/etc/h.capture"}).code, 0);
    const Ran live = storpol({"plan", "--format", "json"});
    const Ran replayed = storpol({"plan", "--host", "/etc/h.capture", "--format", "json", policy_file});
    EXPECT_EQ(live.out.substr(live.out.find("\"summary\"")), replayed.out.substr(replayed.out.find("\"summary\"")))
        << replayed.err;
}

TEST_F(MountLab, ASubvolumeMountedTwiceIsOneRemount) {
    ASSERT_EQ(run({"/usr/bin/btrfs", "subvolume", "create", base_ + "/b/@sub"}).code, 0);
    ASSERT_EQ(run({"/usr/bin/mkdir", "-p", base_ + "/sub"}).code, 0);
    ASSERT_EQ(run({"/usr/bin/mount", "-o", "subvol=@sub", btrfs_->device(), base_ + "/sub"}).code, 0);
    policy("[[mount]]\nmatch = { target = \"" + base_ + "/*\", fstype = \"btrfs\" }\noptions = [\"commit=120\"]\n");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 0) << apply.all();
    EXPECT_TRUE(has(btrfs_->shown(), "commit=120"));
    EXPECT_EQ(storpol({"plan", "--detailed-exitcode"}).code, 0);
    run({"/usr/bin/umount", base_ + "/sub"});
    run({"/usr/bin/rmdir", base_ + "/sub"});
}

TEST_F(MountLab, AReadOnlyEtcChangesNothingAndSaysWhy) {
    policy(rule("e", "\"noatime\""));
    ASSERT_EQ(::mount(nullptr, "/etc", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr), 0);
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 1) << apply.all();
    EXPECT_TRUE(apply.says("read-only") || apply.says("Read-only")) << apply.all();
    ::mount(nullptr, "/etc", nullptr, MS_REMOUNT | MS_BIND, nullptr);
    EXPECT_EQ(read_text("/etc/fstab"), fstab_);
}

}  // namespace
}  // namespace storpol::lab
