// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/report/report.h"
#include "tests/engine/report/sample.h"

namespace storpol {
namespace {

using testing::HasSubstr;
using testing::Not;

Evaluation with(SettingState state) {
    Evaluation evaluation;
    evaluation.settings = {std::move(state)};
    evaluation.summary.settings = 1;
    return evaluation;
}

std::string drift_text(const Evaluation& evaluation, bool verbose = false) {
    TextStyle style;
    style.verbose = verbose;
    return render_drift_text(evaluation, sample::head("drift"), style);
}

TEST(PlanText, ShowsPlanesThenActionsThenTheTotal) {
    EXPECT_EQ(render_plan_text(sample::drifting(), sample::head("plan"), TextStyle{}),
              "Plan for host1\n"
              "\n"
              "sysctl[\"vm.swappiness\"]  wanted 150  (laptop.toml:14:12)\n"
              "  drift     live       60 (moved since the last apply)  /proc/sys/vm/swappiness\n"
              "  in sync   persisted  150  /etc/sysctl.d/zz-storpol.conf:3\n"
              "                       overrides /etc/sysctl.d/99-local.conf:2\n"
              "\n"
              "Actions:\n"
              "  a1  write:/proc/sys/vm/swappiness  (now, safe)\n"
              "      Set vm.swappiness to 150 in the running kernel.\n"
              "\n"
              "1 setting: 1 drifts. 1 action.\n");
}

TEST(PlanText, ReadsTheSameWithoutColour) {
    TextStyle style;
    style.color = true;
    std::string coloured = render_plan_text(sample::drifting(), sample::head("plan"), style);
    EXPECT_THAT(coloured, HasSubstr("\x1b["));
    for (std::size_t at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b'))
        coloured.erase(at, coloured.find('m', at) - at + 1);
    EXPECT_EQ(coloured, render_plan_text(sample::drifting(), sample::head("plan"), TextStyle{}));
}

TEST(PlanText, IndentsTheDiffOfAFileStep) {
    Evaluation evaluation = sample::drifting();
    evaluation.plan.actions[0].diff = "--- /dev/null\n+++ /etc/a\n@@ -0,0 +1 @@\n+x\n";
    EXPECT_THAT(render_plan_text(evaluation, sample::head("plan"), TextStyle{}),
                HasSubstr("\n        --- /dev/null\n        +++ /etc/a\n        @@ -0,0 +1 @@\n        +x\n"));
}

TEST(PlanText, SaysWhatADisruptiveActionNeedsAndWhyAGuardRefuses) {
    Evaluation evaluation = sample::drifting();
    Action& action = evaluation.plan.actions[0];
    action.verb = Verb::swap_off;
    action.target = "/dev/zram0";
    action.risk = Risk::disruptive;
    action.after = {"a2"};
    action.refused = "3 GiB in use, 1 GiB free";
    const std::string text = render_plan_text(evaluation, sample::head("plan"), TextStyle{});
    EXPECT_THAT(text, HasSubstr("swap-off:/dev/zram0  (now, disruptive)"));
    EXPECT_THAT(text, HasSubstr("needs --allow 'swap-off:/dev/zram0'"));
    EXPECT_THAT(text, HasSubstr("after a2"));
    EXPECT_THAT(text, HasSubstr("refused: 3 GiB in use, 1 GiB free"));
}

TEST(DriftText, LeavesOutWhatIsInSyncUnlessVerbose) {
    SettingState state = sample::setting("sysctl[\"vm.swappiness\"]", "60", Is{std::int64_t{60}, 0});
    state.planes = {sample::plane(Plane::live, sample::found(60, "/proc/sys/vm/swappiness"), Verdict::in_sync)};
    Evaluation evaluation = with(state);
    evaluation.summary.in_sync = 1;
    EXPECT_EQ(drift_text(evaluation), "Drift of host1\n\n1 setting: 1 in sync.\n");
    EXPECT_THAT(drift_text(evaluation, true), HasSubstr("  in sync   live       60  /proc/sys/vm/swappiness\n"));
}

TEST(DriftText, UnsetShowsTheDefaultThatApplies) {
    SettingState state = sample::setting("sysctl[\"vm.swappiness\"]", "150", Is{std::int64_t{150}, 0});
    state.planes = {
        sample::plane(Plane::live, {Unset{Value{std::int64_t{60}}, "kernel default"}, "", {}}, Verdict::drift),
        sample::plane(Plane::persisted, {Unset{}, "", {}}, Verdict::drift)};
    state.verdict = Verdict::drift;
    const std::string text = drift_text(with(state));
    EXPECT_THAT(text, HasSubstr("drift     live       not set, default 60 (kernel default)\n"));
    EXPECT_THAT(text, HasSubstr("drift     persisted  not set\n"));
}

TEST(DriftText, UnknownAndAbsentSayWhyAndWaitsSaysForWhat) {
    SettingState state = sample::setting("mount[\"/\"].commit", "300", Is{std::int64_t{300}, 0});
    PlaneState waiting = sample::plane(Plane::live, sample::found(5, "/proc/self/mountinfo"), Verdict::drift);
    waiting.waits = When::next_boot;
    PlaneState unknown =
        sample::plane(Plane::persisted, {Unknown{"no permission to read it"}, "/etc/fstab", {}}, Verdict::unknown);
    unknown.recorded = "300";
    state.planes = {waiting, unknown, sample::plane(Plane::boot, {Absent{"no initramfs"}, "", {}}, Verdict::absent)};
    state.verdict = Verdict::drift;
    const std::string text = drift_text(with(state));
    EXPECT_THAT(
        text,
        HasSubstr("waits     live       5  /proc/self/mountinfo\n                       waits for the next boot\n"));
    EXPECT_THAT(text, HasSubstr("unknown   persisted  no permission to read it  /etc/fstab\n"));
    EXPECT_THAT(text, HasSubstr("last applied: 300"));
    EXPECT_THAT(text, HasSubstr("absent    boot       no initramfs"));
}

TEST(DriftText, AnAcceptedDriftIsMarkedWithItsEnd) {
    SettingState state = sample::setting("sysctl[\"vm.swappiness\"]", "150", Is{std::int64_t{150}, 0});
    PlaneState live = sample::plane(Plane::live, sample::found(60, "/proc/sys/vm/swappiness"), Verdict::drift);
    live.accepted = Accepted{Place{"laptop.toml", 20, 1}, "2027-03-01"};
    live.cannot = "this kernel has no such value";
    state.planes = {live};
    const std::string text = drift_text(with(state));
    EXPECT_THAT(text, HasSubstr("accepted  live       60"));
    EXPECT_THAT(text, HasSubstr("accepted until 2027-03-01 (laptop.toml:20:1)"));
    EXPECT_THAT(text, HasSubstr("cannot: this kernel has no such value"));
}

TEST(DriftText, APlaneWithAConditionOfItsOwnNamesIt) {
    SettingState state = sample::setting("a.b", "50%", Is{std::int64_t{50}, 0});
    state.setting.on_plane[Plane::live] = AtLeast{4096};
    state.planes = {sample::plane(Plane::live, sample::found(1, "/x"), Verdict::drift)};
    state.verdict = Verdict::drift;
    EXPECT_THAT(drift_text(with(state)), HasSubstr("live       1, wanted at least 4096  /x"));
}

TEST(DriftText, TextOfTheHostCannotReachTheTerminalRaw) {
    SettingState state = sample::setting("a.b", "1", Is{std::int64_t{1}, 0});
    state.planes = {sample::plane(Plane::live, {Found{std::string{"x\x1b[2Jy"}, ""}, "/etc/\x1b]0;title\x07", {"/s\n"}},
                                  Verdict::drift)};
    state.verdict = Verdict::drift;
    const std::string text = drift_text(with(state));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_THAT(text, HasSubstr("x\\x1b[2Jy"));
}

TEST(DriftText, InfoFindingsAreForVerboseOnly) {
    Evaluation evaluation;
    evaluation.findings = {
        {"rule-matches-nothing", Severity::warning, "The rule matches nothing here.", "laptop.toml:20:1"},
        {"not-managed", Severity::info, "Left alone.", ""}};
    EXPECT_THAT(drift_text(evaluation),
                HasSubstr("Findings:\n  warning: The rule matches nothing here. [rule-matches-nothing]\n"
                          "    at laptop.toml:20:1\n"));
    EXPECT_THAT(drift_text(evaluation), Not(HasSubstr("Left alone")));
    EXPECT_THAT(drift_text(evaluation, true), HasSubstr("  info: Left alone. [not-managed]\n"));
}

TEST(ApplyText, NamesEachOutcomeAndWhatIsStillNotAsWanted) {
    ApplyReport report;
    report.after = sample::drifting();
    report.outcomes = {
        {report.after.plan.actions[0], ActionResult::failed, "the kernel refused: Invalid argument; undone"}};
    report.exit_code = 1;
    const std::string text = render_apply_text(report, sample::head("apply"), TextStyle{});
    EXPECT_THAT(text, HasSubstr("Applied to host1\n  failed   a1  write:/proc/sys/vm/swappiness\n"
                                "               the kernel refused: Invalid argument; undone\n"));
    EXPECT_THAT(text, HasSubstr("Not in sync afterwards:\nsysctl[\"vm.swappiness\"]"));
}

TEST(HistoryText, ShowsTransactionsWithTheirSteps) {
    EXPECT_EQ(render_history_text({}, TextStyle{}), "No transaction yet.\n");
    Transaction one;
    one.number = 3;
    one.command = "apply";
    one.started = "2026-11-30T12:00:00Z";
    JournaledStep step;
    step.verb = Verb::drop_in;
    step.target = "/etc/sysctl.d/zz-storpol.conf";
    step.outcome = JournaledStep::Outcome::done;
    one.steps = {step};
    EXPECT_EQ(render_history_text({one}, TextStyle{}),
              "3  2026-11-30T12:00:00Z  apply  interrupted\n"
              "  done       drop-in:/etc/sysctl.d/zz-storpol.conf\n");
}

TEST(Selected, TakesADomainAnAddressAGlobOrTheNameInTheBrackets) {
    const Evaluation all = sample::drifting();
    for (const char* word : {"sysctl", "sysctl[\"vm.swappiness\"]", "sysctl*", "vm.swappiness"}) {
        const Evaluation part = selected(all, word);
        ASSERT_EQ(part.settings.size(), 1u) << word;
        EXPECT_EQ(part.plan.actions.size(), 1u) << word;
        EXPECT_EQ(part.summary.drift, 1) << word;
    }
    for (const char* word : {"sys", "swappiness", "mount", ""})
        EXPECT_TRUE(selected(all, word).settings.empty()) << word;
}

}  // namespace
}  // namespace storpol
