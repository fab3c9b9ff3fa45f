// SPDX-License-Identifier: GPL-3.0-or-later
// Request queues on a loop device of the test's own, and the rules file as the real udev reads it.
#include <unistd.h>

#include <filesystem>

#include "tests/lab/lab.h"
#include "tests/lab/loop_disk.h"

namespace storpol::lab {
namespace {

class BlockLab : public Lab {
  protected:
    void SetUp() override {
        Lab::SetUp();
        if (IsSkipped()) return;
        if (!disk_.ok()) GTEST_SKIP() << "no loop devices here";
        run({"/usr/bin/mkdir", "-p", "/etc/storpol"});
    }

    void want(const std::string& keys) const {
        ASSERT_TRUE(
            write_text(policy_file, "version = 1\n[[block]]\nmatch = { name = \"" + disk_.name() + "\" }\n" + keys));
    }

    std::string queue(const std::string& attribute) const {
        return read_text("/sys/block/" + disk_.name() + "/queue/" + attribute);
    }

    LoopDisk disk_{"none", "/tmp/storpol-lab-block-" + std::to_string(getpid())};
};

// Only multiples of the granularity can be written: the largest one, where that is what the driver had.
TEST_F(BlockLab, ALimitThatNobodyMayWriteComesBackAsNearAsCanBe) {
    const auto before = std::stoll(queue("discard_max_bytes"));
    const auto unit = std::stoll(queue("discard_granularity"));
    if (before < (1 << 20) || unit == 0) GTEST_SKIP() << "this loop device takes no discards of a MiB";
    want("discard-max = \"1MiB\"\n");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 0) << apply.all();
    EXPECT_EQ(queue("discard_max_bytes"), "1048576\n");
    const Ran back = storpol({"rollback", "--yes"});
    EXPECT_EQ(back.code, 0) << back.all();
    EXPECT_LE(std::stoll(queue("discard_max_bytes")), before);
    EXPECT_GT(std::stoll(queue("discard_max_bytes")), before - unit);
}

TEST_F(BlockLab, ASchedulerAndItsQueueHoldAfterApplyAndGoBack) {
    const std::string scheduler = queue("scheduler");
    const std::string requests = queue("nr_requests");
    const std::string other = scheduler.find("[none]") != std::string::npos ? "mq-deadline" : "none";
    want("scheduler = \"" + other + "\"\nread-ahead = \"1MiB\"\nnomerges = 1\n");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 0) << apply.all();
    EXPECT_NE(queue("scheduler").find("[" + other + "]"), std::string::npos);
    EXPECT_EQ(queue("read_ahead_kb"), "1024\n");
    const Ran plan = storpol({"plan", "--detailed-exitcode"});
    EXPECT_EQ(plan.code, 0) << plan.all();
    const Ran back = storpol({"rollback", "--yes"});
    EXPECT_EQ(back.code, 0) << back.all();
    EXPECT_EQ(queue("scheduler"), scheduler);
    EXPECT_EQ(queue("nr_requests"), requests);
    EXPECT_FALSE(std::filesystem::exists("/etc/udev/rules.d/99-storpol.rules"));
}

TEST_F(BlockLab, ASchedulerThatIsNotToBeHadIsSaidAndNotTried) {
    if (queue("scheduler").find("kyber") != std::string::npos) GTEST_SKIP() << "this kernel has every scheduler";
    want("scheduler = \"kyber\"\n");
    EXPECT_NE(storpol({"plan", "--detailed-exitcode"}).code, 0);
}

TEST_F(BlockLab, AValueTheKernelDoesNotTakeIsNeverCalledASuccess) {
    want("max-sectors = \"1GiB\"\n");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_NE(apply.code, 0) << apply.all();
    EXPECT_NE(queue("max_sectors_kb"), "1048576\n");
    const Ran plan = storpol({"plan", "--detailed-exitcode"});
    EXPECT_EQ(plan.code, 2) << plan.all();
    EXPECT_FALSE(plan.says("no-longer-in-policy")) << plan.all();
}

TEST_F(BlockLab, UdevadmFindsOurRulesGood) {
    want("scheduler = \"none\"\nread-ahead = \"2MiB\"\n");
    const Ran apply = storpol({"apply", "--yes"});
    ASSERT_EQ(apply.code, 0) << apply.all();
    if (!std::filesystem::exists("/usr/bin/udevadm")) GTEST_SKIP() << "no udevadm here";
    const Ran test = run({"/usr/bin/udevadm", "test", "--action=change", "/sys/block/" + disk_.name()});
    EXPECT_TRUE(test.says("99-storpol.rules")) << test.all();
    EXPECT_EQ(test.all().find("99-storpol.rules:2 Invalid"), std::string::npos) << test.all();
    EXPECT_TRUE(test.says("read_ahead_kb")) << test.all();
}

}  // namespace
}  // namespace storpol::lab
