// SPDX-License-Identifier: GPL-3.0-or-later
// f2fs and vfat: what was seen on Linux 6.1 and 6.12 (tests/lab/vm/scenarios/filesystems.py sees it again).
#include <gtest/gtest.h>

#include <algorithm>

#include "resources/mount/option_change.h"
#include "resources/mount/option_set.h"

namespace storpol {
namespace {

constexpr KernelVersion v6_18{6, 18};

MountFacts facts(bool discards = true) {
    MountFacts known;
    known.kernel = v6_18;
    known.device_discards = discards;
    return known;
}

std::string value(const OptionSet& set, std::string_view property) {
    const OptionValue* const found = set.find(property);
    return found == nullptr ? "?" : found->value;
}

std::string meaning(std::string_view fstype, std::string_view list, std::string_view property) {
    return value(parse_options(fstype, list, v6_18), property);
}

std::vector<std::string> parameters(const RemountPlan& plan) {
    std::vector<std::string> words;
    for (const SuperParameter& parameter : plan.super) words.push_back(to_text(parameter));
    return words;
}

TEST(MountOptionsFlash, VfatWordsMeanWhatTheKernelShowsForThem) {
    EXPECT_EQ(meaning("vfat", "tz=UTC", "time_offset"), "0");
    EXPECT_EQ(meaning("vfat", "tz=UTC,time_offset=60", "time_offset"), "60");
    EXPECT_EQ(meaning("vfat", "nocase", "shortname"), "win95");
    EXPECT_EQ(meaning("vfat", "uni_xlate,utf8", "utf8"), "off");
    EXPECT_EQ(meaning("vfat", "uni_xlate=0,utf8", "utf8"), "on");
}

TEST(MountOptionsFlash, F2fsWordsMeanWhatTheKernelShowsForThem) {
    EXPECT_EQ(meaning("f2fs", "checkpoint=disable", "checkpoint"), "disable:0");
    EXPECT_EQ(parse_options("f2fs", "active_logs=3", v6_18).problems.size(), 1U);
    EXPECT_EQ(value(expected_live("f2fs", "discard", facts(false)), "discard"), "off");
    EXPECT_EQ(value(expected_live("f2fs", "discard", facts(true)), "discard"), "on");
}

TEST(MountOptionsFlash, AnF2fsIsToldEverythingAgain) {
    LiveText text;
    text.mount_options = "rw,relatime";
    text.super_options =
        "rw,lazytime,background_gc=off,nogc_merge,nodiscard,barrier,mode=adaptive,active_logs=6,alloc_mode=reuse,fsync_"
        "mode=strict";
    const RemountPlan plan = plan_remount("f2fs", live_options("f2fs", text, facts()),
                                          std::vector<WantedValue>{{"discard", "on", ""}}, facts());
    const auto words = parameters(plan);
    EXPECT_EQ(words.back(), "discard");
    EXPECT_NE(std::find(words.begin(), words.end(), "background_gc=off"), words.end());
    EXPECT_NE(std::find(words.begin(), words.end(), "fsync_mode=strict"), words.end());
    EXPECT_EQ(std::find(words.begin(), words.end(), "nodiscard"), words.end());
    // Not shown is off, and what is on by default comes back unless that is said.
    EXPECT_EQ(value(live_options("f2fs", text, facts()), "flush_merge"), "off");
    EXPECT_NE(std::find(words.begin(), words.end(), "noflush_merge"), words.end());
}

TEST(MountOptionsFlash, AnF2fsKeepsWhatNoSettingStandsFor) {
    LiveText text;
    text.mount_options = "rw,relatime,idmapped";
    text.super_options =
        "rw,seclabel,lazytime,compress_extension=txt,compress_extension=log,checkpoint=disable:9,newer=1,no_heap";
    const RemountPlan plan = plan_remount("f2fs", live_options("f2fs", text, facts()),
                                          std::vector<WantedValue>{{"fsync_mode", "strict", ""}}, facts());
    const auto words = parameters(plan);
    for (const char* const kept :
         {"compress_extension=txt", "compress_extension=log", "checkpoint=disable:9", "newer=1", "no_heap"})
        EXPECT_EQ(std::count(words.begin(), words.end(), kept), 1) << kept;
    for (const char* const foreign : {"seclabel", "idmapped", "rw"})
        EXPECT_EQ(std::count(words.begin(), words.end(), foreign), 0) << foreign;
}

TEST(MountOptionsFlash, AnF2fsFlagWithoutAnOffWordWaitsForTheNextMount) {
    const OptionSet now = expected_live("f2fs", "fastboot,data_flush", facts());
    for (const char* const property : {"fastboot", "data_flush"}) {
        const RemountPlan plan = plan_remount("f2fs", now, std::vector<WantedValue>{{property, "off", ""}}, facts());
        EXPECT_EQ(plan.next_mount.count(property), 1U) << property;
    }
    MountFacts old = facts();
    old.kernel = KernelVersion{6, 1};
    const std::vector<WantedValue> barrier{{"barrier", "on", ""}};
    EXPECT_EQ(
        plan_remount("f2fs", expected_live("f2fs", "nobarrier", facts()), barrier, old).next_mount.count("barrier"),
        1U);
    EXPECT_EQ(
        plan_remount("f2fs", expected_live("f2fs", "nobarrier", facts()), barrier, facts()).next_mount.count("barrier"),
        0U);
}

}  // namespace
}  // namespace storpol
