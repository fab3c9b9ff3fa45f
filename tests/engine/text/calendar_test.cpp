// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/calendar.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>

#include "engine/text/time_span.h"

namespace storpol {
namespace {

std::string normal(std::string_view text) {
    const auto got = normal_calendar(text);
    return got ? *got : "error: " + got.error().what;
}

// Of seconds since 1970; none is -1.
std::int64_t due(std::string_view text, std::int64_t after, std::int64_t offset = 0) {
    const auto calendar = parse_calendar(text);
    if (!calendar) return -2;
    return next_due(*calendar, after, offset).value_or(-1);
}

constexpr std::int64_t monday = 1795996800;  // 2026-11-30T00:00:00Z, a Monday
constexpr std::int64_t day = 86400;

TEST(Calendar, WordsHaveTheirNormalForm) {
    EXPECT_EQ(normal("weekly"), "Mon *-*-* 00:00:00");
    EXPECT_EQ(normal("daily"), "*-*-* 00:00:00");
    EXPECT_EQ(normal("Monthly"), "*-*-01 00:00:00");
    EXPECT_EQ(normal("hourly"), "*-*-* *:00:00");
    EXPECT_EQ(normal("quarterly"), "*-01,04,07,10-01 00:00:00");
}

TEST(Calendar, SpellingsOfOneScheduleAreOne) {
    EXPECT_EQ(normal("Sun 04:00"), "Sun *-*-* 04:00:00");
    EXPECT_EQ(normal("sunday *-*-* 4:0:0"), "Sun *-*-* 04:00:00");
    EXPECT_EQ(normal("*-*-* *:0/15"), "*-*-* *:00/15:00");
    EXPECT_EQ(normal("Mon,Tue,Wed,Sun 1:00"), "Mon..Wed,Sun *-*-* 01:00:00");
    EXPECT_EQ(normal("Mon-Fri 1:00"), "Mon..Fri *-*-* 01:00:00");
    EXPECT_EQ(normal("Mon..Sun"), "*-*-* 00:00:00");
    EXPECT_EQ(normal("26-11-30"), "2026-11-30 00:00:00");
    EXPECT_EQ(normal("*-*~1 03:00 UTC"), "*-*~01 03:00:00 UTC");
    EXPECT_EQ(normal("weekly Europe/Berlin"), "Mon *-*-* 00:00:00 Europe/Berlin");
    EXPECT_EQ(normal("10-15,01 1,2:30"), "*-10-01,15 01,02:30:00");
}

TEST(Calendar, WhatIsMistypedIsAnError) {
    for (const char* text : {"", " ", "weekley", "Sun 4", "Sun 25:00", "Sun..Mon 04:00", "*-13-01", "*-*-* 04:60",
                             "04:00 Foo", "Mo 04:00", "*-*-*-* 04:00", "daily 04:00", "04:00:00:00", "Mon.. 04:00",
                             "*-*-0 04:00", "99999999999", "1/0:00", "*-*-* 04:00:0..0.5"}) {
        EXPECT_FALSE(parse_calendar(text)) << text << " gives " << normal(text);
    }
    EXPECT_EQ(parse_calendar("weekley").error().fix, "write \"weekly\"");
}

TEST(Calendar, TheNextTimeComesAfterTheGivenOne) {
    EXPECT_EQ(due("weekly", monday), monday + 7 * day);
    EXPECT_EQ(due("weekly", monday - 1), monday);
    EXPECT_EQ(due("*-*-* 03:00", monday + 12 * 3600), monday + day + 3 * 3600);
    EXPECT_EQ(due("*:0/15", monday + 60), monday + 900);
    EXPECT_EQ(due("Sun 04:00", monday), monday + 6 * day + 4 * 3600);
    EXPECT_EQ(due("*-*~1", monday), monday + 31 * day);
}

TEST(Calendar, TheClockOnTheWallDecides) {
    EXPECT_EQ(due("*-*-* 03:00", monday, 3600), monday + 2 * 3600);
    EXPECT_EQ(due("*-*-* 03:00 UTC", monday, 3600), monday + 3 * 3600);
}

TEST(Calendar, WhatNeverComesHasNoNextTime) {
    EXPECT_EQ(due("*-02-30", monday), -1);
    EXPECT_EQ(due("2020-01-01", monday), -1);
    EXPECT_EQ(due("*-02-29", monday), 1835395200);  // 2028-02-29
}

TEST(Calendar, TheNormalFormOfANormalFormIsItself) {
    EXPECT_TRUE(rc::check("normal is a fixed point", [](const std::vector<std::uint8_t>& bytes) {
        static constexpr std::string_view alphabet = "Mon,Fri..*-:/~01234579 ";
        std::string text;
        for (const auto byte : bytes) text += alphabet[byte % alphabet.size()];
        const auto once = normal_calendar(text);
        if (once) RC_ASSERT(normal(*once) == *once);
    }));
}

// What systemd makes of the same text; none where it refuses it.
std::optional<std::string> oracle(const std::string& text) {
    const std::string command = "systemd-analyze calendar '" + text + "' 2>/dev/null";
    FILE* pipe = popen(command.c_str(), "r");
    std::string output;
    std::array<char, 512> buffer{};
    while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) output += buffer.data();
    const bool ok = pclose(pipe) == 0;
    if (!ok) return std::nullopt;
    const std::string label = "Normalized form: ";
    const auto at = output.find(label);
    // Where the text is normal already it is printed once.
    if (at == std::string::npos) return text;
    return output.substr(at + label.size(), output.find('\n', at) - at - label.size());
}

// Right and wrong ones, some of systemd's own tests among them.
const char* const spellings[] = {"minutely",
                                 "hourly",
                                 "daily",
                                 "weekly",
                                 "monthly",
                                 "quarterly",
                                 "yearly",
                                 "semiannually",
                                 "anually",
                                 "WEEKLY",
                                 "Sun 04:00",
                                 "Sun *-*-* 04:00",
                                 "Sat,Sun 4:5",
                                 "Mon..Fri,Sun 1:2:3",
                                 "mon-wed 00:00",
                                 "Mon,",
                                 "Mon, 04:00",
                                 "Mon.. ",
                                 "Fri..Mon",
                                 "*-*-1..7 18:00",
                                 "*-02-30",
                                 "*-2~3",
                                 "*-*~7/1",
                                 "*-*~1..5",
                                 "2026-11-30",
                                 "70-1-1",
                                 "99-1-1",
                                 "69-1-1",
                                 "*:*:*",
                                 "*:*:0/5",
                                 "0/3:30",
                                 "0..23/5:0",
                                 "1..5/3:0",
                                 "8-18:0",
                                 "8..18:0",
                                 "10:0:0.5",
                                 "10:0:1.123456",
                                 "10:0:0..30/10",
                                 "5..5:0",
                                 "*-*-* 24:00",
                                 "60:00",
                                 "1:60",
                                 "1:0:60",
                                 "12",
                                 "12:",
                                 ":12",
                                 "@0",
                                 "@1395716396",
                                 "@abc",
                                 "@1 x",
                                 "weekly UTC",
                                 "weekly utc",
                                 "weekly Europe/Berlin",
                                 "weekly Nowhere",
                                 "Sunday",
                                 "Sunda",
                                 "sunday 4:00:00",
                                 "*",
                                 "*-*",
                                 "*-*-*",
                                 "1-1-1-1",
                                 "2026-1..3-1,15 4:00",
                                 "2026-11-30T04:00",
                                 "04:00 ",
                                 "  04:00",
                                 "04:00  ",
                                 "daily 04:00",
                                 "daily daily",
                                 "Mon 04:00 Tue",
                                 "1969-01-01",
                                 "2199-12-31",
                                 "2200-01-01",
                                 "*-0-1",
                                 "*-1-0",
                                 "*-1-32",
                                 "1,1,2:00",
                                 "3,1,2:00",
                                 "1..3,2:00",
                                 "0/24:0",
                                 "0/23:0",
                                 "0/59:0",
                                 "*:0/60",
                                 "*-*-01/10",
                                 "*-*-25/10",
                                 "*-*~3/5",
                                 "Mon Tue",
                                 "..",
                                 "-",
                                 "~",
                                 "*~1",
                                 "*-*~*",
                                 "1~2~3",
                                 "Wed, 17:48",
                                 "Wed..Sat,Tue 12-10-15 1:2:3",
                                 "*-*-7 0:0:0",
                                 "10-15",
                                 "monday *-12-* 17:00",
                                 "Mon,Fri *-*-3,1,2 *:30:45",
                                 "12,14,13,12:20,10,30",
                                 "12..14:10,20,30",
                                 "mon,fri *-1/2-1,3 *:30:45",
                                 "03-05 08:05:40",
                                 "05:40",
                                 "Sat,Sun 12-05 08:05:40",
                                 "2003-03-05 05:40",
                                 "05:40:23.4200004/3.1700005",
                                 "2003-02..04-05",
                                 "00:00 Pacific/Auckland",
                                 "Fri..Thu",
                                 "1/0:0",
                                 "*-*-*/2",
                                 "*/2:0",
                                 "1.5:0",
                                 "1:1.5",
                                 "1:1:1.",
                                 "0:0:0/0.5",
                                 "0:0:58/1",
                                 "00:00:00..00:10:00"};

TEST(Calendar, AgreesWithSystemd) {
    if (!std::filesystem::exists("/usr/bin/systemd-analyze")) GTEST_SKIP() << "systemd-analyze is not installed";
    for (const char* spelt : spellings) {
        const std::string text = spelt;
        const auto got = normal_calendar(text);
        const auto wanted = oracle(text);
        EXPECT_EQ(got ? std::optional<std::string>(*got) : std::nullopt, wanted) << '"' << text << '"';
    }
}

TEST(TimeSpan, IsReadAsUnitFilesSpellIt) {
    using std::chrono::microseconds;
    const std::map<std::string, std::int64_t> spans{
        {"5min", 300000000},    {"6000", 6000000000},     {"1h 30min", 5400000000},
        {"100min", 6000000000}, {"1h30m", 5400000000},    {"0", 0},
        {"1.5h", 5400000000},   {"2w", 1209600000000},    {"250ms", 250000},
        {" 1 s ", 1000000},     {"1month", 2629800000000}};
    for (const auto& [text, wanted] : spans) EXPECT_EQ(parse_time_span(text), microseconds(wanted)) << text;
    for (const char* text : {"", "5 parsecs", "min", "-5min", "1..2s", "5min x", "99999999999999999999"})
        EXPECT_FALSE(parse_time_span(text)) << text;
    EXPECT_EQ(parse_time_span("infinity"), microseconds::max());
}

}  // namespace
}  // namespace storpol
