// SPDX-License-Identifier: GPL-3.0-or-later
// Where discards of real filesystems end, on loop devices of the test's own.
#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <optional>

#include "tests/lab/lab.h"
#include "tests/lab/loop_disk.h"

namespace storpol::lab {
namespace {

class DiscardLab : public Lab {
  protected:
    void SetUp() override {
        Lab::SetUp();
        if (IsSkipped()) return;
        disk_.emplace("ext4", target());
        if (!disk_->ok()) GTEST_SKIP() << "no loop devices here";
        run({"/usr/bin/mkdir", "-p", "/etc/storpol"});
    }

    // A limit of 0 stays with the loop device, and newer kernels take no other one back: it is made anew.
    void TearDown() override {
        if (!disk_ || disk_->device().empty()) return;
        const int number = std::stoi(disk_->device().substr(std::string("/dev/loop").size()));
        disk_.reset();
        const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
        if (ioctl(control, LOOP_CTL_REMOVE, number) == 0) ioctl(control, LOOP_CTL_ADD, number);
        close(control);
    }

    static std::string target() { return "/tmp/storpol-lab-discard-" + std::to_string(getpid()); }

    bool limit(const std::string& bytes) const {
        return write_text("/sys/block/" + disk_->name() + "/queue/discard_max_bytes", bytes);
    }

    std::optional<LoopDisk> disk_;
};

TEST_F(DiscardLab, LayerThatRefusesIsNamedAndIsDrift) {
    ASSERT_TRUE(write_text(
        policy_file, "version = 1\nunmanaged = [\"mount[\\\"/\\\"].*\"]\n[discard]\nrequire-end-to-end = true\n"));
    const Ran open = storpol({"explain", target()});
    EXPECT_TRUE(open.says("reaches the device")) << open.all();
    EXPECT_TRUE(open.says("loop " + disk_->name() + " passes")) << open.all();
    ASSERT_TRUE(limit("0"));
    const Ran blocked = storpol({"explain", target()});
    EXPECT_TRUE(blocked.says("blocked by loop " + disk_->name())) << blocked.all();
    EXPECT_TRUE(blocked.says("somebody wrote 0")) << blocked.all();
    const Ran drift = storpol({"drift"});
    EXPECT_EQ(drift.code, 2) << drift.all();
    EXPECT_TRUE(drift.says("mount[\"" + target() + "\"].discard-path")) << drift.all();
    const Ran fstrim = run({"/usr/sbin/fstrim", target()});
    EXPECT_NE(fstrim.code, 0) << "the kernel agrees that nothing gets through";
}

}  // namespace
}  // namespace storpol::lab
