// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "engine/model/place.h"
#include "engine/model/plan.h"
#include "engine/model/setting.h"

namespace storpol {
namespace {

TEST(Names, PlanesGoBothWays) {
    for (const Plane plane : all_planes) EXPECT_EQ(parse_plane(to_text(plane)), plane);
    EXPECT_EQ(to_text(Plane::persisted), "persisted");
    EXPECT_FALSE(parse_plane("Live"));
    EXPECT_FALSE(parse_plane(""));
}

TEST(Names, VerbsGoBothWays) {
    int count = 0;
    for (int index = 0; index <= static_cast<int>(Verb::set_kernel_argument); ++index, ++count) {
        const Verb verb = static_cast<Verb>(index);
        EXPECT_EQ(parse_verb(to_text(verb)), verb);
    }
    EXPECT_EQ(count, 22);
    EXPECT_EQ(to_text(Verb::drop_in), "drop-in");
    EXPECT_EQ(to_text(Verb::remove), "delete");
    EXPECT_EQ(to_text(Verb::set_luks2_flag), "set-luks2-flag");
    EXPECT_EQ(to_text(Verb::set_up_zram), "set-up-zram");
    EXPECT_FALSE(parse_verb("remove"));
    EXPECT_FALSE(parse_verb("drop_in"));
}

TEST(Names, TimesOfEffectGoBothWays) {
    EXPECT_EQ(to_text(When::by_operator), "operator");
    EXPECT_EQ(to_text(When::in_image), "in-image");
    for (const When when : {When::now, When::next_mount, When::next_boot, When::by_operator, When::in_image}) {
        EXPECT_EQ(parse_when(to_text(when)), when);
    }
    EXPECT_FALSE(parse_when("by-operator"));
}

TEST(Names, VerdictsKindsRisksAndSeverities) {
    EXPECT_EQ(to_text(Verdict::in_sync), "in-sync");
    EXPECT_EQ(to_text(Verdict::drift), "drift");
    EXPECT_LT(Verdict::in_sync, Verdict::drift);
    EXPECT_EQ(to_text(DifferenceKind::fresh), "new");
    EXPECT_EQ(to_text(DifferenceKind::changed), "changed");
    EXPECT_EQ(to_text(DifferenceKind::moved), "moved");
    EXPECT_EQ(to_text(Risk::safe), "safe");
    EXPECT_EQ(to_text(Risk::guarded), "guarded");
    EXPECT_EQ(to_text(Risk::disruptive), "disruptive");
    EXPECT_EQ(to_text(Severity::info), "info");
    EXPECT_EQ(to_text(Severity::warning), "warning");
}

TEST(Places, AreWrittenAsCompilersDo) {
    EXPECT_EQ(to_text(Place{"laptop.toml", 14, 12}), "laptop.toml:14:12");
    EXPECT_EQ(to_text(Place{"/etc/fstab", 3, 0}), "/etc/fstab:3");
    EXPECT_EQ(to_text(Place{"/etc/fstab", 0, 0}), "/etc/fstab");
    EXPECT_EQ(to_text(Place{}), "");
}

TEST(Addresses, QuoteTheNameAsJson) {
    EXPECT_EQ(make_address("mount", "/", "atime"), "mount[\"/\"].atime");
    EXPECT_EQ(make_address("mount", "/a\"b\\c", "atime"), "mount[\"/a\\\"b\\\\c\"].atime");
    EXPECT_EQ(make_address("mglru", "", "min-ttl"), "mglru.min-ttl");
    EXPECT_EQ(make_address("fstrim.coverage", "/", ""), "fstrim.coverage[\"/\"]");
    EXPECT_EQ(make_address("sysctl", "vm.swappiness", ""), "sysctl[\"vm.swappiness\"]");
}

TEST(Settings, APlaneMayHaveItsOwnCondition) {
    Setting setting;
    setting.condition = Is{std::int64_t{1}, 0};
    setting.on_plane[Plane::boot] = AtMost{5};
    EXPECT_EQ(setting.condition_on(Plane::live), Condition(Is{std::int64_t{1}, 0}));
    EXPECT_EQ(setting.condition_on(Plane::boot), Condition(AtMost{5}));
}

TEST(Conditions, ReadAsPhrases) {
    EXPECT_EQ(to_text(Condition{Is{std::int64_t{150}, 0}}), "150");
    EXPECT_EQ(to_text(Condition{Is{std::int64_t{150}, 4}}), "150 (within 4)");
    EXPECT_EQ(to_text(Condition{AtLeast{131072}}), "at least 131072");
    EXPECT_EQ(to_text(Condition{AtMost{5000}}), "at most 5000");
    EXPECT_EQ(to_text(Condition{Not{{std::string("continuous")}}}), "not continuous");
    EXPECT_EQ(to_text(Condition{Not{{std::string("a"), std::int64_t{2}}}}), "not a or 2");
    EXPECT_EQ(to_text(Condition{Not{}}), "not set");
}

TEST(Steps, SayWhatTheyTouch) {
    EXPECT_EQ(target_of(EditFile{"/etc/fstab", "d", FieldWords{}}), "/etc/fstab");
    EXPECT_EQ(target_of(WriteAttribute{"/proc/sys/vm/swappiness", "1"}), "/proc/sys/vm/swappiness");
    EXPECT_EQ(target_of(Remount{"/srv", "29", {}, {}}), "/srv");
    EXPECT_EQ(target_of(DaemonReload{}), "systemd");
    EXPECT_TRUE(is_file_step(ReplaceFile{"/etc/a", "d", "", 0644}));
    EXPECT_TRUE(is_file_step(DeleteFile{"/etc/a", "d"}));
    EXPECT_FALSE(is_file_step(WriteAttribute{"/sys/a", "1"}));
    EXPECT_FALSE(is_file_step(DaemonReload{}));
}

}  // namespace
}  // namespace storpol
