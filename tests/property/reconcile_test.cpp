// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cerrno>

#include "engine/reconcile/journal.h"
#include "engine/reconcile/planner.h"
#include "tests/support/fake_resource.h"
#include "tests/support/generators.h"
#include "tests/support/memory_machine.h"

// The laws of the engine, on random machines of the fake domain.
namespace storpol {
namespace {

ApplyOptions allow_all() {
    ApplyOptions options;
    for (const auto& name : fake_names()) options.allow.push_back("write:" + fake_attribute(name));
    return options;
}

// What a second run may still find to do: what a guard refuses.
bool only_refused(const Plan& plan) {
    for (const auto& action : plan.actions) {
        if (action.refused.empty()) return false;
    }
    return true;
}

TEST(Laws, PlanAfterApplyIsEmpty) {
    EXPECT_TRUE(rc::check("plan after apply is empty", [] {
        const auto one = *any_fake_case();
        const auto resources = fake_resources();
        const auto policy = policy_of(one, resources);
        MemoryMachine machine;
        fill(machine, one);
        const auto report = machine.apply(policy, resources, allow_all());
        RC_ASSERT(report.has_value());
        const auto plan = machine.plan(policy, resources);
        RC_ASSERT(only_refused(plan.plan));
        RC_ASSERT(plan.plan == report->after.plan);
        for (const auto& gap : plan.plan.gaps) RC_ASSERT(gap.cannot.find("no way") == std::string::npos);
        // And so the next apply does nothing at all.
        const auto files = machine.host.files();
        const auto state = machine.state;
        RC_ASSERT(machine.apply(policy, resources, allow_all()).has_value());
        RC_ASSERT(machine.host.files() == files);
        RC_ASSERT(machine.state == state);
    }));
}

TEST(Laws, EveryDifferenceHasAnActionOrAGap) {
    EXPECT_TRUE(rc::check("each difference is served once", [] {
        const auto one = *any_fake_case();
        const auto resources = fake_resources();
        MemoryMachine machine;
        fill(machine, one);
        const auto got = machine.plan(policy_of(one, resources), resources);
        std::map<SettingPlane, int> served;
        for (const auto& action : got.plan.actions) {
            for (const auto& of : action.serves) ++served[of];
        }
        for (const auto& gap : got.plan.gaps) ++served[gap.of];
        std::size_t differences = 0;
        for (const auto& state : got.settings) {
            for (const auto& plane : state.planes) {
                if (plane.verdict != Verdict::drift) continue;
                ++differences;
                RC_ASSERT((served[{state.setting.address, plane.plane}] == 1));
            }
        }
        RC_ASSERT(served.size() == differences);
    }));
}

TEST(Laws, PlanPerformsNothing) {
    EXPECT_TRUE(rc::check("plan performs nothing", [] {
        const auto one = *any_fake_case();
        const auto resources = fake_resources();
        MemoryMachine machine;
        fill(machine, one);
        const auto files = machine.host.files();
        machine.plan(policy_of(one, resources), resources, *rc::gen::arbitrary<bool>());
        RC_ASSERT(machine.host.files() == files);
        RC_ASSERT(machine.state.empty());
        RC_ASSERT(machine.performer.performed() == 0);
    }));
}

TEST(Laws, RecordThenReplayGivesTheSamePlan) {
    EXPECT_TRUE(rc::check("record then replay gives the same plan", [] {
        const auto one = *any_fake_case();
        const auto resources = fake_resources();
        const auto policy = policy_of(one, resources);
        MemoryMachine machine;
        fill(machine, one);
        Picture picture(machine.host);
        const auto live = evaluate(policy, resources, picture, {});
        const auto replayed = make_snapshot_host(picture.capture("1", "2026-11-30T12:00:00Z"), "capture");
        RC_ASSERT(replayed.has_value());
        const auto again = evaluate(policy, resources, **replayed, {});
        RC_ASSERT(again.plan == live.plan);
        RC_ASSERT(again.findings == live.findings);
        RC_ASSERT(again.settings.size() == live.settings.size());
    }));
}

TEST(Laws, UnknownNeverActs) {
    EXPECT_TRUE(rc::check("unknown never acts", [] {
        const auto one = *any_fake_case();
        const auto code = *rc::gen::element(EACCES, EPERM, EIO);
        const auto resources = fake_resources();
        MemoryMachine machine;
        fill(machine, one);
        for (const auto& name : fake_names()) machine.host.refuse({QueryKind::file, {fake_attribute(name)}}, code);
        machine.host.refuse({QueryKind::file, {std::string(fake_own_file)}}, code);
        const auto got = machine.plan(policy_of(one, resources), resources);
        RC_ASSERT(got.plan.actions.empty());
        RC_ASSERT(got.plan.gaps.empty());
        RC_ASSERT(got.summary.unknown == got.summary.settings);
    }));
}

TEST(Laws, RollbackRestoresEveryByte) {
    EXPECT_TRUE(rc::check("rollback after apply is identity", [] {
        const auto one = *any_fake_case();
        const auto resources = fake_resources();
        const auto policy = policy_of(one, resources);
        MemoryMachine machine;
        fill(machine, one);
        const auto files = machine.host.files();
        const auto report = machine.apply(policy, resources, allow_all());
        RC_ASSERT(report.has_value());
        const auto back = machine.rollback();
        if (machine.host.files() == files && !back) {
            RC_ASSERT(back.error().kind == ErrorKind::no_such_file);  // there was nothing to do
            return;
        }
        RC_ASSERT(back.has_value());
        RC_ASSERT(machine.host.files() == files);
    }));
}

TEST(Laws, AFailedStepLeavesItsTargetAsItWas) {
    EXPECT_TRUE(rc::check("undo restores", [] {
        const auto one = *any_fake_case();
        const auto resources = fake_resources();
        MemoryMachine machine;
        fill(machine, one);
        const auto files = machine.host.files();
        const auto at = *rc::gen::inRange(1, 6);
        if (*rc::gen::arbitrary<bool>()) {
            machine.performer.fail_at(at);
        } else {
            machine.performer.fail_after_at(at);
        }
        const auto report = machine.apply(policy_of(one, resources), resources, allow_all());
        RC_ASSERT(report.has_value());
        bool failed = false;
        for (const auto& outcome : report->outcomes) {
            if (outcome.result != ActionResult::failed) continue;
            failed = true;
            const auto& path = outcome.action.target;
            RC_ASSERT(files.contains(path) == machine.host.files().contains(path));
            if (files.contains(path)) RC_ASSERT(files.at(path) == machine.host.files().at(path));
        }
        RC_ASSERT(failed == (report->exit_code == 1));
    }));
}

// The power goes at each moment in turn: every file is whole, old or new, and the next apply ends where an apply
// without the cut would have ended.
TEST(Laws, StopAnywhereRunAgainConverge) {
    EXPECT_TRUE(rc::check("stop at any moment, run again, converge", [] {
        const auto one = *any_fake_case();
        const auto resources = fake_resources();
        const auto policy = policy_of(one, resources);
        MemoryMachine undisturbed;
        fill(undisturbed, one);
        const auto expected = undisturbed.apply(policy, resources, allow_all());
        RC_ASSERT(expected.has_value());

        MemoryMachine machine;
        fill(machine, one);
        const auto before = machine.host.files();
        machine.power.cut_at(*rc::gen::inRange(1, undisturbed.power.moments() + 2));
        try {
            static_cast<void>(machine.apply(policy, resources, allow_all()));
        } catch (const PowerCut&) {
            RC_TAG("cut");
        }
        machine.power.cut_at(0);
        for (const auto& [path, bytes] : machine.host.files()) {
            const bool is_old = before.contains(path) && before.at(path) == bytes;
            const bool is_new = undisturbed.host.files().at(path) == bytes;
            RC_ASSERT(is_old || is_new);
        }
        const auto report = machine.apply(policy, resources, allow_all());
        RC_ASSERT(report.has_value());
        RC_ASSERT(machine.host.files() == undisturbed.host.files());
        RC_ASSERT(report->exit_code == expected->exit_code);
        RC_ASSERT(machine.plan(policy, resources).plan == expected->after.plan);
        MemoryStore store(machine.state, machine.power);
        RC_ASSERT(!interrupted_apply(store).has_value());
        RC_ASSERT(machine.state.contains("applied.json") == undisturbed.state.contains("applied.json"));
    }));
}

TEST(Laws, AHostileJournalOrRecordIsSurvived) {
    EXPECT_TRUE(rc::check("any text is survived", [] {
        const auto resources = fake_resources();
        const FakeCase one{{{"a", "2"}}, {}, {{"a", "1"}}};
        MemoryMachine machine;
        fill(machine, one);
        machine.state["applied.json"] = *rc::gen::arbitrary<std::string>();
        machine.state["journal/000001.jsonl"] = *rc::gen::arbitrary<std::string>();
        const auto report = machine.apply(policy_of(one, resources), resources);
        if (!report) {
            RC_ASSERT(report.error().kind == ErrorKind::invalid);
            RC_ASSERT(machine.performer.performed() == 0);
        } else {
            RC_ASSERT(machine.host.files().at(fake_attribute("a")) == "1\n");
        }
    }));
}

// A diff is right when it leads from the old text to the new one.
std::string patched(const std::string& before, const std::string& diff) {
    std::vector<std::string> old_lines;
    for (std::size_t at = 0; at < before.size();) {
        const auto end = before.find('\n', at);
        const auto to = end == std::string::npos ? before.size() : end + 1;
        old_lines.push_back(before.substr(at, to - at));
        at = to;
    }
    std::string out;
    std::size_t next = 0;
    std::string* last = nullptr;
    std::string kept;
    std::size_t at = diff.find("@@");
    while (at != std::string::npos && at < diff.size()) {
        const auto end = diff.find('\n', at);
        const auto line = diff.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("@@")) {
            const auto comma = line.find_first_of(", ", 4);
            const auto first = static_cast<std::size_t>(std::stoi(line.substr(4, comma - 4)));
            const bool empty_side = line.substr(comma, 3) == ",0 ";
            const auto to = empty_side ? first : first - 1;
            while (next < to) out += old_lines.at(next++);
        } else if (line.starts_with("\\")) {
            if (last != nullptr) last->pop_back();
        } else if (line.starts_with("-")) {
            ++next;
            last = nullptr;
        } else {
            if (line.starts_with(" ")) ++next;
            out += line.substr(1) + "\n";
            last = &out;
        }
    }
    while (next < old_lines.size()) out += old_lines.at(next++);
    return out;
}

TEST(Laws, ADiffLeadsFromTheOldTextToTheNew) {
    EXPECT_TRUE(rc::check("patching with the diff gives the new text", [] {
        const auto text = rc::gen::container<std::string>(rc::gen::element('a', 'b', '\n'));
        const auto before = *text;
        const auto after = *text;
        RC_ASSERT(patched(before, unified_diff("/x", before, after)) == after);
    }));
}

}  // namespace
}  // namespace storpol
