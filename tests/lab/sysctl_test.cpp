// SPDX-License-Identifier: GPL-3.0-or-later
// The whole way on the running kernel: plan, apply, drift, rollback, capture, through the built program.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/lab/lab.h"

namespace storpol::lab {
namespace {

using Json = nlohmann::json;

constexpr const char* somaxconn = "net.core.somaxconn";
constexpr const char* fin_timeout = "net.ipv4.tcp_fin_timeout";

Json json_of(const Ran& ran) {
    Json document = Json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << ran.all();
    return document;
}

const Json* setting_of(const Json& document, const std::string& address) {
    for (const auto& setting : document.at("settings")) {
        if (setting.at("address") == address) return &setting;
    }
    return nullptr;
}

class SysctlLab : public Lab {
  protected:
    void SetUp() override {
        Lab::SetUp();
        if (IsSkipped()) return;
        ASSERT_TRUE(set_sysctl(somaxconn, "100"));
        ASSERT_TRUE(set_sysctl(fin_timeout, "60"));
        want({"net.core.somaxconn = 1234", "net.ipv4.tcp_fin_timeout = 30"});
    }
};

TEST_F(SysctlLab, PlanShowsAndChangesNothing) {
    const Ran plan = storpol({"plan", "--detailed-exitcode"});
    EXPECT_EQ(plan.code, 2) << plan.all();
    EXPECT_TRUE(plan.says("sysctl[\"net.core.somaxconn\"]")) << plan.out;
    EXPECT_TRUE(plan.says(own_file)) << plan.out;
    EXPECT_EQ(storpol({"plan"}).code, 0);
    EXPECT_EQ(sysctl_value(somaxconn), "100");
    EXPECT_FALSE(std::filesystem::exists(own_file));
    EXPECT_TRUE(names_in("/var/lib").empty());
}

TEST_F(SysctlLab, AppliedPolicyHoldsAndAPlanAfterItIsEmpty) {
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 0) << apply.all();
    EXPECT_EQ(sysctl_value(somaxconn), "1234");
    EXPECT_EQ(sysctl_value(fin_timeout), "30");
    EXPECT_NE(read_text(own_file).find("somaxconn"), std::string::npos);
    const Ran plan = storpol({"plan", "--detailed-exitcode"});
    EXPECT_EQ(plan.code, 0) << plan.all();
    EXPECT_EQ(storpol({"drift"}).code, 0);
    const std::string bytes = read_text(own_file);
    EXPECT_EQ(storpol({"apply", "--yes"}).code, 0);
    EXPECT_EQ(read_text(own_file), bytes);
}

TEST_F(SysctlLab, RollbackPutsEveryValueAndFileBack) {
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    const Ran back = storpol({"rollback", "--yes"});
    EXPECT_EQ(back.code, 0) << back.all();
    EXPECT_EQ(sysctl_value(somaxconn), "100");
    EXPECT_EQ(sysctl_value(fin_timeout), "60");
    EXPECT_FALSE(std::filesystem::exists(own_file));
    EXPECT_EQ(storpol({"plan", "--detailed-exitcode"}).code, 2);
}

TEST_F(SysctlLab, RollbackStopsWhereSomebodyChangedTheValueSince) {
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    ASSERT_TRUE(set_sysctl(somaxconn, "777"));
    const Ran back = storpol({"rollback", "--yes"});
    EXPECT_EQ(back.code, 1) << back.all();
    EXPECT_TRUE(back.says("somaxconn")) << back.all();
    EXPECT_TRUE(back.says("777")) << back.all();
    EXPECT_EQ(sysctl_value(somaxconn), "777");
    EXPECT_EQ(sysctl_value(fin_timeout), "30");
    EXPECT_TRUE(std::filesystem::exists(own_file));
}

TEST_F(SysctlLab, ValueChangedByHandIsSaidToHaveMoved) {
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    ASSERT_TRUE(set_sysctl(somaxconn, "555"));
    const Ran drift = storpol({"drift"});
    EXPECT_EQ(drift.code, 2) << drift.all();
    EXPECT_TRUE(drift.says("moved")) << drift.out;
    const Ran json = storpol({"drift", "--format", "json"});
    EXPECT_EQ(json.code, 2);
    const Json document = json_of(json);
    const Json* setting = setting_of(document, "sysctl[\"net.core.somaxconn\"]");
    ASSERT_NE(setting, nullptr);
    EXPECT_EQ(setting->at("planes").at("live").at("kind"), "moved");
    EXPECT_EQ(setting->at("planes").at("live").at("found"), "555");
    EXPECT_EQ(setting->at("planes").at("persisted").at("verdict"), "in-sync");
}

TEST_F(SysctlLab, ValueTheKernelRefusesFailsAndTheOthersHold) {
    want({"net.core.somaxconn = 1234", "net.ipv4.tcp_syn_retries = 500"});  // 1 to 127
    const std::string before = sysctl_value("net.ipv4.tcp_syn_retries");
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 1) << apply.all();
    EXPECT_TRUE(apply.says("Invalid argument")) << apply.all();
    EXPECT_EQ(sysctl_value("net.ipv4.tcp_syn_retries"), before);
    EXPECT_EQ(sysctl_value(somaxconn), "1234");
}

TEST_F(SysctlLab, WithoutATerminalNothingIsDoneUnasked) {
    const Ran apply = storpol({"apply"});
    EXPECT_EQ(apply.code, 1) << apply.all();
    EXPECT_TRUE(apply.says("--yes")) << apply.all();
    EXPECT_EQ(sysctl_value(somaxconn), "100");
    EXPECT_FALSE(std::filesystem::exists(own_file));
}

TEST_F(SysctlLab, ApplyAndDriftWithoutAPolicyAreErrors) {
    ASSERT_EQ(unlink(policy_file), 0);
    EXPECT_EQ(storpol({"apply", "--yes"}).code, 1);
    EXPECT_EQ(storpol({"drift"}).code, 1);
}

TEST_F(SysctlLab, PolicyThatOthersMayWriteIsNotApplied) {
    ASSERT_EQ(chmod(policy_file, 0666), 0);
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 1) << apply.all();
    EXPECT_TRUE(apply.says(policy_file)) << apply.all();
    EXPECT_EQ(sysctl_value(somaxconn), "100");
    EXPECT_EQ(storpol({"plan"}).code, 0);
}

TEST_F(SysctlLab, PlanNeedsNoRoot) {
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    const pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0) _exit(100);
        const Ran plan = storpol({"plan", "--detailed-exitcode"});
        _exit(plan.code);
    }
    const int code = wait_for(child);
    if (code == 127) GTEST_SKIP() << "the build directory is closed to other users";
    EXPECT_EQ(code, 0);
}

TEST_F(SysctlLab, FileOfSystemdSetsTheSameValuesAtTheNextBoot) {
    const std::string program = "/usr/lib/systemd/systemd-sysctl";
    if (access(program.c_str(), X_OK) != 0) GTEST_SKIP() << "no systemd-sysctl here";
    want({"net.core.somaxconn = 1234", "net.ipv4.tcp_fin_timeout = 30", "kernel.domainname = \"lab.example\""});
    ASSERT_EQ(storpol({"apply", "--yes"}).code, 0);
    ASSERT_TRUE(set_sysctl(somaxconn, "1"));
    ASSERT_TRUE(set_sysctl(fin_timeout, "61"));
    ASSERT_TRUE(set_sysctl("kernel.domainname", "other"));
    EXPECT_EQ(run({program}).code, 0);
    EXPECT_EQ(sysctl_value(somaxconn), "1234");
    EXPECT_EQ(sysctl_value(fin_timeout), "30");
    EXPECT_EQ(sysctl_value("kernel.domainname"), "lab.example");
}

TEST_F(SysctlLab, ForeignFileThatSortsLaterIsNamedAndLeftAlone) {
    ASSERT_TRUE(write_text("/etc/sysctl.d/zzz-late.conf", "# late\nnet.core.somaxconn = 9\n"));
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_NE(apply.code, 0) << apply.all();
    EXPECT_TRUE(apply.says("/etc/sysctl.d/zzz-late.conf:2")) << apply.all();
    EXPECT_EQ(read_text("/etc/sysctl.d/zzz-late.conf"), "# late\nnet.core.somaxconn = 9\n");
    EXPECT_EQ(storpol({"drift"}).code, 2);
}

TEST_F(SysctlLab, CaptureLeadsToTheSamePlan) {
    ASSERT_TRUE(write_text("/etc/sysctl.d/50-other.conf", "net.core.somaxconn = 5\n"));
    const Ran capture = storpol({"capture", "-o", "/run/lab/host.capture"});
    ASSERT_EQ(capture.code, 0) << capture.all();

    struct stat st {};

    ASSERT_EQ(stat("/run/lab/host.capture", &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0600U);
    EXPECT_EQ(read_text("/run/lab/host.capture").rfind("storpol-capture 1 ", 0), 0U);
    const Json live = json_of(storpol({"plan", "--format", "json"}));
    ASSERT_TRUE(set_sysctl(somaxconn, "1234"));  // the capture is of before
    const Json captured = json_of(storpol({"plan", "--host", "/run/lab/host.capture", "--format", "json"}));
    EXPECT_EQ(live.at("settings"), captured.at("settings"));
    EXPECT_EQ(live.at("actions"), captured.at("actions"));
    EXPECT_EQ(storpol({"drift", "--host", "/run/lab/host.capture"}).code, 2);
}

TEST_F(SysctlLab, SavedPlanIsDoneAsSavedAndNotOnceTheHostMoved) {
    ASSERT_EQ(storpol({"plan", "-o", "/run/lab.plan"}).code, 0);
    ASSERT_TRUE(set_sysctl(somaxconn, "1234"));  // one action less than saved
    const Ran stale = storpol({"apply", "--yes", "/run/lab.plan"});
    EXPECT_EQ(stale.code, 1) << stale.all();
    EXPECT_FALSE(std::filesystem::exists(own_file));
    ASSERT_TRUE(set_sysctl(somaxconn, "100"));
    const Ran apply = storpol({"apply", "--yes", "/run/lab.plan"});
    EXPECT_EQ(apply.code, 0) << apply.all();
    EXPECT_EQ(sysctl_value(somaxconn), "1234");
}

TEST_F(SysctlLab, ImageGetsTheFileAndTheKernelNothing) {
    const std::string root = "/run/lab/image";
    std::filesystem::create_directories(root + "/etc");
    const Ran apply = storpol({"apply", "--yes", "--root", root, policy_file});
    EXPECT_EQ(apply.code, 0) << apply.all();
    EXPECT_NE(read_text(root + own_file).find("somaxconn"), std::string::npos);
    EXPECT_EQ(sysctl_value(somaxconn), "100");
    EXPECT_FALSE(std::filesystem::exists(own_file));
    EXPECT_TRUE(names_in("/var/lib").empty());
    EXPECT_EQ(storpol({"plan", "--detailed-exitcode", "--root", root, policy_file}).code, 0);
    EXPECT_EQ(storpol({"rollback", "--yes", "--root", root}).code, 0);
    EXPECT_FALSE(std::filesystem::exists(root + own_file));
}

TEST_F(SysctlLab, ImageCannotLeadOutOfItself) {
    const std::string root = "/run/lab/image";
    std::filesystem::create_directories(root + "/etc");
    std::filesystem::create_directories("/run/lab/outside");
    std::filesystem::create_symlink("/run/lab/outside", root + "/etc/sysctl.d");
    storpol({"apply", "--yes", "--root", root, policy_file});
    EXPECT_TRUE(names_in("/run/lab/outside").empty());
}

class VmLab : public Lab {
  protected:
    void SetUp() override {
        if (!may_change_the_machine())
            GTEST_SKIP() << "changes vm.* of this machine for a moment: only with STORPOL_LAB=1";
        Lab::SetUp();
    }
};

TEST_F(VmLab, SwappinessIsAppliedAndRolledBack) {
    const RealValue swappiness("vm.swappiness");
    const std::string wanted = swappiness.old_value() == "133" ? "134" : "133";
    ASSERT_TRUE(write_text(policy_file, "version = 1\n[vm]\nswappiness = " + wanted + "\n"));
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 0) << apply.all();
    EXPECT_EQ(sysctl_value("vm.swappiness"), wanted);
    EXPECT_EQ(storpol({"drift"}).code, 0);
    ASSERT_TRUE(set_sysctl("vm.swappiness", "7"));
    EXPECT_EQ(storpol({"drift"}).code, 2);
    EXPECT_EQ(storpol({"apply", "--yes"}).code, 0);
    EXPECT_EQ(storpol({"rollback", "--yes"}).code, 0);
    EXPECT_EQ(sysctl_value("vm.swappiness"), "7");
}

// Writing one of the pair zeroes the other: putting back 0 would not put the ratio back.
TEST_F(VmLab, DirtyPairIsUndoneByTheOneThatWasInForce) {
    const RealValue bytes("vm.dirty_bytes");
    const RealValue ratio("vm.dirty_ratio");  // put back first: the ratio is in force, or 0 and then bytes win again
    ASSERT_TRUE(set_sysctl("vm.dirty_ratio", "21"));
    ASSERT_TRUE(write_text(policy_file, "version = 1\n[vm]\ndirty_bytes = 268435456\n"));
    const Ran apply = storpol({"apply", "--yes"});
    EXPECT_EQ(apply.code, 0) << apply.all();
    EXPECT_EQ(sysctl_value("vm.dirty_bytes"), "268435456");
    const Ran back = storpol({"rollback", "--yes"});
    EXPECT_EQ(back.code, 0) << back.all();
    EXPECT_EQ(sysctl_value("vm.dirty_ratio"), "21");
    EXPECT_EQ(sysctl_value("vm.dirty_bytes"), "0");
}

}  // namespace
}  // namespace storpol::lab
