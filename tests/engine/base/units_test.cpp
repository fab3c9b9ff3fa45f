// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/units.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace storpol {
namespace {

using std::chrono::microseconds;

TEST(Units, SizesArePowersOf1024) {
    EXPECT_EQ(parse_size("0"), 0);
    EXPECT_EQ(parse_size("4096"), 4096);
    EXPECT_EQ(parse_size("512B"), 512);
    EXPECT_EQ(parse_size("64KiB"), 65536);
    EXPECT_EQ(parse_size("1MiB"), 1048576);
    EXPECT_EQ(parse_size("10GiB"), 10737418240);
    EXPECT_EQ(parse_size("2TiB"), 2199023255552);
}

TEST(Units, AmbiguousSizeNamesBothReadings) {
    const auto size = parse_size("1G");
    ASSERT_FALSE(size);
    EXPECT_EQ(size.error().what, "ambiguous size \"1G\"");
    EXPECT_EQ(size.error().fix, "write \"1GiB\" for powers of 1024, or \"1000000000B\" for powers of 1000");
    EXPECT_EQ(parse_size("3kB").error().fix, "write \"3KiB\" for powers of 1024, or \"3000B\" for powers of 1000");
}

TEST(Units, BadSizesAreErrorsWithAFix) {
    for (const char* text :
         {"", " 1", "1 KiB", "1.5GiB", "1,5GiB", "-1", "+1", "KiB", "1KIB", "1kib", "15%", "0x10", "1PiB",
          "9223372036854775808", "9007199254740992KiB", "8388608TiB", "9223372036854775807M"}) {
        const auto size = parse_size(text);
        ASSERT_FALSE(size) << text;
        EXPECT_EQ(size.error().kind, ErrorKind::invalid);
        EXPECT_FALSE(size.error().what.empty());
        EXPECT_FALSE(size.error().fix.empty()) << text;
    }
    EXPECT_EQ(parse_size("8388607TiB"), Bytes{8388607} << 40);
}

TEST(Units, ErrorsShowHostileTextSafely) {
    EXPECT_EQ(parse_size("\x1b[2J").error().what, "invalid size \"\\x1b[2J\"");
}

TEST(Units, SizeIsRenderedInTheLargestUnitThatDividesIt) {
    EXPECT_EQ(render_size(65536), "64KiB");
    EXPECT_EQ(render_size(1000), "1000B");
    EXPECT_EQ(render_size(0), "0B");
    EXPECT_EQ(render_size(Bytes{3} << 40), "3TiB");
    EXPECT_EQ(render_size(-1024), "-1KiB");
    EXPECT_TRUE(rc::check("parse of render is identity", [] {
        const auto bytes = *rc::gen::nonNegative<Bytes>();
        RC_ASSERT(parse_size(render_size(bytes)) == bytes);
    }));
}

TEST(Units, DurationsNeedAUnit) {
    EXPECT_EQ(parse_duration("500us"), microseconds{500});
    EXPECT_EQ(parse_duration("5ms"), microseconds{5000});
    EXPECT_EQ(parse_duration("1s"), microseconds{1'000'000});
    EXPECT_EQ(parse_duration("5min"), std::chrono::minutes{5});
    EXPECT_EQ(parse_duration("12h"), std::chrono::hours{12});
    EXPECT_EQ(parse_duration("3d"), std::chrono::hours{72});
    EXPECT_EQ(parse_duration("2w"), std::chrono::hours{336});
    const auto bare = parse_duration("5");
    ASSERT_FALSE(bare);
    EXPECT_EQ(bare.error().what, "duration \"5\" has no unit");
    EXPECT_EQ(bare.error().fix, "write for example \"5s\", \"5ms\" or \"5min\"");
    EXPECT_EQ(parse_duration("5m").error().fix, "write \"5min\" for minutes, or \"5ms\" for milliseconds");
}

TEST(Units, BadDurationsAreErrorsWithAFix) {
    for (const char* text :
         {"", "s", "1.5s", "-1s", "1 s", "1sec", "1S", "1min30s", "9223372036854775807s", "99999999999999999999us"}) {
        const auto duration = parse_duration(text);
        ASSERT_FALSE(duration) << text;
        EXPECT_FALSE(duration.error().fix.empty()) << text;
    }
}

TEST(Units, DurationRoundTrips) {
    EXPECT_EQ(render_duration(std::chrono::hours{336}), "2w");
    EXPECT_EQ(render_duration(std::chrono::minutes{90}), "90min");
    EXPECT_EQ(render_duration(microseconds{0}), "0us");
    EXPECT_TRUE(rc::check("parse of render is identity", [] {
        const microseconds duration{*rc::gen::nonNegative<std::int64_t>()};
        RC_ASSERT(parse_duration(render_duration(duration)) == duration);
    }));
}

TEST(Units, Percentages) {
    EXPECT_EQ(parse_percent("15%"), 15);
    EXPECT_EQ(parse_percent("0%"), 0);
    EXPECT_EQ(parse_percent("1000%"), 1000);
    EXPECT_EQ(parse_percent("15").error().fix, "write \"15%\"");
    for (const char* text : {"", "%", "1001%", "-1%", "1.5%", "15 %", "15%%", "15", "99999999999999999999%"}) {
        const auto percent = parse_percent(text);
        ASSERT_FALSE(percent) << text;
        EXPECT_FALSE(percent.error().fix.empty()) << text;
    }
}

}  // namespace
}  // namespace storpol
