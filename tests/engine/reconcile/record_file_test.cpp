// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/record_file.h"

#include <gtest/gtest.h>

#include "engine/reconcile/resource.h"

namespace storpol {
namespace {

// The level of zram0, which nobody can read back, after an apply that has done this step.
Record record_after(const Step& step, std::int64_t wanted, const Record* old = nullptr, bool failed = false) {
    Evaluation after;
    SettingState level;
    level.setting.address = make_address("zram", "zram0", "level");
    level.setting.condition = Is{Value{wanted}};
    PlaneState live;
    live.plane = Plane::live;
    live.verdict = Verdict::unknown;
    live.reading.state = Unknown{std::string(cannot_be_read_back)};
    level.planes = {live};
    after.settings = {level};
    Action action;
    action.step = step;
    const std::vector<ActionOutcome> outcomes{{action, failed ? ActionResult::failed : ActionResult::done, {}}};
    return next_record({old, after, outcomes, {}, "digest", "2026-12-01T03:00:00Z", "boot"});
}

SetUpZram set_up(const std::string& parameters) {
    SetUpZram step;
    step.device = "/dev/zram0";
    step.size = 65536;
    step.algorithm = "zstd";
    step.parameters = parameters;
    return step;
}

// A plane that two steps serve, of which the second did not come through.
TEST(RecordFile, WhatAFailedStepWasToBringIsTriedAgain) {
    const SettingPlane of{make_address("zram", "zram0", "size"), Plane::live};
    const auto tried_after = [&](ActionResult second) {
        Evaluation after;
        SettingState size;
        size.setting.address = of.address;
        size.setting.condition = Is{Value{std::int64_t{65536}}};
        PlaneState live;
        live.plane = Plane::live;
        live.verdict = Verdict::drift;
        live.reading.state = Found{Value{std::int64_t{4096}}, {}};
        size.planes = {live};
        after.settings = {size};
        Action reload;
        reload.step = WriteAttribute{"/sys/x", "1"};
        reload.serves = {of};
        Action start = reload;
        start.step = set_up("");
        const std::vector<ActionOutcome> outcomes{{reload, ActionResult::done, {}}, {start, second, {}}};
        return next_record({nullptr, after, outcomes, {}, "digest", "2026-12-01T03:00:00Z", "boot"}).tried.size();
    };
    EXPECT_EQ(tried_after(ActionResult::done), 1U) << "success, and no effect";
    for (const auto result : {ActionResult::failed, ActionResult::skipped, ActionResult::left})
        EXPECT_EQ(tried_after(result), 0U);
}

TEST(RecordFile, WhatNobodyCanReadBackIsKnownFromHavingBeenSet) {
    const auto record = record_after(set_up("level=3"), 3);
    ASSERT_EQ(record.applied.size(), 1U);
    EXPECT_EQ(record.applied.front().value, "3");
    EXPECT_EQ(record.applied.front().of.plane, Plane::live);
    const auto other = set_up("level=1");
    const auto kept = record_after(WriteAttribute{"/sys/x", "1"}, 3, &record);
    EXPECT_EQ(kept.applied.size(), 1U) << "an apply that has nothing to do with it";
    EXPECT_TRUE(record_after(other, 3).applied.empty()) << "another level than the one wanted";
    EXPECT_TRUE(record_after(set_up(""), 3).applied.empty());
    EXPECT_TRUE(record_after(set_up("level=3"), 3, nullptr, true).applied.empty()) << "a step that failed";
    auto elsewhere = set_up("level=3");
    elsewhere.device = "/dev/zram1";
    EXPECT_TRUE(record_after(elsewhere, 3).applied.empty());
}

}  // namespace
}  // namespace storpol
