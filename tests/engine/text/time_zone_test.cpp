// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/time_zone.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

namespace storpol {
namespace {

std::string zone_file(const std::string& name) {
    std::ifstream in("/usr/share/zoneinfo/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(TimeZone, AgreesWithTheCLibrary) {
    const char* before = std::getenv("TZ");
    const std::string kept = before == nullptr ? "" : before;
    int known = 0;
    for (const std::string name : {"Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"}) {
        const auto bytes = zone_file(name);
        if (bytes.empty()) continue;
        ::setenv("TZ", (":" + name).c_str(), 1);
        ::tzset();
        for (std::time_t when = 1700000000; when < 2000000000; when += 3600 * 511) {
            const auto offset = zone_offset_at(bytes, when);
            if (!offset) continue;  // a table that ends early
            std::tm local{};
            ::localtime_r(&when, &local);
            ++known;
            ASSERT_EQ(*offset, local.tm_gmtoff) << name << " " << when;
        }
    }
    if (before == nullptr) {
        ::unsetenv("TZ");
    } else {
        ::setenv("TZ", kept.c_str(), 1);
    }
    ::tzset();
    if (known == 0) GTEST_SKIP() << "no /usr/share/zoneinfo here";
}

TEST(TimeZone, WhatIsNoZoneHasNoOffset) {
    EXPECT_EQ(zone_offset_at("", 0), std::nullopt);
    EXPECT_EQ(zone_offset_at("TZif2", 0), std::nullopt);
    EXPECT_EQ(zone_offset_at(std::string(44, '\xff'), 0), std::nullopt);
}

TEST(TimeZone, ADamagedFileIsSurvived) {
    const auto whole = zone_file("Europe/Berlin");
    if (whole.empty()) GTEST_SKIP() << "no /usr/share/zoneinfo here";
    for (std::size_t size = 0; size < whole.size(); size += 7) zone_offset_at(whole.substr(0, size), 1700000000);
    EXPECT_TRUE(rc::check("any bytes", [&whole] {
        auto bytes = whole;
        for (int i = 0; i < 8; ++i) bytes[*rc::gen::inRange<std::size_t>(5, 100)] = *rc::gen::arbitrary<char>();
        zone_offset_at(bytes, *rc::gen::arbitrary<std::int64_t>());
    }));
}

}  // namespace
}  // namespace storpol
