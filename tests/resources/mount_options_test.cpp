// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "engine/base/text.h"
#include "engine/text/field_edit.h"
#include "resources/mount/option_change.h"
#include "resources/mount/option_set.h"
#include "resources/mount/option_value.h"

namespace storpol {
namespace {

constexpr KernelVersion v6_18{6, 18};

MountFacts facts(std::optional<bool> discards = true, KernelVersion kernel = v6_18) {
    MountFacts known;
    known.kernel = kernel;
    known.device_discards = discards;
    known.rotational = false;
    known.superblock_options = "user_xattr,acl";
    return known;
}

std::string value(const OptionSet& set, std::string_view property) {
    const OptionValue* const found = set.find(property);
    return found == nullptr ? "?" : found->value;
}

std::string meaning(std::string_view fstype, std::string_view list, std::string_view property) {
    return value(parse_options(fstype, list, v6_18), property);
}

constexpr const char* filesystems[] = {"ext4", "xfs", "btrfs", "f2fs", "vfat", "tmpfs"};

TEST(MountOptionTable, EveryRowIsFoundAndItsPropertyExists) {
    for (const char* const fstype : filesystems) {
        for (const OptionSpec* const spec : options_of(fstype)) {
            if (spec->kind != OptionClass::setting || spec->removed != KernelVersion{}) continue;
            EXPECT_NE(find_property(fstype, spec->property), nullptr) << fstype << " " << spec->word;
            const std::string word =
                spec->form == ValueForm::flag ? std::string(spec->word) : std::string(spec->word) + "=x";
            EXPECT_NE(find_option(fstype, word), nullptr) << fstype << " " << word;
            for (const std::string_view implied : split_words(spec->implies)) {
                EXPECT_NE(find_property(fstype, implied.substr(0, implied.find('='))), nullptr)
                    << fstype << " " << spec->word;
            }
        }
    }
}

TEST(MountOptionTable, EveryPropertyHasAWord) {
    for (const char* const fstype : filesystems) {
        std::set<std::string_view> names;
        for (const PropertySpec* const spec : properties_of(fstype)) {
            EXPECT_TRUE(names.insert(spec->name).second) << fstype << " " << spec->name;
            const auto options = options_of(fstype);
            EXPECT_TRUE(std::any_of(options.begin(), options.end(),
                                    [&](const OptionSpec* option) { return option->property == spec->name; }))
                << fstype << " " << spec->name;
        }
    }
}

TEST(MountOptionTable, EveryWordOfAValueMeansThatValue) {
    for (const char* const fstype : filesystems) {
        for (const OptionSpec* const spec : options_of(fstype)) {
            if (spec->kind != OptionClass::setting || spec->bare.empty() || spec->removed != KernelVersion{}) continue;
            // A row of the filesystem's own may stand before it (f2fs nolazytime).
            if (classify_option(fstype, spec->word) != OptionClass::setting) continue;
            const auto word = word_for(fstype, spec->property, spec->bare);
            ASSERT_TRUE(word) << fstype << " " << spec->word;
            EXPECT_EQ(value(parse_options(fstype, *word), spec->property), spec->bare) << fstype << " " << *word;
        }
    }
}

TEST(MountOptionTable, WordsOfUserspaceSelectorsAndStrangersAreTold) {
    EXPECT_EQ(classify_option("ext4", "x-systemd.automount"), OptionClass::userspace);
    EXPECT_EQ(classify_option("ext4", "X-fstrim.notrim"), OptionClass::userspace);
    EXPECT_EQ(classify_option("xfs", "nofail"), OptionClass::userspace);
    EXPECT_EQ(classify_option("btrfs", "subvol=@"), OptionClass::selector);
    EXPECT_EQ(classify_option("none", "bind"), OptionClass::selector);
    EXPECT_EQ(classify_option("ext4", "resv_strict"), OptionClass::unknown);
    EXPECT_EQ(classify_option("nfs", "vers=4"), OptionClass::unknown);
    EXPECT_EQ(classify_option("nfs", "noatime"), OptionClass::setting);
    EXPECT_EQ(classify_option("ext4", "defaults"), OptionClass::ignored);
}

TEST(MountOptionTable, TheKernelsAgeDecides) {
    EXPECT_EQ(classify_option("xfs", "nobarrier", KernelVersion{4, 18}), OptionClass::setting);
    EXPECT_EQ(classify_option("xfs", "nobarrier", KernelVersion{4, 19}), OptionClass::removed);
    EXPECT_EQ(classify_option("xfs", "nobarrier"), OptionClass::removed);
    EXPECT_EQ(classify_option("btrfs", "discard=async", KernelVersion{5, 4}), OptionClass::unknown);
    EXPECT_EQ(classify_option("btrfs", "discard=async", KernelVersion{5, 6}), OptionClass::setting);
    EXPECT_EQ(parse_kernel_version("6.12.0-18-amd64"), (KernelVersion{6, 12}));
    EXPECT_EQ(parse_kernel_version("unknown"), std::nullopt);
}

TEST(MountOptions, ListsSplitAtCommasOutsideQuotes) {
    const auto words = split_options("noatime,context=\"a,b\",,commit=5,");
    EXPECT_EQ(std::vector<std::string>(words.begin(), words.end()),
              (std::vector<std::string>{"noatime", "context=\"a,b\"", "commit=5"}));
    EXPECT_TRUE(split_options("").empty());
}

TEST(MountOptions, OrderRepetitionAndSpellingAreOneMeaning) {
    EXPECT_EQ(meaning("ext4", "commit=5,commit=300", "commit"), "300");
    EXPECT_EQ(meaning("ext4", "commit=0", "commit"), "5");
    EXPECT_EQ(meaning("btrfs", "commit=0", "commit"), "30");
    EXPECT_EQ(meaning("ext4", "commit=0x10", "commit"), "16");
    EXPECT_EQ(meaning("ext4", "commit=010", "commit"), "8");
    EXPECT_EQ(meaning("ext4", "barrier=0", "barrier"), "off");
    EXPECT_EQ(meaning("ext4", "nobarrier,barrier", "barrier"), "on");
    EXPECT_EQ(meaning("ext4", "noload", "norecovery"), "on");
    EXPECT_EQ(meaning("xfs", "allocsize=64m", "allocsize"), meaning("xfs", "allocsize=65536k", "allocsize"));
    EXPECT_EQ(meaning("xfs", "logbsize=256k", "logbsize"), "262144");
    EXPECT_EQ(meaning("btrfs", "discard", "discard"), "sync");
    EXPECT_EQ(meaning("btrfs", "discard,discard=async", "discard"), "async");
    EXPECT_EQ(meaning("vfat", "umask=022", "dmask"), "0022");
}

TEST(MountOptions, AtimeWordsAreFlagsWhateverTheirOrder) {
    EXPECT_EQ(meaning("ext4", "noatime,relatime", "atime"), "noatime");
    EXPECT_EQ(meaning("ext4", "relatime,noatime", "atime"), "noatime");
    EXPECT_EQ(meaning("ext4", "noatime,atime", "atime"), "relatime");
    EXPECT_EQ(meaning("ext4", "strictatime", "atime"), "strictatime");
    const OptionSet both = parse_options("ext4", "noatime,strictatime");
    EXPECT_EQ(value(both, "atime"), "strictatime");
    EXPECT_EQ(both.problems.size(), 1U);
}

TEST(MountOptions, UserImpliesFlagsThatLaterWordsTakeBack) {
    EXPECT_EQ(meaning("ext4", "user", "nosuid"), "on");
    EXPECT_EQ(meaning("ext4", "user,exec", "noexec"), "off");
    EXPECT_EQ(meaning("ext4", "owner", "noexec"), "?");
}

TEST(MountOptions, BtrfsCompressionAndCopyOnWriteFollowTheLastWord) {
    EXPECT_EQ(meaning("btrfs", "compress", "compress"), "zlib:3");
    EXPECT_EQ(meaning("btrfs", "compress=zstd", "compress"), "zstd:3");
    EXPECT_EQ(meaning("btrfs", "compress=zstd:99", "compress"), "zstd:15");
    EXPECT_EQ(meaning("btrfs", "compress=zstd:-99", "compress"), "zstd:-15");
    EXPECT_EQ(meaning("btrfs", "compress=zlib:-3", "compress"), "zlib:1");
    EXPECT_EQ(meaning("btrfs", "compress=lzo:3", "compress"), "lzo");
    EXPECT_EQ(meaning("btrfs", "compress-force=zstd", "compress"), "force-zstd:3");
    EXPECT_EQ(meaning("btrfs", "compress-force=zstd,compress=zstd", "compress"), "zstd:3");
    EXPECT_EQ(meaning("btrfs", "compress=zstd,compress-force=no", "compress"), "off");
    EXPECT_EQ(meaning("btrfs", "compress=zstd,nodatacow", "compress"), "off");
    EXPECT_EQ(meaning("btrfs", "nodatacow,compress=zstd", "datasum"), "on");
    EXPECT_EQ(meaning("btrfs", "nodatacow,compress=no", "datasum"), "off");
    EXPECT_EQ(meaning("btrfs", "nodatacow,datacow", "datasum"), "off");
    EXPECT_EQ(meaning("btrfs", "ssd_spread,nossd", "ssd_spread"), "off");
}

TEST(MountOptions, Ext4JournalledDataSwitchesDelayedAllocationOff) {
    const OptionSet set = parse_options("ext4", "dioread_nolock,data=journal");
    EXPECT_EQ(value(set, "delalloc"), "off");
    EXPECT_EQ(value(set, "dioread_nolock"), "off");
    EXPECT_TRUE(set.problems.empty());
    EXPECT_FALSE(parse_options("ext4", "data=journal,delalloc").problems.empty());
    EXPECT_EQ(parse_options("ext4", "delalloc,data=journal,nodelalloc").problems.size(), 1U);
    EXPECT_EQ(parse_options("ext4", "journal_async_commit,data=ordered").problems.size(), 2U);
}

TEST(MountOptions, ValuesTheKernelRefusesAreProblems) {
    const std::pair<const char*, const char*> bad[] = {
        {"ext4", "commit"},
        {"ext4", "commit=x"},
        {"ext4", "commit=-1"},
        {"ext4", "commit="},
        {"ext4", "data=fast"},
        {"ext4", "journal_ioprio=8"},
        {"ext4", "inode_readahead_blks=33"},
        {"xfs", "logbsize=100k"},
        {"xfs", "logbufs=9"},
        {"xfs", "nobarrier"},
        {"btrfs", "compress=zstdfoo"},
        {"btrfs", "compress=zstd:"},
        {"btrfs", "compress=0"},
        {"btrfs", "thread_pool=0"},
        {"btrfs", "space_cache=v3"},
        {"vfat", "fmask=999"},
        {"ext4", "discard=async"},
        {"xfs", "allocsize=5k"},
    };
    for (const auto& [fstype, word] : bad) {
        EXPECT_EQ(parse_options(fstype, word, v6_18).problems.size(), 1U) << fstype << " " << word;
        EXPECT_FALSE(wanted_option(fstype, word, v6_18)) << fstype << " " << word;
    }
}

TEST(MountOptions, DefaultsComeFromWhereTheyAreKept) {
    EXPECT_EQ(default_of("btrfs", "discard", facts(true)).value, "async");
    EXPECT_EQ(default_of("btrfs", "discard", facts(false)).value, "off");
    EXPECT_EQ(default_of("btrfs", "discard", facts(true, {6, 1})).value, "off");
    EXPECT_EQ(default_of("btrfs", "discard", facts(std::nullopt)).value, std::nullopt);
    EXPECT_EQ(default_of("btrfs", "discard", {}).value, std::nullopt);
    EXPECT_EQ(default_of("ext4", "discard", {}).value, std::nullopt);
    EXPECT_EQ(default_of("ext4", "discard", facts()).value, "off");
    MountFacts tuned = facts();
    tuned.superblock_options = ext4_superblock_options("user_xattr acl discard journal_data_writeback", "commit=60");
    EXPECT_EQ(default_of("ext4", "discard", tuned).value, "on");
    EXPECT_EQ(default_of("ext4", "data", tuned).value, "writeback");
    EXPECT_EQ(default_of("ext4", "commit", {}).value, "5");
    EXPECT_EQ(default_of("f2fs", "discard", facts(true)).value, "on");
    EXPECT_EQ(default_of("f2fs", "lazytime", {}).value, "on");
    EXPECT_EQ(default_of("ext4", "lazytime", {}).value, "off");
    EXPECT_EQ(default_of("xfs", "discard", {}).value, "off");
    EXPECT_EQ(default_of("ext4", "atime", {}).value, "relatime");
}

TEST(MountOptions, LiveTextIsMadeExplicit) {
    LiveText text;
    text.mount_options = "rw,nosuid,noatime";
    text.super_options = "rw,lazytime,compress=zstd:3,space_cache=v2,commit=300,subvolid=256,subvol=/@,x";
    const OptionSet live = live_options("btrfs", text, facts());
    EXPECT_EQ(value(live, "atime"), "noatime");
    EXPECT_EQ(value(live, "nosuid"), "on");
    EXPECT_EQ(value(live, "nodev"), "off");
    EXPECT_EQ(value(live, "lazytime"), "on");
    EXPECT_EQ(value(live, "compress"), "zstd:3");
    EXPECT_EQ(value(live, "commit"), "300");
    EXPECT_EQ(value(live, "discard"), "off");
    EXPECT_EQ(value(live, "ro"), "off");
    EXPECT_TRUE(live.unknown.empty());
    text.mount_options = "ro";
    EXPECT_EQ(value(live_options("btrfs", text, facts()), "ro"), "on");
    EXPECT_EQ(value(live_options("btrfs", text, facts()), "atime"), "strictatime");
}

TEST(MountOptions, MountinfoAloneHidesWhatTheExt4SuperblockHolds) {
    LiveText text;
    text.mount_options = "rw,relatime";
    text.super_options = "rw";
    MountFacts no_superblock = facts();
    no_superblock.superblock_options.reset();
    const OptionSet hidden = live_options("ext4", text, no_superblock);
    EXPECT_EQ(hidden.find("discard"), nullptr);
    EXPECT_EQ(hidden.unknown_settings.count("discard"), 1U);
    EXPECT_EQ(value(hidden, "commit"), "5");
    const std::string options =
        "rw\nbsddf\ndelalloc\njournal_checksum\nbarrier\nauto_da_alloc\nuser_xattr\nacl\ndiscard\nerrors=remount-"
        "ro\ncommit=60\ndata=ordered\nmystery\n";
    text.ext4_options = options;
    const OptionSet whole = live_options("ext4", text, no_superblock);
    EXPECT_EQ(value(whole, "discard"), "on");
    EXPECT_EQ(value(whole, "commit"), "60");
    EXPECT_EQ(value(whole, "errors"), "remount-ro");
    EXPECT_EQ(value(whole, "journal_async_commit"), "off");
    EXPECT_EQ(whole.unknown, (std::vector<std::string>{"mystery"}));
}

TEST(MountOptions, APolicysWordBecomesAValue) {
    EXPECT_EQ(*wanted_option("ext4", "noatime"), (std::pair<std::string, std::string>{"atime", "noatime"}));
    EXPECT_EQ(*wanted_option("btrfs", "compress=zstd"), (std::pair<std::string, std::string>{"compress", "zstd:3"}));
    EXPECT_EQ(*wanted_option("xfs", "inode32"), (std::pair<std::string, std::string>{"inode-size", "32"}));
    EXPECT_FALSE(wanted_option("xfs", "commit=300"));
    EXPECT_FALSE(wanted_option("btrfs", "subvol=@"));
    EXPECT_FALSE(wanted_option("ext4", "nofail"));
}

TEST(MountOptions, AForbiddenWordForbidsItsValues) {
    EXPECT_EQ(forbidden_option("ext4", "noatime")->values, (std::vector<std::string>{"noatime"}));
    EXPECT_TRUE(forbidden_option("btrfs", "discard")->values.empty());
    EXPECT_EQ(forbidden_option("btrfs", "discard=async")->values, (std::vector<std::string>{"async"}));
    EXPECT_EQ(forbidden_option("ext4", "nobarrier")->values, (std::vector<std::string>{"off"}));
    EXPECT_TRUE(is_forbidden(*forbidden_option("btrfs", "compress-force"), "force-zstd:7"));
    EXPECT_FALSE(is_forbidden(*forbidden_option("btrfs", "compress-force"), "zstd:7"));
    EXPECT_TRUE(is_forbidden(*forbidden_option("btrfs", "compress"), "zstd:7"));
    EXPECT_TRUE(is_forbidden(*forbidden_option("ext4", "commit"), "300"));
}

std::string after_edit(std::string_view fstype,
                       std::string_view list,
                       const std::vector<WantedValue>& wanted,
                       const MountFacts& known = facts()) {
    const OptionEdit edit = edit_options(fstype, list, wanted, known);
    return edit.cannot.empty() ? edited_list(list, edit) : "cannot: " + edit.cannot;
}

TEST(MountOptionEdit, ChangesTheWordsConcernedAndNoOther) {
    EXPECT_EQ(after_edit("ext4", "defaults", {{"atime", "noatime", ""}}), "defaults,noatime");
    EXPECT_EQ(after_edit("ext4", "rw,x-a,relatime,nofail", {{"atime", "noatime", ""}}), "rw,x-a,noatime,nofail");
    EXPECT_EQ(after_edit("ext4", "commit=5,nofail", {{"commit", "300", "commit=300"}}), "commit=300,nofail");
    EXPECT_EQ(after_edit("btrfs", "compress=zstd,x-a", {{"compress", "zstd:3", "compress=zstd"}}), "compress=zstd,x-a");
    EXPECT_EQ(after_edit("btrfs", "x-a", {{"compress", "zstd:3", "compress=zstd"}}), "x-a,compress=zstd");
    EXPECT_EQ(after_edit("ext4", "discard,noatime,discard", {{"discard", "off", ""}}), "noatime");
    EXPECT_EQ(after_edit("vfat", "discard", {{"discard", "off", ""}}), "defaults");
}

TEST(MountOptionEdit, ADefaultIsMadeExplicitWhereItIsNotWhatIsWanted) {
    EXPECT_EQ(after_edit("btrfs", "discard=async,noatime", {{"discard", "off", ""}}), "nodiscard,noatime");
    EXPECT_EQ(after_edit("btrfs", "discard=async,noatime", {{"discard", "off", ""}}, facts(false)), "noatime");
    EXPECT_EQ(after_edit("ext4", "discard", {{"discard", "off", ""}}, {}), "nodiscard");
    MountFacts tuned = facts();
    tuned.superblock_options = "discard";
    EXPECT_EQ(after_edit("ext4", "noatime", {{"discard", "off", ""}}, tuned), "noatime,nodiscard");
}

TEST(MountOptionEdit, WordsThatWouldBeUndoneGoToTheEnd) {
    const OptionEdit edit = edit_options("btrfs", "compress=lzo,nodatacow,x-a",
                                         std::vector<WantedValue>{{"compress", "zstd:3", ""}}, facts());
    EXPECT_EQ(edited_list("compress=lzo,nodatacow,x-a", edit), "nodatacow,x-a,compress=zstd:3");
    EXPECT_EQ(edit.side_effects, (std::vector<std::string>{"datacow: off to on", "datasum: off to on"}));
}

TEST(MountOptionEdit, WhatNoWordDoesIsSaid) {
    EXPECT_EQ(after_edit("ext4", "delalloc", {{"data", "journal", ""}}).substr(0, 7), "cannot:");
    EXPECT_EQ(after_edit("xfs", "noatime", {{"commit", "300", ""}}).substr(0, 7), "cannot:");
    EXPECT_EQ(after_edit("btrfs", "noatime", {{"compress", "zstd:3", ""}, {"datacow", "off", ""}}).substr(0, 7),
              "cannot:");
}

TEST(MountOptionEdit, ForbiddenValuesGo) {
    const auto avoid = [](std::string_view fstype, std::string_view list, std::string_view word) {
        return edited_list(list, avoid_option(fstype, list, *forbidden_option(fstype, word), facts()));
    };
    EXPECT_EQ(avoid("btrfs", "autodefrag,noatime", "autodefrag"), "noatime");
    EXPECT_EQ(avoid("btrfs", "noatime", "discard"), "noatime,nodiscard");
    EXPECT_EQ(avoid("btrfs", "discard=async", "discard"), "nodiscard");
    EXPECT_EQ(avoid("btrfs", "compress-force=zstd", "compress-force"), "defaults");
    EXPECT_EQ(avoid("ext4", "commit=300,ro", "commit"), "ro");
    EXPECT_EQ(avoid("ext4", "ro", "commit"), "ro");
}

OptionSet live(std::string_view fstype, std::string_view list) {
    return expected_live(fstype, list, facts());
}

std::vector<std::string> parameters(const RemountPlan& plan) {
    std::vector<std::string> words;
    for (const SuperParameter& parameter : plan.super) words.push_back(to_text(parameter));
    return words;
}

TEST(MountRemount, NamesOnlyWhatChanges) {
    const RemountPlan plan = plan_remount(
        "ext4", live("ext4", "noatime,nosuid,commit=60,discard"),
        std::vector<WantedValue>{{"commit", "5", ""}, {"discard", "off", ""}, {"atime", "noatime", ""}}, facts());
    EXPECT_EQ(parameters(plan), (std::vector<std::string>{"commit=5", "nodiscard"}));
    EXPECT_TRUE(plan.set_attributes.empty());
    EXPECT_TRUE(plan.next_mount.empty());
}

TEST(MountRemount, FlagsOfTheMountAreItsOwn) {
    const RemountPlan plan = plan_remount(
        "xfs", live("xfs", "nosuid"),
        std::vector<WantedValue>{{"atime", "noatime", ""}, {"nosuid", "off", ""}, {"nodev", "on", ""}}, facts());
    EXPECT_TRUE(plan.super.empty());
    EXPECT_EQ(plan.set_attributes, (std::vector<std::string>{"noatime", "nodev"}));
    EXPECT_EQ(plan.clear_attributes, (std::vector<std::string>{"nosuid"}));
}

TEST(MountRemount, WhatTheFilesystemCannotWaitsForTheNextMount) {
    const auto waits = [](std::string_view fstype, std::string_view list, WantedValue wanted) {
        const RemountPlan plan = plan_remount(fstype, live(fstype, list), std::vector<WantedValue>{wanted}, facts());
        return !plan.changes() && plan.next_mount.count(wanted.property) == 1;
    };
    EXPECT_TRUE(waits("xfs", "discard", {"discard", "off", ""}));
    EXPECT_TRUE(waits("xfs", "", {"logbsize", "262144", ""}));
    EXPECT_TRUE(waits("ext4", "", {"data", "writeback", ""}));
    EXPECT_TRUE(waits("ext4", "journal_async_commit,data=writeback", {"journal_async_commit", "off", ""}));
    EXPECT_TRUE(waits("btrfs", "degraded", {"degraded", "off", ""}));
    EXPECT_TRUE(waits("vfat", "", {"discard", "on", ""}));
}

TEST(MountRemount, AnXfsKeepsItsInodeSize) {
    const RemountPlan plan =
        plan_remount("xfs", live("xfs", "inode32"), std::vector<WantedValue>{{"lazytime", "on", ""}}, facts());
    EXPECT_EQ(parameters(plan), (std::vector<std::string>{"inode32", "lazytime"}));
    EXPECT_TRUE(plan.side_effects.empty());
}

TEST(MountRemount, SideEffectsAreTold) {
    const RemountPlan plan =
        plan_remount("btrfs", live("btrfs", "nodatacow"), std::vector<WantedValue>{{"compress", "lzo", ""}}, facts());
    EXPECT_EQ(plan.side_effects, (std::vector<std::string>{"datacow: off to on", "datasum: off to on"}));
}

// Laws over whole tables.
rc::Gen<std::string> any_word(const std::string& fstype) {
    return rc::gen::exec([fstype] {
        const auto options = options_of(fstype);
        const OptionSpec* const spec = *rc::gen::elementOf(options);
        std::string word(spec->word);
        if (word.back() == '*') word.back() = 'a';
        if (spec->form == ValueForm::choice) {
            const auto choices = split(spec->choices, '|');
            const std::string_view chosen = *rc::gen::elementOf(choices);
            return word + "=" + std::string(chosen.substr(0, chosen.find('=')));
        }
        if (spec->form == ValueForm::number || spec->form == ValueForm::size || spec->form == ValueForm::octal ||
            spec->form == ValueForm::truth) {
            return word + "=" + std::to_string(*rc::gen::inRange(0, 9));
        }
        if (spec->form == ValueForm::special)
            return word + "=" + *rc::gen::element<std::string>("zstd", "zlib:9", "lzo", "no", "zstd:-3");
        return word;
    });
}

std::string any_list(const std::string& fstype) {
    return join(*rc::gen::container<std::vector<std::string>>(any_word(fstype)), ",");
}

TEST(MountOptionLaws, AnEditMeansWhatIsWantedAndEditingAgainChangesNothing) {
    EXPECT_TRUE(rc::check("edit, then nothing", [] {
        const std::string fstype = *rc::gen::element<std::string>("ext4", "xfs", "btrfs", "f2fs", "vfat");
        const std::string list = any_list(fstype);
        const OptionSet target = parse_options(fstype, *any_word(fstype), v6_18);
        std::vector<WantedValue> wanted;
        for (const auto& entry : target.settings) {
            if (entry.second.origin == Origin::written)
                wanted.push_back({entry.first, entry.second.value, entry.second.word});
        }
        const OptionEdit edit = edit_options(fstype, list, wanted, facts());
        RC_PRE(edit.cannot.empty());
        const std::string now = edited_list(list, edit);
        OptionSet set = parse_options(fstype, now, v6_18);
        add_defaults(set, fstype, facts());
        for (const WantedValue& one : wanted) RC_ASSERT(value(set, one.property) == one.value);
        RC_ASSERT(!edit_options(fstype, now, wanted, facts()).changes());
        // The field editor of engine/text makes the same of it.
        const auto line = edit_words("a b c " + (list.empty() ? std::string("defaults") : list) + " 0 0\n", 1, 4,
                                     edit.take_out, edit.put_in);
        RC_ASSERT(line.has_value());
        RC_ASSERT(*line == "a b c " + (list.empty() ? edited_list("defaults", edit) : now) + " 0 0\n");
    }));
}

TEST(MountOptionLaws, LiveTextMadeFromTheTableReadsBack) {
    EXPECT_TRUE(rc::check("word, value, word", [] {
        const std::string fstype = *rc::gen::element<std::string>("ext4", "xfs", "btrfs", "f2fs", "vfat");
        const OptionSet set = parse_options(fstype, any_list(fstype), v6_18);
        for (const auto& entry : set.settings) {
            const auto word = word_for(fstype, entry.first, entry.second.value);
            if (!word) continue;
            RC_ASSERT(value(parse_options(fstype, *word), entry.first) == entry.second.value);
        }
    }));
}

TEST(MountOptionLaws, AnyTextIsSurvived) {
    EXPECT_TRUE(rc::check("no crash", [](const std::string& list) {
        for (const char* const fstype : filesystems) {
            const OptionSet set = expected_live(fstype, list, {});
            LiveText text;
            text.mount_options = list;
            text.super_options = list;
            text.ext4_options = list;
            live_options(fstype, text, {});
            RC_ASSERT(set.settings.count("atime") == 1U);
        }
    }));
}

}  // namespace
}  // namespace storpol
