// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "engine/base/text.h"
#include "engine/policy/load.h"
#include "engine/reconcile/remedy.h"
#include "engine/topology/topology.h"
#include "tests/conformance/samples.h"
#include "tests/support/memory_machine.h"

// What every registered resource keeps to, unasked.
namespace storpol {
namespace {

// A machine that answers nothing, each question in the same way.
class DeafHost final : public Host {
  public:
    explicit DeafHost(int code) : code_(code) {}

  private:
    Answer do_ask(const Query& query) override {
        return code_ == 0 ? not_captured(query) : storpol::refuse(query, code_);
    }

    int code_;
};

std::vector<std::string> domains() {
    std::vector<std::string> names;
    for (const auto& resource : make_resources()) names.emplace_back(resource->domain());
    return names;
}

class Conformance : public testing::TestWithParam<std::string> {
  protected:
    Conformance() {
        for (auto& resource : make_resources()) {
            if (resource->domain() == GetParam()) resources.push_back(std::move(resource));
        }
        const auto at = samples().find(GetParam());
        if (at == samples().end()) return;
        sample = &at->second;
        policy = policy_of("version = 1\n" + sample->policy, resources);
        sample->fill(machine.host);
    }

    void SetUp() override {
        ASSERT_EQ(resources.size(), 1U) << "two resources have the domain word " << GetParam();
        ASSERT_NE(sample, nullptr) << "tests/conformance/samples.h has no sample for " << GetParam();
    }

    const Resource& resource() const { return *resources.front(); }

    Evaluation look(Host& host) const {
        Picture picture(host);
        return evaluate(policy, resources, picture, {});
    }

    static void expect_served(const Evaluation& got) {
        for (const auto& gap : got.plan.gaps) {
            EXPECT_NE(gap.cannot, no_way_known) << gap.of.address << " has neither an action nor a gap";
        }
    }

    Resources resources;
    const Sample* sample = nullptr;
    Policy policy;
    MemoryMachine machine;
};

void expect_documented(const Key& key, const std::string& path) {
    const auto name = path + "." + key.name;
    EXPECT_FALSE(key.name.empty()) << path;
    EXPECT_FALSE(key.doc.empty()) << name << " has no doc";
    EXPECT_FALSE(key.doc.ends_with(' ')) << name;
    const bool has_keys = key.type == KeyType::table || key.type == KeyType::rule_array;
    EXPECT_TRUE(has_keys || key.keys.empty()) << name << " is no table and has keys";
    for (const auto& inner : key.keys) expect_documented(inner, name);
}

TEST_P(Conformance, KeysAreDocumented) {
    const auto keys = resource().keys();
    EXPECT_FALSE(keys.tables.empty());
    for (const auto& key : keys.tables) expect_documented(key, "");
}

TEST_P(Conformance, TheSampleIsDriftWithSomethingToDo) {
    const auto got = look(machine.host);
    EXPECT_TRUE(got.errors.empty());
    EXPECT_FALSE(got.settings.empty());
    EXPECT_TRUE(got.has_drift(false));
    EXPECT_NE(got.plan.actions.empty(), sample->acts);
    expect_served(got);
}

TEST_P(Conformance, ActionsSayWhatTheyDoAndForWhat) {
    for (const auto& action : look(machine.host).plan.actions) {
        EXPECT_FALSE(action.serves.empty()) << action.target;
        EXPECT_FALSE(action.says.empty()) << action.target;
        EXPECT_FALSE(action.target.empty()) << action.says;
        EXPECT_EQ(printable(action.says), action.says);
        EXPECT_EQ(is_file_step(action.step), !action.diff.empty()) << action.target;
    }
}

TEST_P(Conformance, TheSameMachineGivesTheSamePlan) {
    const auto one = look(machine.host);
    const auto other = look(machine.host);
    EXPECT_EQ(one.plan, other.plan);
    EXPECT_EQ(one.findings, other.findings);
}

TEST_P(Conformance, SettingsAreSortedAndHaveTheirPolicyLine) {
    const auto got = look(machine.host);
    std::string last;
    for (const auto& state : got.settings) {
        EXPECT_LT(last, state.setting.address);
        last = state.setting.address;
        EXPECT_FALSE(state.setting.policy.empty()) << last;
        EXPECT_FALSE(state.setting.wanted.empty()) << last;
        EXPECT_FALSE(state.planes.empty()) << last;
    }
}

TEST_P(Conformance, AnEmptyMachineIsSurvived) {
    MemoryHost empty;
    const auto got = look(empty);
    expect_served(got);
    resource().survey(empty);
}

TEST_P(Conformance, WhatCannotBeReadIsUnknownAndNeverActs) {
    for (const int code : {0, EACCES, EIO, ELOOP}) {
        DeafHost deaf(code);
        const auto got = look(deaf);
        EXPECT_TRUE(got.plan.actions.empty()) << "errno " << code;
        EXPECT_TRUE(got.plan.gaps.empty()) << "errno " << code;
        for (const auto& state : got.settings) {
            EXPECT_EQ(state.verdict, Verdict::unknown) << state.setting.address << ", errno " << code;
        }
        resource().survey(deaf);
    }
}

TEST_P(Conformance, PolicyErrorsDoNotDependOnTheMachine) {
    const auto errors_on = [this](Host& host) {
        Notes notes;
        const Topology topology(host);
        static_cast<void>(resource().settings(policy, topology, host, notes));
        return notes.errors();
    };
    MemoryHost empty;
    DeafHost deaf(EACCES);
    const auto expected = errors_on(machine.host);
    EXPECT_EQ(errors_on(empty), expected);
    EXPECT_EQ(errors_on(deaf), expected);
}

TEST_P(Conformance, ACaptureOfSurveyAndPlanGivesTheSamePlan) {
    Picture picture(machine.host);
    const auto live = evaluate(policy, resources, picture, {});
    resource().survey(picture);
    const auto capture = make_snapshot_host(picture.capture("1", "2026-11-30T12:00:00Z"), "capture");
    ASSERT_TRUE(capture) << to_text(capture.error());
    const auto replayed = evaluate(policy, resources, **capture, {});
    EXPECT_EQ(replayed.plan, live.plan);
    EXPECT_EQ(replayed.findings, live.findings);
    ASSERT_EQ(replayed.settings.size(), live.settings.size());
    for (std::size_t i = 0; i < live.settings.size(); ++i) {
        EXPECT_EQ(replayed.settings[i].verdict, live.settings[i].verdict) << live.settings[i].setting.address;
    }
}

TEST_P(Conformance, ASurveyAloneHoldsWhatAPlanAsks) {
    Picture picture(machine.host);
    resource().survey(picture);
    // What the engine itself asks.
    static_cast<void>(picture.now());
    static_cast<void>(picture.read_file("/proc/sys/kernel/random/boot_id"));
    const auto capture = make_snapshot_host(picture.capture("1", "2026-11-30T12:00:00Z"), "capture");
    ASSERT_TRUE(capture) << to_text(capture.error());
    EXPECT_EQ(evaluate(policy, resources, **capture, {}).plan, look(machine.host).plan);
}

TEST_P(Conformance, PlanAfterApplyIsEmpty) {
    if (!sample->acts) GTEST_SKIP() << "it only reports";
    const auto steps = look(machine.host).plan;
    for (const auto& action : steps.actions) {
        if (!MemoryPerformer::can_play(action.step))
            GTEST_SKIP() << "a machine in memory cannot play " << to_text(action.verb);
    }
    const auto report = machine.apply(policy, resources);
    ASSERT_TRUE(report) << to_text(report.error());
    EXPECT_EQ(report->exit_code, 0);
    const auto after = machine.plan(policy, resources);
    EXPECT_TRUE(after.plan.actions.empty());
    EXPECT_FALSE(after.has_drift(false));
}

TEST_P(Conformance, RollbackRestoresEveryByte) {
    if (!sample->acts) GTEST_SKIP() << "it only reports";
    const auto before = machine.host.files();
    for (const auto& action : look(machine.host).plan.actions) {
        if (!MemoryPerformer::can_play(action.step))
            GTEST_SKIP() << "a machine in memory cannot play " << to_text(action.verb);
    }
    ASSERT_TRUE(machine.apply(policy, resources));
    const auto back = machine.rollback();
    ASSERT_TRUE(back) << to_text(back.error());
    EXPECT_EQ(machine.host.files(), before);
}

TEST_P(Conformance, AnImageIsGivenFilesOnly) {
    EvaluateOptions options;
    options.image = true;
    Picture picture(machine.host);
    const auto got = evaluate(policy, resources, picture, options);
    expect_served(got);
    for (const auto& action : got.plan.actions) {
        EXPECT_NE(action.when, When::now) << action.target;
        EXPECT_TRUE(is_file_step(action.step) || action.when == When::in_image) << action.target;
    }
    for (const auto& state : got.settings) {
        EXPECT_EQ(state.on(Plane::live), nullptr);
        EXPECT_EQ(state.on(Plane::evidence), nullptr);
    }
}

TEST_P(Conformance, OwnFilesAreNamedWhole) {
    for (const auto& path : resource().own_files(machine.host)) {
        EXPECT_TRUE(path.starts_with("/etc/")) << path;
        EXPECT_NE(path.find("storpol"), std::string::npos) << path << " does not say whose it is";
    }
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         Conformance,
                         testing::ValuesIn(domains()),
                         [](const testing::TestParamInfo<std::string>& param) {
                             std::string name = param.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(Registry, DomainsAreInOrderAndUnique) {
    const auto names = domains();
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(Registry, EveryReadyPolicyIsWithoutErrorOnAnyMachine) {
    const auto resources = make_resources();
    const auto keys = keys_of(resources);
    for (const auto& name : builtin_names()) {
        const auto loaded = load_policy_files({{"builtin:" + name, std::string(*builtin_policy(name))}}, keys);
        for (const auto& error : loaded.errors) ADD_FAILURE() << name << ": " << render(error);
        DeafHost deaf(EACCES);
        EXPECT_TRUE(evaluate(loaded.policy, resources, deaf, {}).plan.actions.empty()) << name;
    }
}

}  // namespace
}  // namespace storpol
