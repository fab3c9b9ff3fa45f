// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <nlohmann/json.hpp>

#include "engine/policy/load.h"
#include "engine/report/report.h"
#include "tests/engine/report/sample.h"

namespace storpol {
namespace {

std::string saved_text(const Plan& plan, bool prune = false) {
    return render_saved_plan(load_policy_files({{"a.toml", "version = 1\n"}}, {}).policy, plan, prune, "0.1.0");
}

TEST(SavedPlan, ReadsBackAsItWasWritten) {
    Plan plan = sample::drifting().plan;
    Action& action = plan.actions[0];
    action.after = {"a0"};
    action.refused = "not now";
    action.risk = Risk::guarded;
    action.when = When::next_boot;
    action.undo = {WriteAttribute{"/proc/sys/vm/swappiness", "60"}};
    action.diff = "--- a\n+++ b\n\\ No newline\n";
    action.reads = {"/etc/\xff\\x"};
    action.step = ReplaceFile{"/etc/a", "absent", std::string{"a\0b\xff\n", 5}, 0600};
    const auto back = parse_saved_plan(saved_text(plan, true), "plan.json");
    ASSERT_TRUE(back) << to_text(back.error());
    EXPECT_EQ(back->plan.actions, plan.actions);
    EXPECT_TRUE(back->prune);
    ASSERT_EQ(back->files.size(), 1u);
    EXPECT_EQ(back->files[0].name, "a.toml");
    EXPECT_EQ(back->files[0].bytes, "version = 1\n");
}

TEST(SavedPlan, IsToldFromAPolicyByItsContent) {
    EXPECT_TRUE(looks_like_saved_plan(saved_text({})));
    EXPECT_FALSE(looks_like_saved_plan("version = 1\n# storpol-plan\n"));
    EXPECT_FALSE(looks_like_saved_plan(""));
    EXPECT_FALSE(looks_like_saved_plan("{}"));
}

TEST(SavedPlan, DamageIsAnErrorThatSaysWhatToDo) {
    const auto whole = nlohmann::ordered_json::parse(saved_text(sample::drifting().plan));
    std::vector<nlohmann::ordered_json> damaged(8, whole);
    damaged[0]["storpol-plan"] = 2;
    damaged[1].erase("policy");
    damaged[2]["policy"] = nlohmann::ordered_json::array();
    damaged[3]["actions"][0]["verb"] = "explode";
    damaged[4]["actions"][0]["step"] = 7;
    damaged[5]["actions"][0]["for"][0]["plane"] = "astral";
    damaged[6]["prune"] = "yes";
    damaged[7]["policy"][0]["bytes"] = "\\xZZ";
    for (const auto& json : damaged) {
        const auto result = parse_saved_plan(json.dump(), "plan.json");
        ASSERT_FALSE(result) << json.dump();
        EXPECT_NE(result.error().fix.find("storpol plan -o"), std::string::npos);
    }
    EXPECT_FALSE(parse_saved_plan("", "plan.json"));
    EXPECT_FALSE(parse_saved_plan("[1]", "plan.json"));
}

TEST(SavedPlan, AnyTextIsSurvived) {
    const std::string whole = saved_text(sample::drifting().plan);
    EXPECT_TRUE(rc::check("a saved plan with any bytes changed is read or refused", [&whole] {
        std::string text = whole;
        const auto count = *rc::gen::inRange(1, 6);
        for (int i = 0; i < count; ++i)
            text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
        (void)parse_saved_plan(text, "x");
    }));
}

}  // namespace
}  // namespace storpol
