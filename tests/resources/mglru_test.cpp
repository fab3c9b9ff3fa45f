// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/mglru.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "engine/host/host.h"
#include "tests/resources/domain_run.h"

namespace storpol {
namespace {

constexpr const char* own_file = "/etc/tmpfiles.d/00-storpol.conf";

MemoryHost machine() {
    MemoryHost host;
    host.put_file("/sys/kernel/mm/lru_gen/enabled", "0x0003\n");
    host.put_file("/sys/kernel/mm/lru_gen/min_ttl_ms", "1000\n");
    return host;
}

DomainRun run(const std::string& policy, Host& host) {
    return {make_mglru_resource(), "[mglru]\n" + policy, host};
}

TEST(Mglru, BitsTheHardwareLacksAreNoDrift) {
    auto host = machine();
    const auto it = run("enabled = true\nmin-ttl = \"1s\"\n", host);
    EXPECT_EQ(it.verdict("mglru.enabled", Plane::live), "in-sync") << "bit 2 is the hardware's";
    EXPECT_EQ(it.verdict("mglru.min-ttl", Plane::live), "in-sync");
    EXPECT_EQ(it.verdict("mglru.enabled", Plane::persisted), "drift");
    EXPECT_EQ(it.file_after(own_file).find("w /sys/kernel/mm/lru_gen/enabled - - - - y\n") != std::string::npos, true);
    EXPECT_NE(it.file_after(own_file).find("w /sys/kernel/mm/lru_gen/min_ttl_ms - - - - 1000\n"), std::string::npos);
}

TEST(Mglru, JiffiesRoundUp) {
    auto host = machine();
    host.put_file("/sys/kernel/mm/lru_gen/min_ttl_ms", "1004\n");
    EXPECT_EQ(run("min-ttl = \"1001ms\"\n", host).verdict("mglru.min-ttl", Plane::live), "in-sync");
    host.put_file("/sys/kernel/mm/lru_gen/min_ttl_ms", "1100\n");
    EXPECT_EQ(run("min-ttl = \"1001ms\"\n", host).verdict("mglru.min-ttl", Plane::live), "drift");
    host.put_file("/sys/kernel/mm/lru_gen/min_ttl_ms", "4\n");
    EXPECT_EQ(run("min-ttl = \"0ms\"\n", host).verdict("mglru.min-ttl", Plane::live), "drift") << "0 is off";
}

TEST(Mglru, FirstLineWinsOverAllDirectories) {
    auto host = machine();
    host.put_file("/usr/lib/tmpfiles.d/10-a.conf", "w! /sys/kernel/mm/lru_gen/min_ttl_ms - - - - 1000\n");
    host.put_file("/etc/tmpfiles.d/20-b.conf", "w /sys/kernel/mm/lru_gen/min_* - - - - 5\n");
    const auto it = run("min-ttl = \"1s\"\n", host);
    EXPECT_EQ(it.verdict("mglru.min-ttl", Plane::persisted), "in-sync");
    EXPECT_EQ(it.source("mglru.min-ttl", Plane::persisted), "/usr/lib/tmpfiles.d/10-a.conf:1");
}

TEST(Mglru, NameThatSortsBeforeOursWins) {
    auto host = machine();
    host.put_file("/etc/tmpfiles.d/00-a.conf", "w /sys/kernel/mm/lru_gen/min_ttl_ms - - - - 5\n");
    const auto it = run("min-ttl = \"1s\"\n", host);
    EXPECT_EQ(it.cannot("mglru.min-ttl", Plane::persisted).substr(0, 41), "overridden by /etc/tmpfiles.d/00-a.conf:1");
    EXPECT_TRUE(it.evaluation.plan.actions.empty());
}

TEST(Mglru, WhatALineWritesMayNotBeTold) {
    auto host = machine();
    host.put_file("/etc/tmpfiles.d/x.conf", "w /sys/kernel/mm/lru_gen/min_ttl_ms - - - - %b\n");
    EXPECT_EQ(run("min-ttl = \"1s\"\n", host).verdict("mglru.min-ttl", Plane::persisted), "unknown");
    host.put_file("/sys/kernel/mm/lru_gen/enabled", "perhaps\n");
    EXPECT_EQ(run("enabled = true\n", host).verdict("mglru.enabled", Plane::live), "unknown");
}

TEST(Mglru, KernelWithoutItHasNoSuchPlanes) {
    MemoryHost host;
    const auto it = run("enabled = true\n", host);
    EXPECT_EQ(it.verdict("mglru.enabled", Plane::live), "absent");
    EXPECT_EQ(it.verdict("mglru.enabled", Plane::persisted), "absent");
    EXPECT_TRUE(it.evaluation.plan.actions.empty());
}

TEST(Mglru, MinimumWithoutTheSwitchIsPointedAt) {
    auto host = machine();
    host.put_file("/sys/kernel/mm/lru_gen/enabled", "0x0000\n");
    EXPECT_NE(run("min-ttl = \"1s\"\n", host).finding("mglru-off"), nullptr);
    EXPECT_EQ(run("enabled = true\nmin-ttl = \"1s\"\n", host).finding("mglru-off"), nullptr);
}

// What systemd-tmpfiles itself makes of two lines for one path, in a tree of its own.
TEST(Mglru, TheRealProgramTakesTheFirstLineToo) {
    namespace fs = std::filesystem;
    if (!fs::exists("/usr/bin/systemd-tmpfiles")) GTEST_SKIP() << "no systemd-tmpfiles here";
    const fs::path root = fs::temp_directory_path() / ("storpol-tmpfiles-" + std::to_string(getpid()));
    fs::create_directories(root / "etc/tmpfiles.d");
    fs::create_directories(root / "target");
    std::ofstream(root / "etc/tmpfiles.d/10-a.conf") << "w /target/x - - - - 1\n";
    std::ofstream(root / "etc/tmpfiles.d/20-b.conf") << "w /target/x - - - - 2\n";
    std::ofstream(root / "target/x") << "0";
    const pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        execl("/usr/bin/systemd-tmpfiles", "systemd-tmpfiles", ("--root=" + root.string()).c_str(), "--create",
              nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::string got;
    std::ifstream(root / "target/x") >> got;
    fs::remove_all(root);
    EXPECT_EQ(got, "1");
}

}  // namespace
}  // namespace storpol
