// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/mountinfo.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace storpol {
namespace {

std::string slurp(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST(MountInfo, ReadsEveryField) {
    const auto table = parse_mountinfo(
        "36 35 98:0 /sub /srv/my\\040data rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n");
    ASSERT_EQ(table.mounts.size(), 1U);
    const MountInfo& mount = table.mounts[0];
    EXPECT_EQ(mount.id, 36);
    EXPECT_EQ(mount.parent, 35);
    EXPECT_EQ(mount.device_number(), "98:0");
    EXPECT_EQ(mount.root, "/sub");
    EXPECT_EQ(mount.target, "/srv/my data");
    EXPECT_EQ(mount.mount_options, "rw,noatime");
    EXPECT_EQ(mount.tags, (std::vector<std::string>{"master:1", "shared:2"}));
    EXPECT_EQ(mount.fstype, "ext3");
    EXPECT_EQ(mount.source, "/dev/root");
    EXPECT_EQ(mount.super_options, "rw,errors=continue");
}

TEST(MountInfo, AnEmptySourceKeepsTheFieldsApart) {
    const auto table = parse_mountinfo("5 1 0:4 / /x rw - tmpfs  rw,size=10k\n");
    ASSERT_EQ(table.mounts.size(), 1U);
    EXPECT_EQ(table.mounts[0].source, "");
    EXPECT_EQ(table.mounts[0].super_options, "rw,size=10k");
}

TEST(MountInfo, SuperOptionsStayRaw) {
    const auto table = parse_mountinfo("5 1 0:4 /a\\040b /x rw - btrfs /dev/a rw,subvolid=256,subvol=/a\\040b\n");
    ASSERT_EQ(table.mounts.size(), 1U);
    EXPECT_EQ(table.mounts[0].root, "/a b");
    EXPECT_EQ(table.mounts[0].super_options, "rw,subvolid=256,subvol=/a\\040b");
}

TEST(MountInfo, LinesThatAreNoneAreNumbered) {
    const auto table = parse_mountinfo(
        "36 35 98:0 / / rw - ext4 /dev/a rw\nproc /proc proc rw 0 0\n\n37 35 98:1 / /b rw - ext4 /dev/b rw\n1 2 3:4 / "
        "/c rw\nx y 1:2 / /d rw - a b c\n");
    EXPECT_EQ(table.mounts.size(), 2U);
    EXPECT_EQ(table.rejected, (std::vector<int>{2, 5, 6}));
}

TEST(MountInfo, SurvivesAnyText) {
    EXPECT_TRUE(rc::check("no crash", [](const std::string& noise) {
        const auto table = parse_mountinfo(noise + "\n36 35 98:0 / / rw - ext4 /dev/a rw\n" + noise);
        RC_ASSERT(!table.mounts.empty());
    }));
}

TEST(MountInfo, TheKernelsOwnTextIsReadToTheLastLine) {
    const std::string text = slurp("/proc/self/mountinfo");
    if (text.empty()) GTEST_SKIP() << "no /proc/self/mountinfo";
    const auto table = parse_mountinfo(text);
    EXPECT_FALSE(table.mounts.empty());
    EXPECT_TRUE(table.rejected.empty());
}

std::string text_of(const nlohmann::json& row, const char* key) {
    return row.contains(key) && row.at(key).is_string() ? row.at(key).get<std::string>() : "";
}

// findmnt prints the options of both places merged, and the source with the root in brackets where it is not "/".
TEST(MountInfoCorpus, EveryFileReadsAsLibmountReadsIt) {
    const char* const shared = std::getenv("STORPOL_SHARED");
    if (shared == nullptr) GTEST_SKIP() << "STORPOL_SHARED names no folder with corpus/";
    const std::filesystem::path root = std::filesystem::path(shared) / "corpus";
    std::size_t checked = 0;
    for (const auto& file : std::filesystem::directory_iterator(root / "mountinfo")) {
        const auto expected = root / "expected" / "mountinfo" / (file.path().filename().string() + ".findmnt.json");
        const std::string text = slurp(expected);
        if (text.empty()) continue;
        const auto table = parse_mountinfo(slurp(file.path()));
        const auto json = nlohmann::json::parse(text);
        const auto& rows = json.at("filesystems");
        ASSERT_EQ(table.mounts.size(), rows.size()) << file.path();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const MountInfo& mount = table.mounts[i];
            EXPECT_EQ(mount.id, rows[i].at("id").get<int>()) << file.path();
            EXPECT_EQ(mount.parent, rows[i].at("parent").is_null() ? 0 : rows[i].at("parent").get<int>())
                << file.path();
            EXPECT_EQ(mount.device_number(), text_of(rows[i], "maj:min")) << file.path();
            EXPECT_EQ(mount.target, text_of(rows[i], "target")) << file.path();
            EXPECT_EQ(mount.root, text_of(rows[i], "fsroot")) << file.path();
            EXPECT_EQ(mount.fstype, text_of(rows[i], "fstype")) << file.path();
            const std::string source = text_of(rows[i], "source");
            EXPECT_TRUE(source == mount.source || source.starts_with(mount.source + "["))
                << file.path() << ": " << source << " / " << mount.source;
        }
        ++checked;
    }
    EXPECT_GT(checked, 0U);
}

}  // namespace
}  // namespace storpol
