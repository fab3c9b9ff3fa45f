// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cases/tree_host.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace storpol::cases {
namespace {

namespace fs = std::filesystem;

class TreeHostTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "storpol-tree-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }

    void TearDown() override { fs::remove_all(folder_); }

    void put(const std::string& path, const std::string& bytes) const {
        fs::create_directories((folder_ / path).parent_path());
        std::ofstream(folder_ / path, std::ios::binary) << bytes;
    }

    std::unique_ptr<CaseTree> tree() const {
        auto copy = CaseTree::copy_of(folder_.string());
        EXPECT_TRUE(copy);
        return std::move(*copy);
    }

    fs::path folder_;
};

TEST_F(TreeHostTest, FileIsReadAtTheEndOfItsLinks) {
    put("etc/sysctl.conf", "a\n");
    put("etc/sysctl.d/99-sysctl.conf", "../sysctl.conf");
    const auto copy = tree();
    const auto host = make_tree_host(*copy);
    const auto text = host->read_file_resolved("/etc/sysctl.d/99-sysctl.conf");
    ASSERT_TRUE(text);
    EXPECT_EQ(text->bytes, "a\n");
    EXPECT_EQ(text->path, "/etc/sysctl.conf");
    EXPECT_EQ(host->read_link("/etc/sysctl.d/99-sysctl.conf").value(), "../sysctl.conf");
}

TEST_F(TreeHostTest, AbsoluteLinksAndDotsStayInTheTree) {
    put("usr/lib/x.conf", "x\n");
    fs::create_directories(folder_ / "etc");
    fs::create_symlink("/usr/lib", folder_ / "lib");
    fs::create_symlink("/../../../usr/lib/x.conf", folder_ / "etc/x.conf");
    const auto copy = tree();
    const auto host = make_tree_host(*copy);
    EXPECT_EQ(host->read_file("/lib/x.conf").value(), "x\n");
    EXPECT_EQ(host->read_file_resolved("/etc/x.conf").value().path, "/usr/lib/x.conf");
}

TEST_F(TreeHostTest, MaskIsAnEmptyFileAtTheNullDevice) {
    put("etc/sysctl.d/60-site.conf", "/dev/null");
    const auto copy = tree();
    const auto host = make_tree_host(*copy);
    const auto text = host->read_file_resolved("/etc/sysctl.d/60-site.conf");
    ASSERT_TRUE(text);
    EXPECT_EQ(text->bytes, "");
    EXPECT_EQ(text->path, "/dev/null");
}

TEST_F(TreeHostTest, ShortFileWithoutANewlineStaysAFile) {
    put("boot/vmlinuz", "k");
    const auto copy = tree();
    EXPECT_EQ(make_tree_host(*copy)->read_file("/boot/vmlinuz").value(), "k");
}

TEST_F(TreeHostTest, LinkThatTurnsInACircleIsAnError) {
    fs::create_symlink("b", folder_ / "a");
    fs::create_symlink("a", folder_ / "b");
    const auto copy = tree();
    const auto text = make_tree_host(*copy)->read_file("/a");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, ELOOP);
}

TEST_F(TreeHostTest, WhatIsNotInTheTreeDoesNotExist) {
    put("etc/hostname", "h\n");
    const auto copy = tree();
    const auto host = make_tree_host(*copy);
    EXPECT_EQ(host->read_file("/proc/sys/vm/swappiness").error().kind, ErrorKind::no_such_file);
    EXPECT_EQ(host->read_file("/etc/hostname/x").error().kind, ErrorKind::no_such_file);
    EXPECT_EQ(host->list("/etc").value(), std::vector<std::string>{"hostname"});
    EXPECT_EQ(host->now().error().kind, ErrorKind::not_captured);
}

TEST_F(TreeHostTest, FactsStandAboveTheTree) {
    put("etc/a", "a\n");
    const auto copy = tree();
    const auto facts = parse_facts(
        "# clock\nnow 2026-11-30T08:00:00Z\nread /etc/a EACCES\nno-such-word x\n"
        "unit fstrim.timer ActiveState=active\n",
        "facts.txt");
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->unasked, std::vector<std::string>{"no-such-word"});
    const auto machine = make_tree_host(*copy);
    FactsHost host(*machine, *facts);
    EXPECT_EQ(host.now().value(), "2026-11-30T08:00:00Z");
    EXPECT_EQ(host.read_file("/etc/a").error().kind, ErrorKind::denied);
    const auto unit = host.unit("fstrim.timer");
    ASSERT_TRUE(unit);
    EXPECT_EQ(unit->at("ActiveState"), "active");
    EXPECT_EQ(host.asked().size(), 3U);
    EXPECT_FALSE(parse_facts("read /etc/a EWHAT\n", "facts.txt"));
}

}  // namespace
}  // namespace storpol::cases
