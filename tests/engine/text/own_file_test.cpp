// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/own_file.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "engine/base/text.h"

namespace storpol {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view head =
    "# Written by storpol; do not edit by hand: each line comes from the policy, and \"storpol apply\" puts it back.\n";
constexpr std::string_view swappiness = "sysctl[\"vm.swappiness\"]";

void put(OwnFile& file, std::string_view section, std::string_view address, const Lines& lines) {
    const auto result = file.set(section, address, lines);
    ASSERT_TRUE(result) << result.error().what;
}

TEST(OwnFile, ANewFileHasItsHeadAndItsEntriesInTheOrderTheyWereSet) {
    OwnFile file = OwnFile::parse("");
    EXPECT_TRUE(file.is_empty());
    put(file, "", swappiness, {"vm.swappiness = 150"});
    put(file, "", "sysctl[\"vm.page-cluster\"]", {"vm.page-cluster = 0"});
    put(file, "", "sysctl[\"vm.vfs_cache_pressure\"]", {"vm.vfs_cache_pressure = 50"});
    EXPECT_EQ(file.render(), std::string(head) +
                                 "# sysctl[\"vm.swappiness\"]\nvm.swappiness = 150\n"
                                 "# sysctl[\"vm.page-cluster\"]\nvm.page-cluster = 0\n"
                                 "# sysctl[\"vm.vfs_cache_pressure\"]\nvm.vfs_cache_pressure = 50\n");
    EXPECT_FALSE(file.is_empty());
}

TEST(OwnFile, ReplacesInPlaceAndKeepsForeignBytes) {
    const std::string text =
        std::string(head) + "# a note of mine\r\n\r\n# sysctl[\"vm.swappiness\"]\nvm.swappiness = 60\nkernel.x=1 \xff";
    OwnFile file = OwnFile::parse(text);
    EXPECT_EQ(file.render(), text);
    EXPECT_EQ(file.entries(), (std::vector<OwnFile::Entry>{{"", std::string(swappiness), {"vm.swappiness = 60"}, 5}}));
    put(file, "", swappiness, {"vm.swappiness = 150"});
    EXPECT_EQ(file.render(),
              std::string(head) +
                  "# a note of mine\r\n\r\n# sysctl[\"vm.swappiness\"]\nvm.swappiness = 150\nkernel.x=1 \xff");
    file.remove("", swappiness);
    EXPECT_EQ(file.render(), std::string(head) + "# a note of mine\r\n\r\nkernel.x=1 \xff");
    EXPECT_FALSE(file.is_empty());
}

TEST(OwnFile, SettingWhatIsThereKeepsItsBytes) {
    const std::string text = "# sysctl[\"vm.swappiness\"]\r\nvm.swappiness = 60\r\n";
    OwnFile file = OwnFile::parse(text);
    put(file, "", swappiness, {"vm.swappiness = 60"});
    EXPECT_EQ(file.render(), text);
}

TEST(OwnFile, ALineAddedByHandBelowAnEntryIsForeign) {
    OwnFile file =
        OwnFile::parse(std::string(head) + "# sysctl[\"vm.swappiness\"]\nvm.swappiness = 60\nvm.dirty_ratio = 5\n");
    file.remove(swappiness);
    EXPECT_EQ(file.render(), std::string(head) + "vm.dirty_ratio = 5\n");
}

TEST(OwnFile, AForeignLineWithoutNewlineIsEndedFirst) {
    OwnFile file = OwnFile::parse("vm.dirty_ratio = 5");
    put(file, "", swappiness, {"vm.swappiness = 1"});
    EXPECT_EQ(file.render(),
              std::string(head) + "vm.dirty_ratio = 5\n# sysctl[\"vm.swappiness\"]\nvm.swappiness = 1\n");
}

TEST(OwnFile, UnitFilesHaveSections) {
    OwnFile file = OwnFile::parse("");
    put(file, "[Timer]", "fstrim.schedule", {"OnCalendar=", "OnCalendar=daily"});
    put(file, "[Unit]", "fstrim.on-battery", {"ConditionACPower=true"});
    put(file, "[Timer]", "fstrim.catch-up", {"Persistent=true"});
    const std::string text = file.render();
    EXPECT_EQ(text, std::string(head) +
                        "\n[Timer]\n# fstrim.schedule\nOnCalendar=\n# fstrim.schedule\nOnCalendar=daily\n"
                        "# fstrim.catch-up\nPersistent=true\n"
                        "\n[Unit]\n# fstrim.on-battery\nConditionACPower=true\n");
    const OwnFile again = OwnFile::parse(text);
    EXPECT_EQ(again.entries(),
              (std::vector<OwnFile::Entry>{{"[Timer]", "fstrim.schedule", {"OnCalendar=", "OnCalendar=daily"}, 5},
                                           {"[Timer]", "fstrim.catch-up", {"Persistent=true"}, 9},
                                           {"[Unit]", "fstrim.on-battery", {"ConditionACPower=true"}, 13}}));
    file.remove("[Timer]", "fstrim.schedule");
    file.remove("fstrim.catch-up");
    EXPECT_EQ(file.render(), std::string(head) + "\n[Unit]\n# fstrim.on-battery\nConditionACPower=true\n");
    file.remove("fstrim.on-battery");
    EXPECT_EQ(file.render(), head);
    EXPECT_TRUE(file.is_empty());
}

TEST(OwnFile, ASectionWithForeignLinesKeepsItsHeader) {
    OwnFile file = OwnFile::parse("[Timer]\nAccuracySec=1\n# fstrim.schedule\nOnCalendar=daily\n");
    file.remove("fstrim.schedule");
    EXPECT_EQ(file.render(), "[Timer]\nAccuracySec=1\n");
}

TEST(OwnFile, MoreOrFewerLinesReplaceAllOfAnEntry) {
    OwnFile file = OwnFile::parse("");
    put(file, "", "block[\"sda\"].scheduler", {"one", "two", "three"});
    put(file, "", "block[\"sda\"].scheduler", {"four"});
    EXPECT_EQ(file.render(), std::string(head) + "# block[\"sda\"].scheduler\nfour\n");
    put(file, "", "block[\"sda\"].scheduler", {});
    EXPECT_TRUE(file.is_empty());
}

TEST(OwnFile, ACommentWhoseLineIsGoneIsFilledAgain) {
    OwnFile file =
        OwnFile::parse(std::string(head) + "# sysctl[\"vm.swappiness\"]\n\n# mglru.enabled\nw /sys - - - - y\n");
    ASSERT_EQ(file.entries().size(), 2U);
    EXPECT_TRUE(file.entries()[0].lines.empty());
    put(file, "", swappiness, {"vm.swappiness = 1"});
    EXPECT_EQ(
        file.render(),
        std::string(head) + "# sysctl[\"vm.swappiness\"]\nvm.swappiness = 1\n\n# mglru.enabled\nw /sys - - - - y\n");
}

TEST(OwnFile, AddressesHaveAShape) {
    for (const char* text :
         {"mglru.min-ttl", "sysctl[\"vm.swappiness\"]", "mount[\"/\"].free-space.min", "fstrim.evidence[\"/\"]",
          "mount[\"/a\\\"b ]\"].commit", "block[\"model=Lexar*,transport=nvme\"].scheduler"}) {
        EXPECT_TRUE(is_address(text)) << text;
    }
    for (const char* text : {"", "mglru", "a note", "e.g.", ".a", "a..b", "mount[/].x", "mount[\"/\"", "mount[\"/\"].",
                             "mount[\"/\"]x", "mount[\"/\\", "a.b c", "a.b\n", "[\"a\"]"}) {
        EXPECT_FALSE(is_address(text)) << text;
    }
}

TEST(OwnFile, WhatWouldNotReadBackIsRefused) {
    OwnFile file = OwnFile::parse("x\n");
    EXPECT_FALSE(file.set("", "no address", {"a"}));
    EXPECT_FALSE(file.set("", "a.b\nevil = 1", {"a"}));
    EXPECT_FALSE(file.set("Timer", "a.b", {"a"}));
    EXPECT_FALSE(file.set("[Timer]\nx", "a.b", {"a"}));
    for (const char* line : {"", " ", "a\nb", "a\r", "[Service]", "# mglru.enabled"})
        EXPECT_FALSE(file.set("", "a.b", {line})) << line;
    EXPECT_EQ(file.render(), "x\n");
}

// Texts that look like such files, so that the laws meet entries, headers and odd line ends.
rc::Gen<std::string> any_text() {
    const auto line = rc::gen::oneOf(
        rc::gen::element<std::string>("# a.b", "# a[\"x\"]", "# c.d", "[Timer]", "[Unit]", "", " ", "v = 1", "# note",
                                      "w \xff", "# Written by storpol", "v = 1\r", "# a.b\r"),
        rc::gen::arbitrary<std::string>());
    return rc::gen::map(rc::gen::container<Lines>(line), [](const Lines& lines) { return join(lines, "\n"); });
}

rc::Gen<std::string> any_address() {
    return rc::gen::element<std::string>("a.b", "a[\"x\"]", "c.d", "new.one");
}

rc::Gen<std::string> any_section() {
    return rc::gen::element<std::string>("", "[Timer]", "[Install]");
}

// The lines that are neither an entry's nor a head, header or blank: what no edit may touch.
Lines foreign_lines(const OwnFile& file) {
    OwnFile rest = file;
    for (const auto& entry : file.entries()) rest.remove(entry.section, entry.address);
    Lines lines;
    const std::string left = rest.render();
    for (const std::string_view line : split_lines(left)) {
        const std::string_view text = trim(line);
        const bool is_frame = text.empty() || text.front() == '[' || text.substr(0, 20) == "# Written by storpol";
        if (!is_frame) lines.emplace_back(line);
    }
    return lines;
}

TEST(OwnFile, RenderOfParseIsIdentity) {
    EXPECT_TRUE(rc::check("every byte stays", [] {
        const std::string text = *any_text();
        RC_ASSERT(OwnFile::parse(text).render() == text);
    }));
}

TEST(OwnFile, SetIsReadBackAndKeepsAllElse) {
    EXPECT_TRUE(rc::check("set, render, parse", [] {
        OwnFile file = OwnFile::parse(*any_text());
        const auto foreign = foreign_lines(file);
        const auto section = *any_section();
        const auto address = *any_address();
        const Lines lines = *rc::gen::element(Lines{"v = 2"}, Lines{"v =", "v = 3"});
        auto others = file.entries();
        // A comment without its line may go with the entry below it.
        std::erase_if(others, [&](const auto& entry) { return entry.lines.empty(); });
        std::erase_if(others, [&](const auto& entry) { return entry.section == section && entry.address == address; });
        RC_ASSERT(file.set(section, address, lines).has_value());
        const OwnFile again = OwnFile::parse(file.render());
        RC_ASSERT(again.render() == file.render());
        bool found = false;
        std::size_t kept = 0;
        for (const auto& entry : again.entries()) {
            if (entry.section == section && entry.address == address) {
                found = entry.lines == lines;
            } else if (!entry.lines.empty()) {
                RC_ASSERT(kept < others.size());
                RC_ASSERT(entry.address == others[kept].address);
                RC_ASSERT(entry.lines == others[kept].lines);
                ++kept;
            }
        }
        RC_ASSERT(found);
        RC_ASSERT(kept == others.size());
        RC_ASSERT(foreign_lines(again) == foreign);
        OwnFile twice = again;
        RC_ASSERT(twice.set(section, address, lines).has_value());
        RC_ASSERT(twice.render() == again.render());
    }));
}

TEST(OwnFile, RemoveAfterSetGivesTheOldBytes) {
    EXPECT_TRUE(rc::check("undo restores", [] {
        const std::string text = std::string(head) + *any_text() + "\n";
        OwnFile file = OwnFile::parse(text);
        RC_ASSERT(file.set("[New]", "new.address", {"v = 1"}).has_value());
        file.remove("new.address");
        RC_ASSERT(file.render() == text);
    }));
}

}  // namespace
}  // namespace storpol
