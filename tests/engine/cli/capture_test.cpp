// SPDX-License-Identifier: GPL-3.0-or-later
// Captures: recorded from a tree or from this machine, read back with --host.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.h"

namespace storpol::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* captured =
    "storpol-capture 1 0.1.0 2026-11-30T12:00:00Z\n"
    "now 2026-11-30T12:00:00Z\n"
    "file /proc/sys/kernel/hostname resolved=/proc/sys/kernel/hostname\n"
    "|host1\n"
    "file /proc/sys/vm/swappiness resolved=/proc/sys/vm/swappiness\n"
    "|60\n"
    "file /var/lib/storpol/applied.json !ENOENT\n";

class Capture : public ProgramTest {
  protected:
    std::string policy = file("site.toml", "version = 1\n[vm]\nswappiness = 150\n");
    std::string capture = file("host1.capture", captured);
};

TEST_F(Capture, PlanReadsIt) {
    const Ran ran = storpol({"plan", "--host", capture, policy});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("Plan for host1 (capture "));
    EXPECT_THAT(ran.out, HasSubstr("60 (new)"));
    EXPECT_THAT(ran.out, HasSubstr("unknown   persisted"));  // no file of it is in the capture
}

TEST_F(Capture, WhatDriftsIsTwoAndWhatCannotBeKnownIsThree) {
    EXPECT_EQ(storpol({"drift", "--host", capture, policy}).code, 2);
    const std::string same = file("same.toml", "version = 1\n[vm]\nswappiness = 60\n");
    const Ran ran = storpol({"drift", "--host", capture, same});
    EXPECT_EQ(ran.code, 3) << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("unknown"));
}

TEST_F(Capture, ATextThatIsNoCaptureIsAnError) {
    const Ran ran = storpol({"plan", policy, "--host", file("bad.capture", "storpol-capture 1 0.1.0 x\n|stray\n")});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("bad.capture"));
}

TEST_F(Capture, OfThisMachineGivesTheSamePlanAndIsPrivate) {
    const std::string mine = (dir / "mine.capture").string();
    const Ran recorded = storpol({"capture", policy, "-o", mine});
    ASSERT_EQ(recorded.code, 0) << recorded.err;
    EXPECT_EQ(fs::status(mine).permissions() & fs::perms::mask, fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_THAT(read_text(mine), StartsWith("storpol-capture 1 "));

    const auto live = nlohmann::json::parse(storpol({"plan", "--format", "json", policy}).out);
    const auto replayed = nlohmann::json::parse(storpol({"plan", "--format", "json", "--host", mine, policy}).out);
    EXPECT_EQ(live["settings"], replayed["settings"]);
    EXPECT_EQ(live["actions"], replayed["actions"]);
    EXPECT_EQ(live["host"]["name"], replayed["host"]["name"]);
    EXPECT_EQ(replayed["host"]["source"], "capture " + mine);
}

TEST_F(Capture, HoldsTheRecordSoThatKindsAreRight) {
    const fs::path tree = dir / "tree";
    write_text(tree / "etc/sysctl.d/10-local.conf", "vm.swappiness = 10\n");
    write_text(tree / "usr/lib/systemd/systemd", "");
    fs::create_directories(tree / "sbin");
    fs::create_symlink("/usr/lib/systemd/systemd", tree / "sbin/init");
    ASSERT_EQ(storpol({"apply", "--yes", policy, "--root", tree.string()}).code, 0);
    fs::remove(tree / "etc/sysctl.d/zz-storpol.conf");
    const std::string image = (dir / "image.capture").string();
    ASSERT_EQ(storpol({"capture", policy, "--root", tree.string(), "-o", image}).code, 0);
    const Ran ran = storpol({"drift", policy, "--host", image});
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.out, HasSubstr("moved since the last apply"));
}

TEST_F(Capture, DriftNeedsAPolicyToCompareWith) {
    if (fs::exists("/etc/storpol/policy.toml")) GTEST_SKIP() << "this machine has a policy";
    const Ran ran = storpol({"drift", "--host", capture});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("/etc/storpol/policy.toml"));
    EXPECT_THAT(storpol({"plan", "--host", capture}).err, IsEmpty());  // reading commands fall back to builtin:default
}

TEST_F(Capture, ADirectoryThatIsNotThereCannotTakeThePlan) {
    const Ran ran = storpol({"plan", "--host", capture, policy, "-o", (dir / "no/such/plan").string()});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("no/such/plan"));
}

}  // namespace
}  // namespace storpol::test
