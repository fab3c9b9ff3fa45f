// SPDX-License-Identifier: GPL-3.0-or-later
// Where discards of real filesystems end, on loop devices of the test's own.
#include <unistd.h>

#include "tests/lab/lab.h"
#include "tests/lab/loop_disk.h"

namespace storpol::lab {
namespace {

std::string place(const std::string& name) {
    return "/tmp/storpol-lab-discard-" + std::to_string(getpid()) + name;
}

class DiscardLab : public Lab {
  protected:
    void SetUp() override {
        Lab::SetUp();
        if (!IsSkipped()) run({"/usr/bin/mkdir", "-p", "/etc/storpol"});
    }
};

TEST_F(DiscardLab, LoopOverAFileThatTakesHolesPassesThem) {
    const LoopDisk disk("ext4", place(""));
    if (!disk.ok()) GTEST_SKIP() << "no loop devices here";
    const Ran open = storpol({"explain", place("")});
    EXPECT_TRUE(open.says("reaches the device")) << open.all();
    EXPECT_TRUE(open.says("loop " + disk.name() + " passes")) << open.all();
    EXPECT_EQ(run({"/usr/sbin/fstrim", place("")}).code, 0) << "the kernel agrees";
}

// A ramfs punches no holes, so a loop device over a file of it takes no discards.
class DeafLoop : public DiscardLab {
  protected:
    void SetUp() override {
        DiscardLab::SetUp();
        if (IsSkipped()) return;
        run({"/usr/bin/mkdir", "-p", folder_, target_});
        const bool made = run({"/usr/bin/mount", "-t", "ramfs", "none", folder_}).code == 0 &&
                          run({"/usr/bin/truncate", "-s", "32M", image()}).code == 0 &&
                          run({"/usr/sbin/mkfs.ext4", "-qF", image()}).code == 0;
        const Ran setup = run({"/usr/sbin/losetup", "-f", "--show", image()});
        device_ = setup.out.substr(0, setup.out.find('\n'));
        if (!made || setup.code != 0 || run({"/usr/bin/mount", device_, target_}).code != 0)
            GTEST_SKIP() << "no ramfs or no loop devices here";
    }

    void TearDown() override {
        run({"/usr/bin/umount", target_});
        if (!device_.empty()) run({"/usr/sbin/losetup", "-d", device_});
        run({"/usr/bin/umount", folder_});
        run({"/usr/bin/rmdir", folder_, target_});
    }

    std::string image() const { return folder_ + "/image"; }

    const std::string folder_ = place("-ram");
    const std::string target_ = place("-deaf");
    std::string device_;
};

TEST_F(DeafLoop, IsNamedAndIsDrift) {
    const std::string name = device_.substr(5);
    const Ran blocked = storpol({"explain", target_});
    EXPECT_TRUE(blocked.says("blocked by loop " + name)) << blocked.all();
    EXPECT_TRUE(blocked.says("cannot punch holes")) << blocked.all();
    EXPECT_NE(run({"/usr/sbin/fstrim", target_}).code, 0) << "the kernel agrees that nothing gets through";
    ASSERT_TRUE(write_text(
        policy_file, "version = 1\nunmanaged = [\"mount[\\\"/\\\"].*\"]\n[discard]\nrequire-end-to-end = true\n"));
    const Ran drift = storpol({"drift"});
    EXPECT_EQ(drift.code, 2) << drift.all();
    EXPECT_TRUE(drift.says("mount[\"" + target_ + "\"].discard-path")) << drift.all();
}

}  // namespace
}  // namespace storpol::lab
