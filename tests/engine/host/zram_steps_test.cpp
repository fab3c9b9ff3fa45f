// SPDX-License-Identifier: GPL-3.0-or-later
// Steps on zram devices of the running kernel: added here and removed at the end. Swap is the whole machine's, so only
// with STORPOL_LAB=1.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "engine/base/handle.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/host/live_steps.h"
#include "engine/host/performer.h"
#include "engine/host/zram_device.h"
#include "engine/host/zram_state.h"
#include "tests/support/zram_turn.h"

namespace storpol {
namespace {

std::string read_text(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

bool write_text(const std::string& path, const std::string& text) {
    std::ofstream out(path);
    out << text << std::flush;
    return out.good();
}

// A device of the test's own.
class ZramSteps : public testing::Test {
  protected:
    void SetUp() override {
        const char* word = std::getenv("STORPOL_LAB");
        if (word == nullptr || std::strcmp(word, "1") != 0) GTEST_SKIP() << "changes the machine: STORPOL_LAB=1";
        if (geteuid() != 0) GTEST_SKIP() << "needs root";
        if (access("/sys/class/zram-control/hot_add", R_OK) != 0) GTEST_SKIP() << "no zram here";
        turn_.emplace();
        number_ = add();
        ASSERT_FALSE(number_.empty()) << "no device could be added";
    }

    void TearDown() override {
        if (!number_.empty()) remove(number_);
    }

    static std::string add() { return std::string(trim(read_text("/sys/class/zram-control/hot_add"))); }

    static void remove(const std::string& number) {
        UseSwap off;
        off.device = "/dev/zram" + number;
        off.off = true;
        static_cast<void>(perform(off));
        for (int tries = 0; tries < 30; ++tries) {
            if (write_text("/sys/class/zram-control/hot_remove", number)) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        ADD_FAILURE() << "zram" << number << " could not be removed";
    }

    std::string device() const { return "/dev/zram" + number_; }

    std::string attribute(const std::string& name) const {
        return std::string(trim(read_text(zram_attribute("zram" + number_, name))));
    }

    SetUpZram wanted() const {
        SetUpZram step;
        step.device = device();
        step.size = 64U << 20U;
        step.algorithm = "lz4";
        step.priority = 7;
        return step;
    }

    const SwapArea* area() {
        areas_ = parse_swaps(read_text("/proc/swaps"));
        return find_swap(areas_, device());
    }

    std::optional<ZramTurn> turn_;
    std::string number_;
    std::vector<SwapArea> areas_;
};

TEST_F(ZramSteps, SetUpLeavesWhatItSays) {
    auto step = wanted();
    step.resident_limit = 48U << 20U;
    const auto done = perform(step);
    ASSERT_TRUE(done) << to_text(done.error());
    EXPECT_EQ(*done, "size=67108864 algorithm=lz4 limit=50331648 swap on priority=7");
    EXPECT_EQ(*done, zram_state_after(step));
    EXPECT_EQ(attribute("disksize"), "67108864");
    EXPECT_NE(attribute("comp_algorithm").find("[lz4]"), std::string::npos);
    ASSERT_NE(area(), nullptr);
    EXPECT_EQ(area()->priority, 7);
}

TEST_F(ZramSteps, SetUpOnceMoreIsTheSame) {
    ASSERT_TRUE(perform(wanted()));
    auto step = wanted();
    step.size = 32U << 20U;
    step.algorithm = "lzo";
    step.priority = -1;
    const auto done = perform(step);
    ASSERT_TRUE(done) << to_text(done.error());
    EXPECT_EQ(*done, "size=33554432 algorithm=lzo limit=0 swap on");
    EXPECT_EQ(perform(step).value_or(""), *done);
}

TEST_F(ZramSteps, UndoBringsTheFormerSetUpBack) {
    ASSERT_TRUE(perform(wanted()));
    const auto before = state_of(wanted());
    auto step = wanted();
    step.size = 16U << 20U;
    step.algorithm = "lzo-rle";
    step.priority = 99;
    const auto undo = undo_of(step);
    ASSERT_TRUE(undo && undo->size() == 1);
    ASSERT_TRUE(perform(step));
    const auto undone = perform(std::get<SetUpZram>(undo->front()));
    ASSERT_TRUE(undone) << to_text(undone.error());
    EXPECT_EQ(*undone, before.value_or("?"));
}

TEST_F(ZramSteps, UndoOfTheFirstSetUpResets) {
    const auto undo = undo_of(wanted());
    ASSERT_TRUE(undo && undo->size() == 1);
    ASSERT_TRUE(perform(wanted()));
    EXPECT_EQ(perform(std::get<SetUpZram>(undo->front())).value_or("?"), "not set up");
    EXPECT_EQ(area(), nullptr);
    EXPECT_EQ(attribute("disksize"), "0");
}

TEST_F(ZramSteps, FailureBehindTheResetMakesTheFormerAgain) {
    ASSERT_TRUE(perform(wanted()));
    const auto before = state_of(wanted());
    auto step = wanted();
    step.algorithm = "no-such-algorithm";
    const auto failed = perform(step);
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().what.find("what was there before is made again"), std::string::npos)
        << to_text(failed.error());
    EXPECT_EQ(state_of(step).value_or("?"), before.value_or("!"));
    step = wanted();
    step.size = 1ULL << 60U;  // 0.1 % of it are needed to manage it
    const auto too_large = perform(step);
    ASSERT_FALSE(too_large);
    EXPECT_EQ(state_of(step).value_or("?"), before.value_or("!")) << to_text(too_large.error());
}

TEST_F(ZramSteps, DeviceThatIsOpenIsWaitedFor) {
    ASSERT_TRUE(perform(wanted()));
    Fd holder(open(device().c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(holder);
    std::thread later([&holder] {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        holder.reset();
    });
    auto step = wanted();
    step.size = 32U << 20U;
    const auto done = perform(step);
    later.join();
    ASSERT_TRUE(done) << to_text(done.error());
    EXPECT_EQ(attribute("disksize"), "33554432");
}

TEST_F(ZramSteps, DeviceThatStaysOpenKeepsItsSwap) {
    ASSERT_TRUE(perform(wanted()));
    const Fd holder(open(device().c_str(), O_RDONLY | O_CLOEXEC));
    auto step = wanted();
    step.size = 32U << 20U;
    const auto failed = perform(step);
    ASSERT_FALSE(failed);
    EXPECT_NE(to_text(failed.error()).find("Device or resource busy"), std::string::npos) << to_text(failed.error());
    EXPECT_EQ(attribute("disksize"), "67108864");
    EXPECT_NE(area(), nullptr) << "it is in use again: " << to_text(failed.error());
}

TEST_F(ZramSteps, FilesystemOnItIsLeftAlone) {
    auto step = wanted();
    step.is_swap = false;
    ASSERT_TRUE(perform(step));
    ASSERT_TRUE(write_text(device(), std::string(8192, 'x')));
    const auto refused = perform(wanted());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.find("something else than swap"), std::string::npos);
    EXPECT_EQ(read_text(device()).substr(0, 4), "xxxx");
}

TEST_F(ZramSteps, PriorityChangesWithoutReset) {
    ASSERT_TRUE(perform(wanted()));
    const UseSwap step{device(), false, 33, "pages"};
    EXPECT_EQ(state_of(step).value_or("?"), "on priority=7");
    const auto undo = undo_of(step);
    EXPECT_EQ(perform(step).value_or("?"), "on priority=33");
    EXPECT_EQ(attribute("disksize"), "67108864");
    ASSERT_TRUE(undo);
    EXPECT_EQ(perform(std::get<UseSwap>(undo->front())).value_or("?"), "on priority=7");
    EXPECT_EQ(perform(UseSwap{device(), true, -1, {}}).value_or("?"), "off");
    EXPECT_EQ(perform(UseSwap{device(), false, -1, {}}).value_or("?"), "on");
}

TEST_F(ZramSteps, AreaWithoutHeaderIsNoSwap) {
    auto step = wanted();
    step.is_swap = false;
    ASSERT_TRUE(perform(step));
    const auto refused = perform(UseSwap{device(), false, 5, {}});
    ASSERT_FALSE(refused);
    EXPECT_NE(to_text(refused.error()).find("no swap header"), std::string::npos) << to_text(refused.error());
}

TEST_F(ZramSteps, StepInterruptedBehindItsResetIsFinished) {
    ASSERT_TRUE(perform(wanted()));
    auto step = wanted();
    step.size = 32U << 20U;
    ASSERT_TRUE(perform(UseSwap{device(), true, -1, {}}));
    ASSERT_TRUE(reset_zram(std::stoi(number_)));
    make_live_performer()->clean_up(step);
    EXPECT_EQ(state_of(step).value_or("?"), zram_state_after(step));
    ASSERT_TRUE(perform(UseSwap{device(), true, -1, {}}));
    make_live_performer()->clean_up(UseSwap{device(), false, 5, {}});
    EXPECT_EQ(state_of(step).value_or("?"), "size=33554432 algorithm=lz4 limit=0 swap on priority=5");
}

TEST_F(ZramSteps, LimitIsWrittenWhileItIsInUse) {
    ASSERT_TRUE(perform(wanted()));
    const auto performer = make_live_performer();
    const WriteAttribute limit{zram_attribute("zram" + number_, "mem_limit"), "33554432"};
    EXPECT_EQ(performer->state(limit).value_or("?"), "0");
    EXPECT_EQ(performer->perform(limit).value_or("?"), "33554432");
    EXPECT_NE(area(), nullptr);
}

TEST_F(ZramSteps, SecondDeviceIsAddedInItsPlaceOnly) {
    const int next = std::stoi(number_) + 1;
    auto step = wanted();
    step.device = "/dev/zram" + std::to_string(next + 1);
    const auto gap = perform(step);
    ASSERT_FALSE(gap);
    EXPECT_NE(gap.error().what.find("the lowest number that is free"), std::string::npos);
    EXPECT_NE(access(zram_attribute("zram" + std::to_string(next), "disksize").c_str(), F_OK), 0);
    step.device = "/dev/zram" + std::to_string(next);
    const auto done = perform(step);
    EXPECT_TRUE(done) << to_text(done.error());
    remove(std::to_string(next));
}

TEST_F(ZramSteps, EverySetUpIsReachedFromEveryOther) {
    EXPECT_TRUE(rc::check("the kernel shows what the step says", [this] {
        auto step = wanted();
        step.size = static_cast<std::uint64_t>(*rc::gen::inRange(1, 200)) << 16U;
        step.algorithm = *rc::gen::element<std::string>("lzo", "lzo-rle", "lz4");
        step.resident_limit = static_cast<std::uint64_t>(*rc::gen::inRange(0, 3)) << 20U;
        step.is_swap = *rc::gen::arbitrary<bool>();
        step.priority = *rc::gen::inRange(-1, 100);
        step.discard = *rc::gen::element<std::string>("", "on", "once", "pages");
        const auto done = perform(step);
        RC_ASSERT(done.has_value());
        RC_ASSERT(*done == zram_state_after(step).value_or("?"));
    }));
}

TEST(ZramStepTexts, WhatIsNoDeviceIsRefusedBeforeAnythingIsTouched) {
    SetUpZram step;
    for (const char* device : {"/dev/sda", "zram", "/dev/zram01", "/dev/zram-1", "/etc/zram0", ""}) {
        step.device = device;
        EXPECT_FALSE(perform(step)) << device;
    }
    step.device = "/dev/zram0";
    step.algorithm = "lz4\nlzo";
    EXPECT_EQ(check_zram(step).error().kind, ErrorKind::invalid);
    step.algorithm = "";
    step.parameters = "level=1";
    EXPECT_EQ(check_zram(step).error().kind, ErrorKind::invalid);
    step.parameters = "";
    step.priority = 32768;
    EXPECT_EQ(check_zram(step).error().kind, ErrorKind::invalid);
    step.priority = 1;
    step.discard = "sometimes";
    EXPECT_EQ(check_zram(step).error().kind, ErrorKind::invalid);
}

}  // namespace
}  // namespace storpol
