// SPDX-License-Identifier: GPL-3.0-or-later
// The machines of examples/, each a capture with a policy and the plan it leads to, and the ready policies on all of
// them.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/policy/load.h"
#include "tests/engine/cli/program.h"

namespace storpol::test {
namespace {

const fs::path examples = fs::path(STORPOL_SOURCE_DIR) / "examples";

std::vector<std::string> machines() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(examples)) {
        if (fs::exists(entry.path() / "host.capture")) names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
}

// Standing in an example's folder, as its reader does: the plan names files as they are named to it.
class Examples : public ProgramTest {
  protected:
    ~Examples() override { fs::current_path(before_); }

  private:
    const fs::path before_ = fs::current_path();
};

TEST_F(Examples, ThereAreSixMachinesOrMore) {
    EXPECT_GE(machines().size(), 6U);
}

// What a command prints in a machine's folder against the file that holds it; true where the file was written anew.
bool expect_output(const Ran& ran, const fs::path& file) {
    EXPECT_EQ(ran.code, 0) << file << ": " << ran.err;
    if (std::getenv("STORPOL_ACCEPT") != nullptr) {
        write_text(file, ran.out);
        return true;
    }
    EXPECT_EQ(ran.out, read_text(file)) << file;
    return false;
}

TEST_F(Examples, EachMachineGivesItsPlan) {
    bool wrote = false;
    for (const auto& name : machines()) {
        fs::current_path(examples / name);
        const auto ran = storpol({"plan", "--host", "host.capture", "policy.toml"});
        wrote = expect_output(ran, examples / name / "plan.txt") || wrote;
    }
    if (wrote) GTEST_SKIP() << "wrote the plans: review them";
}

TEST_F(Examples, EachMachineExplainsWhereDiscardsEnd) {
    bool wrote = false;
    for (const auto& name : machines()) {
        fs::current_path(examples / name);
        auto all = storpol({"explain", "--host", "host.capture"});
        const auto root = storpol({"explain", "/", "--host", "host.capture"});
        all.out += "\n" + root.out.substr(0, root.out.find("\n\nmount["));
        wrote = expect_output(all, examples / name / "explain.txt") || wrote;
    }
    if (wrote) GTEST_SKIP() << "wrote the explanations: review them";
}

TEST_F(Examples, EveryReadyPolicyPlansOnEveryMachineAndMeansSomethingOnTwo) {
    for (const auto& policy : builtin_names()) {
        int meant = 0;
        for (const auto& name : machines()) {
            const auto ran =
                storpol({"plan", "--format", "json", "--host", examples / name / "host.capture", "builtin:" + policy});
            ASSERT_EQ(ran.code, 0) << policy << " on " << name << ": " << ran.out << ran.err;
            const auto summary = nlohmann::json::parse(ran.out).at("summary");
            if (summary.at("settings").get<int>() > 0) ++meant;
            EXPECT_EQ(summary.at("unknown").get<int>(), 0)
                << policy << " on " << name << ": the capture lacks an answer";
        }
        EXPECT_GE(meant, 2) << policy;
    }
}

}  // namespace
}  // namespace storpol::test
