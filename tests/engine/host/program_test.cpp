// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/program.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "engine/host/generators.h"
#include "engine/host/live_steps.h"
#include "engine/host/lvm.h"
#include "tests/engine/host/temp_tree.h"

namespace storpol {
namespace {

class RunProgram : public testing::Test {
  protected:
    Result<ProgramOutcome> script(const std::string& text,
                                  std::chrono::milliseconds limit = std::chrono::seconds(20),
                                  std::size_t bound = 1 << 20) {
        tree_.write("/script", "#!/bin/sh\n" + text + "\n", 0755);
        return run_program({{tree_.at("/script"), "one argument", "$HOME"}, limit, bound});
    }

    TempTree tree_;
};

TEST_F(RunProgram, GivesItsArgumentsAsTheyAreAndAFixedEnvironment) {
    setenv("STORPOL_TEST_SECRET", "x", 1);
    const auto outcome = script("echo \"$1|$2|$LC_ALL|$PATH|$STORPOL_TEST_SECRET\"; echo bad >&2; cat; exit 3");
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->output, "one argument|$HOME|C|/usr/sbin:/usr/bin:/sbin:/bin|\n");
    EXPECT_EQ(outcome->errors, "bad\n");
    EXPECT_EQ(outcome->exit_code, 3);
    EXPECT_FALSE(outcome->is_cut);
}

TEST_F(RunProgram, KeepsTheLastOfALongOutput) {
    const auto outcome =
        script("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done", std::chrono::seconds(20), 100);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_TRUE(outcome->is_cut);
    EXPECT_LE(outcome->output.size(), 100U);
    EXPECT_TRUE(outcome->output.ends_with("line 2999\n"));
    EXPECT_EQ(last_lines(*outcome, 2), "line 2998; line 2999");
}

TEST_F(RunProgram, EndsOneThatTakesTooLongWithAllItStarted) {
    const auto start = std::chrono::steady_clock::now();
    const auto outcome =
        script("sleep 100 & echo $! > " + tree_.at("/pid") + "; echo working; wait", std::chrono::milliseconds(300));
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code, ETIMEDOUT);
    EXPECT_NE(outcome.error().what.find("working"), std::string::npos);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
    const auto child = std::stoi(tree_.read("/pid"));
    for (int tries = 0; kill(child, 0) == 0 && tries < 100; ++tries) usleep(20000);
    std::ifstream status("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    std::getline(status, text);
    EXPECT_TRUE(text.empty() || text.find(") Z ") != std::string::npos) << text;
}

TEST_F(RunProgram, DoesNotWaitForWhatItLeavesRunning) {
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = script("(sleep 3) & echo done");
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->output, "done\n");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST_F(RunProgram, SaysHowItEnded) {
    EXPECT_EQ(script("kill -9 $$")->exit_code, 137);
    EXPECT_EQ(run_program({{"/nonexistent/program"}}).error().code, ENOENT);
    tree_.write("/plain", "no program");
    EXPECT_EQ(run_program({{tree_.at("/plain")}}).error().code, EACCES);
    EXPECT_EQ(last_lines({1, "out\n", "\x1b[31mred\x1b[0m\n\n", false}), "\\x1b[31mred\\x1b[0m");
}

// lvs --reportformat json of lvm2 2.03.16, shortened.
constexpr std::string_view report = R"({ "report": [ { "lv": [
 {"vg_name":"vg0", "lv_name":"root", "segtype":"linear", "discards":"", "kernel_discards":"", "data_percent":"", "metadata_percent":"", "pool_lv":"", "lv_active":"active"},
 {"vg_name":"vg0", "lv_name":"pool", "segtype":"thin-pool", "discards":"passdown", "kernel_discards":"nopassdown", "data_percent":"6.11", "metadata_percent":"10.94", "pool_lv":"", "lv_active":"active"},
 {"vg_name":"vg0", "lv_name":"thin", "segtype":"thin", "discards":"passdown", "kernel_discards":"", "data_percent":"1.00", "metadata_percent":"", "pool_lv":"pool", "lv_active":""}
 ] } ] })";

TEST(Lvs, IsALineForEachVolume) {
    const auto lines = describe_lvs(report);
    ASSERT_TRUE(lines.has_value());
    EXPECT_EQ(*lines,
              "vg0/pool type=thin-pool discards=passdown kernel-discards=nopassdown data-percent=6.11 "
              "metadata-percent=10.94 active=yes\n"
              "vg0/root type=linear active=yes\n"
              "vg0/thin type=thin discards=passdown data-percent=1.00 pool=pool\n");
    EXPECT_EQ(volume_of(*lines, "vg0/pool").at("discards"), "passdown");
    EXPECT_TRUE(volume_of(*lines, "vg0/other").empty());
}

TEST(Lvs, OtherTextIsNoReport) {
    EXPECT_EQ(*describe_lvs(R"({"report": [{"lv": []}]})"), "");
    for (const char* text : {"", "[]", "{}", R"({"report": 1})", "lvs: command not found"})
        EXPECT_EQ(describe_lvs(text).error().kind, ErrorKind::invalid) << text;
    EXPECT_EQ(*describe_lvs(R"({"report": [1, {"lv": [2, {"vg_name": 3}]}]})"), "/ type=\n");
}

TEST(Lvs, AThinPoolIsChangedOnlyByItsNames) {
    for (const char* pool : {"vg0", "vg0/a/b", "vg0/--yes", "-x/pool", "vg0/po ol", "/pool"})
        EXPECT_EQ(perform(ChangeThinPool{pool, "passdown"}).error().kind, ErrorKind::invalid) << pool;
    EXPECT_EQ(perform(ChangeThinPool{"vg0/pool", "sometimes"}).error().kind, ErrorKind::invalid);
}

TEST(Generators, OnlyKnownProgramsRunInKnownShapes) {
    const auto check = [](const std::string& program, std::vector<std::string> options) {
        return check_generator({program, std::move(options), "target"});
    };
    EXPECT_EQ(*check("/usr/sbin/update-initramfs", {"-u", "-k", "all"}), Artefact::initramfs);
    EXPECT_EQ(*check("/usr/sbin/update-initramfs", {"-u"}), Artefact::initramfs);
    EXPECT_EQ(*check("/usr/bin/dracut", {"--force", "/boot/initramfs-6.1.img", "6.1"}), Artefact::initramfs);
    EXPECT_EQ(*check("/usr/sbin/update-grub", {}), Artefact::bootloader);
    EXPECT_EQ(*check("/usr/sbin/grub2-mkconfig", {"-o", "/boot/grub2/grub.cfg"}), Artefact::bootloader);
    EXPECT_EQ(*check("/usr/sbin/grubby", {"--update-kernel=ALL", "--args=rd.luks.options=discard"}),
              Artefact::bootloader);
    const std::vector<std::pair<std::string, std::vector<std::string>>> refused{
        {"/bin/sh", {"-c", "true"}},
        {"/tmp/update-grub", {}},
        {"update-grub", {}},
        {"/usr/sbin/update-grub", {"-o"}},
        {"/usr/sbin/update-initramfs", {"-d", "-k", "all"}},
        {"/usr/sbin/update-initramfs", {"-u", "-k", "-b"}},
        {"/usr/sbin/update-initramfs", {"-u", "-k", "../x"}},
        {"/usr/sbin/grub2-mkconfig", {"-o", "/etc/passwd"}},
        {"/usr/sbin/grub2-mkconfig", {"-o", "/boot/../etc/passwd"}},
        {"/usr/sbin/grubby", {"--update-kernel=ALL", "--args=a b"}},
        {"/usr/sbin/../bin/dracut", {"--force"}},
    };
    for (const auto& [program, options] : refused)
        EXPECT_EQ(check(program, options).error().kind, ErrorKind::invalid) << program;
    EXPECT_EQ(perform(RunGenerator{"/bin/sh", {"-c", "true"}, "x"}).error().kind, ErrorKind::invalid);
}

}  // namespace
}  // namespace storpol
