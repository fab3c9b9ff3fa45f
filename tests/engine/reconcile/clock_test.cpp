// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/clock.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "engine/host/host.h"

namespace storpol {
namespace {

TEST(Clock, DaysAreCountedFromDatesAndTimes) {
    EXPECT_EQ(day_of("1970-01-01"), 0);
    EXPECT_EQ(day_of("1970-01-02T23:59:59Z"), 1);
    EXPECT_EQ(*day_of("2027-03-01") - *day_of("2027-02-28"), 1);
    EXPECT_EQ(*day_of("2028-03-01") - *day_of("2028-02-28"), 2);
}

TEST(Clock, WhatIsNoDayIsNone) {
    for (const auto* text : {"", "2027", "2027-02-30", "2027-13-01", "2027-00-01", "2027-1-1", "2027-03-01x",
                             "2027/03/01", "-027-03-01", "2027-03-0a", "+027-03-01 "}) {
        EXPECT_EQ(day_of(text), std::nullopt) << text;
    }
}

TEST(Clock, SecondsBecomeATimeInUtc) {
    EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00Z");
    EXPECT_EQ(rfc3339(1796036400), "2026-11-30T11:00:00Z");
    EXPECT_EQ(rfc3339(951827696), "2000-02-29T12:34:56Z");
}

TEST(Clock, TheBootIsReadFromTheKernel) {
    MemoryHost host;
    EXPECT_EQ(boot_id_of(host), "");
    EXPECT_EQ(boot_time_of(host), "");
    host.put_file("/proc/sys/kernel/random/boot_id", "7a2c1f3e-2f5b-4d6c-9a1e-3b0f6f1c2d4e\n");
    host.put_file("/proc/stat", "cpu  1 2\nctxt 5\nbtime 1796036400\nprocesses 3\n");
    EXPECT_EQ(boot_id_of(host), "7a2c1f3e-2f5b-4d6c-9a1e-3b0f6f1c2d4e");
    EXPECT_EQ(boot_time_of(host), "2026-11-30T11:00:00Z");
    for (const auto* bad :
         {"btime\n", "btime x\n", "btime -5\n", "btime 99999999999999999999\n", "btime 9223372036854775807\n"}) {
        host.put_file("/proc/stat", bad);
        EXPECT_EQ(boot_time_of(host), "") << bad;
    }
}

}  // namespace
}  // namespace storpol
