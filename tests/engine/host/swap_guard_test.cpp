// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/swap_guard.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "engine/host/host.h"

namespace storpol {
namespace {

constexpr std::string_view device = "/dev/zram0";

std::string swaps(std::int64_t used_kib) {
    return "Filename Type Size Used Priority\n/dev/zram0 partition 8142680 " + std::to_string(used_kib) + " 100\n";
}

std::string meminfo(std::int64_t available_kib) {
    return "MemTotal:       16285368 kB\nMemFree: 1 kB\nMemAvailable:    " + std::to_string(available_kib) + " kB\n";
}

// A machine of 15.5 GiB with 1 GiB swapped out, and memory for it.
MemoryHost machine() {
    MemoryHost host;
    host.put_file("/proc/swaps", swaps(1048576));
    host.put_file("/proc/meminfo", meminfo(8388608));
    return host;
}

TEST(SwapGuard, EnoughMemoryLetsIt) {
    auto host = machine();
    EXPECT_EQ(why_not_swap_off(host, device), "");
}

TEST(SwapGuard, AreaThatHoldsNothingNeedsNoMemory) {
    MemoryHost host;
    host.put_file("/proc/swaps", swaps(0));
    EXPECT_EQ(why_not_swap_off(host, device), "");
    EXPECT_EQ(why_not_swap_off(host, "/dev/zram1"), "") << "not in use";
}

TEST(SwapGuard, ShortMemoryIsRefusedWithTheNumbers) {
    auto host = machine();
    // 1 GiB and a quarter, and 5 % of the memory to live on: 1310720 + 814268.
    host.put_file("/proc/meminfo", meminfo(1310720 + 814268 - 1));
    const auto why = why_not_swap_off(host, device);
    EXPECT_NE(why.find("1024 MiB are swapped out"), std::string::npos) << why;
    EXPECT_NE(why.find("2076 MiB"), std::string::npos) << why;
    host.put_file("/proc/meminfo", meminfo(1310720 + 814268));
    EXPECT_EQ(why_not_swap_off(host, device), "");
}

TEST(SwapGuard, WhatCannotBeReadIsNotEnough) {
    auto host = machine();
    host.put_file("/proc/meminfo", "MemTotal: 16285368 kB\n");
    EXPECT_NE(why_not_swap_off(host, device), "");
    host.refuse({QueryKind::file, {"/proc/swaps"}}, EACCES);
    EXPECT_NE(why_not_swap_off(host, device), "");
}

TEST(SwapGuard, PressureIsRefused) {
    auto host = machine();
    host.put_file("/proc/pressure/memory",
                  "some avg10=40.00 avg60=9.00 avg300=1.00 total=5\nfull avg10=9.99 avg60=9.00 avg300=1.00 total=5\n");
    EXPECT_EQ(why_not_swap_off(host, device), "");
    host.put_file("/proc/pressure/memory",
                  "some avg10=40.00 avg60=9.00 avg300=1.00 total=5\nfull avg10=12.50 avg60=9.00 avg300=1.00 total=5\n");
    EXPECT_NE(why_not_swap_off(host, device).find("12.50"), std::string::npos);
}

TEST(SwapGuard, GroupWhoseLimitIsTooLowIsNamed) {
    auto host = machine();
    const std::string group = "/sys/fs/cgroup/system.slice/build.service";
    host.put_file("/sys/fs/cgroup/cgroup.controllers", "memory\n");
    host.put_file(group + "/memory.swap.current", "167772160\n");
    host.put_file(group + "/memory.current", "52428800\n");
    host.put_file(group + "/memory.max", "max\n");
    EXPECT_EQ(why_not_swap_off(host, device), "");
    host.put_file(group + "/memory.max", "104857600\n");
    const auto why = why_not_swap_off(host, device);
    EXPECT_NE(why.find(group), std::string::npos) << why;
    EXPECT_NE(why.find("160 MiB"), std::string::npos) << why;
    EXPECT_NE(why.find("50 MiB"), std::string::npos) << why;
    host.put_file(group + "/memory.max", "419430400\n");
    EXPECT_EQ(why_not_swap_off(host, device), "");
}

TEST(SwapGuard, FirstVersionOfGroupsCountsBothTogether) {
    auto host = machine();
    const std::string group = "/sys/fs/cgroup/memory/box";
    host.put_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    host.put_file(group + "/memory.memsw.usage_in_bytes", "209715200\n");
    host.put_file(group + "/memory.usage_in_bytes", "104857600\n");
    host.put_file(group + "/memory.limit_in_bytes", "157286400\n");
    const auto why = why_not_swap_off(host, device);
    EXPECT_NE(why.find(group), std::string::npos) << why;
}

}  // namespace
}  // namespace storpol
