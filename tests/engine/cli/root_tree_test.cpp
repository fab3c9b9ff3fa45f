// SPDX-License-Identifier: GPL-3.0-or-later
// plan, apply, drift, history and rollback from end to end on a directory tree: what is persisted, and nothing of this
// machine.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.h"

namespace storpol::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class RootTree : public ProgramTest {
  protected:
    RootTree() {
        write_text(root / "usr/lib/systemd/systemd", "");
        fs::create_directories(root / "sbin");
        fs::create_symlink("/usr/lib/systemd/systemd", root / "sbin/init");
        fs::create_directories(root / "usr/lib/modules/6.1.0-18-amd64");
        write_text(root / "etc/hostname", "image1\n");
        write_text(root / "etc/sysctl.d/10-local.conf", "vm.swappiness = 10\n");
        policy = file("policy/site.toml", "version = 1\n[vm]\nswappiness = 150\n");
    }

    std::string own() const { return read_text(root / "etc/sysctl.d/zz-storpol.conf"); }

    std::vector<std::string> on_root(std::vector<std::string> arguments) const {
        arguments.push_back("--root");
        arguments.push_back(root.string());
        return arguments;
    }

    const fs::path root = dir / "tree";
    std::string policy;
};

TEST_F(RootTree, PlanShowsTheDifferenceAndChangesNothing) {
    const Ran ran = storpol(on_root({"plan", policy}));
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("Plan for image1 (root "));
    EXPECT_THAT(ran.out, HasSubstr("/etc/sysctl.d/10-local.conf:1"));
    EXPECT_THAT(ran.out, HasSubstr("+++ /etc/sysctl.d/zz-storpol.conf"));
    EXPECT_FALSE(fs::exists(root / "etc/sysctl.d/zz-storpol.conf"));
    EXPECT_FALSE(fs::exists(root / "var"));
    EXPECT_EQ(storpol(on_root({"plan", "--detailed-exitcode", policy})).code, 2);
    EXPECT_EQ(storpol(on_root({"drift", policy})).code, 2);
}

TEST_F(RootTree, ApplyThenPlanIsEmptyAndRollbackPutsBack) {
    const Ran applied = storpol(on_root({"apply", "--yes", policy}));
    ASSERT_EQ(applied.code, 0) << applied.err << applied.out;
    EXPECT_THAT(applied.out, HasSubstr("done"));
    EXPECT_THAT(own(), HasSubstr("vm.swappiness"));
    EXPECT_EQ(storpol(on_root({"plan", "--detailed-exitcode", policy})).code, 0);
    const Ran drift = storpol(on_root({"drift", policy}));
    EXPECT_EQ(drift.code, 0);
    EXPECT_THAT(drift.out, IsEmpty());

    const Ran history = storpol(on_root({"history"}));
    EXPECT_EQ(history.code, 0) << history.err;
    EXPECT_THAT(history.out, HasSubstr("apply"));
    const Ran back = storpol(on_root({"rollback", "--yes"}));
    EXPECT_EQ(back.code, 0) << back.err;
    EXPECT_FALSE(fs::exists(root / "etc/sysctl.d/zz-storpol.conf"));
    EXPECT_EQ(storpol(on_root({"drift", policy})).code, 2);
}

TEST_F(RootTree, DriftOfWhatWasAppliedIsCalledMoved) {
    ASSERT_EQ(storpol(on_root({"apply", "--yes", policy})).code, 0);
    fs::remove(root / "etc/sysctl.d/zz-storpol.conf");
    const Ran ran = storpol(on_root({"drift", policy}));
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.out, HasSubstr("moved since the last apply"));
}

TEST_F(RootTree, RollbackStopsAtWhatSomebodyElseChanged) {
    ASSERT_EQ(storpol(on_root({"apply", "--yes", policy})).code, 0);
    write_text(root / "etc/sysctl.d/zz-storpol.conf", "# mine now\n");
    const Ran ran = storpol(on_root({"rollback", "--yes"}));
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("zz-storpol.conf"));
    EXPECT_EQ(own(), "# mine now\n");
}

TEST_F(RootTree, RollbackOfNothingIsAnError) {
    const Ran ran = storpol(on_root({"rollback", "--yes"}));
    EXPECT_EQ(ran.code, 1);
    EXPECT_FALSE(ran.err.empty());
}

TEST_F(RootTree, WithoutATerminalApplyAsksForYes) {
    const Ran ran = storpol(on_root({"apply", policy}));
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("--yes"));
    EXPECT_FALSE(fs::exists(root / "etc/sysctl.d/zz-storpol.conf"));
    const Ran json = storpol(on_root({"apply", "--format", "json", policy}));
    EXPECT_EQ(json.code, 1);
    const auto document = nlohmann::json::parse(json.out);
    EXPECT_EQ(document["actions"][0]["result"], "left");
    EXPECT_EQ(document["errors"].size(), 1u);
}

TEST_F(RootTree, ASavedPlanIsDoneWhileItHoldsAndRefusedWhenTheHostMoved) {
    const std::string saved = (dir / "policy/plan.json").string();
    ASSERT_EQ(storpol(on_root({"plan", policy, "-o", saved})).code, 0);
    EXPECT_EQ(fs::status(saved).permissions() & fs::perms::mask, fs::perms::owner_read | fs::perms::owner_write);

    write_text(root / "etc/sysctl.d/zz-storpol.conf", "# something else\n");
    const Ran moved = storpol(on_root({"apply", "--yes", saved}));
    EXPECT_EQ(moved.code, 1);
    EXPECT_THAT(moved.err, HasSubstr("saved plan no longer holds"));
    EXPECT_EQ(own(), "# something else\n");

    fs::remove(root / "etc/sysctl.d/zz-storpol.conf");
    fs::remove(policy);  // the plan carries its policy
    const Ran done = storpol(on_root({"apply", "--yes", saved}));
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_THAT(own(), HasSubstr("vm.swappiness"));
}

TEST_F(RootTree, ASavedPlanGoesAloneAndOnlyToApply) {
    const std::string saved = (dir / "policy/plan.json").string();
    ASSERT_EQ(storpol(on_root({"plan", policy, "-o", saved})).code, 0);
    EXPECT_THAT(storpol(on_root({"plan", saved})).err, HasSubstr("only storpol apply takes it"));
    EXPECT_THAT(storpol(on_root({"apply", "--yes", saved, policy})).err, HasSubstr("name it alone"));
    EXPECT_THAT(storpol(on_root({"apply", "--yes", "--prune", saved})).err, HasSubstr("saved without --prune"));
    std::string text = read_text(saved);
    text.resize(text.size() / 2);
    const Ran torn = storpol(on_root({"apply", "--yes", file("policy/torn.json", text)}));
    EXPECT_EQ(torn.code, 1);
    EXPECT_THAT(torn.err, HasSubstr("torn.json"));
    EXPECT_FALSE(fs::exists(root / "etc/sysctl.d/zz-storpol.conf"));
}

TEST_F(RootTree, PruneTakesOutWhatThePolicyNoLongerNames) {
    ASSERT_EQ(storpol(on_root({"apply", "--yes", policy})).code, 0);
    const std::string smaller = file("policy/smaller.toml", "version = 1\n");
    const Ran left = storpol(on_root({"plan", smaller}));
    EXPECT_EQ(left.code, 0) << left.err;
    EXPECT_THAT(left.out, HasSubstr("no-longer-in-policy"));
    EXPECT_THAT(left.out, HasSubstr("No action"));
    ASSERT_EQ(storpol(on_root({"apply", "--yes", "--prune", smaller})).code, 0);
    EXPECT_FALSE(fs::exists(root / "etc/sysctl.d/zz-storpol.conf"));
}

TEST_F(RootTree, JsonOfApplyIsTheStateObservedAgain) {
    const Ran ran = storpol(on_root({"apply", "--yes", "--format", "json", policy}));
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json["command"], "apply");
    EXPECT_EQ(json["summary"]["in-sync"], 1);
    EXPECT_EQ(json["actions"][0]["result"], "done");
    EXPECT_EQ(json["settings"][0]["planes"].size(), 1u);  // persisted only
    const Ran back = storpol(on_root({"rollback", "--yes", "--format", "json"}));
    EXPECT_EQ(back.code, 0);
    const auto undone = nlohmann::json::parse(back.out);
    EXPECT_EQ(undone["rolled-back"], 1);
    EXPECT_EQ(undone["actions"][0]["result"], "done");
    const auto history = nlohmann::json::parse(storpol(on_root({"history", "--format", "json"})).out);
    EXPECT_EQ(history["transactions"].size(), 2u);
    EXPECT_EQ(history["transactions"][1]["rolls-back"], 1);
}

TEST_F(RootTree, ExplainShowsOneSettingOrSuggestsIt) {
    const Ran one = storpol(on_root({"explain", "vm.swappiness", "--policy", policy}));
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr("site.toml:3:14"));
    EXPECT_THAT(one.out, HasSubstr("swappiness = 150"));
    EXPECT_EQ(storpol(on_root({"explain", "sysctl", "--policy", policy})).code, 0);
    const Ran none = storpol(on_root({"explain", "sysctl[\"vm.swapiness\"]", "--policy", policy}));
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("did you mean sysctl[\"vm.swappiness\"]"));
}

TEST_F(RootTree, ATreeThatIsNotThereIsAnError) {
    const Ran ran = storpol({"plan", policy, "--root", (dir / "nowhere").string()});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("nowhere"));
}

TEST_F(RootTree, AsRootApplyTakesNoPolicyThatOthersCanWrite) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    fs::permissions(policy, fs::perms::others_write, fs::perm_options::add);
    const Ran ran = storpol(on_root({"apply", "--yes", policy}));
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("site.toml"));
    EXPECT_FALSE(fs::exists(root / "etc/sysctl.d/zz-storpol.conf"));
    EXPECT_EQ(storpol(on_root({"plan", policy})).code, 0);  // reading is free
}

}  // namespace
}  // namespace storpol::test
