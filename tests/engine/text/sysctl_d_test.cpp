// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sysctl_d.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace storpol {
namespace {

using Kind = SysctlLine::Kind;

std::vector<SysctlLine> parse(std::string_view text, SysctlDialect dialect = SysctlDialect::systemd) {
    return parse_sysctl_d(text, dialect);
}

SysctlLine only(std::string_view text, SysctlDialect dialect = SysctlDialect::systemd) {
    const auto lines = parse(text, dialect);
    EXPECT_EQ(lines.size(), 1U) << text;
    return lines.empty() ? SysctlLine{} : lines.front();
}

TEST(SysctlD, AnAssignmentHasKeyAndValue) {
    for (const char* text :
         {"vm.swappiness=150", "vm.swappiness = 150", "  vm.swappiness\t=  150  \n", "vm/swappiness=150\r\n"}) {
        const auto line = only(text);
        EXPECT_EQ(line.kind, Kind::assignment) << text;
        EXPECT_EQ(line.key, "vm/swappiness") << text;
        EXPECT_EQ(line.value, "150") << text;
        EXPECT_FALSE(line.ignores_errors) << text;
    }
}

TEST(SysctlD, ADashBeforeAnAssignmentIgnoresErrors) {
    const auto line = only("-vm/swappiness = 20\n");
    EXPECT_EQ(line.kind, Kind::assignment);
    EXPECT_EQ(line.key, "vm/swappiness");
    EXPECT_EQ(line.value, "20");
    EXPECT_TRUE(line.ignores_errors);
    EXPECT_EQ(only("- vm.swappiness = 20").key, "vm/swappiness");
}

TEST(SysctlD, ADashAloneExcludes) {
    const auto line = only("-net.ipv4.conf.all.rp_filter");
    EXPECT_EQ(line.kind, Kind::exclusion);
    EXPECT_EQ(line.key, "net/ipv4/conf/all/rp_filter");
    EXPECT_EQ(line.value, "");
}

TEST(SysctlD, BothCommentSignsCount) {
    EXPECT_EQ(only("# vm.swappiness = 1").kind, Kind::comment);
    EXPECT_EQ(only("  ;vm.swappiness = 1\n").kind, Kind::comment);
    EXPECT_EQ(only(" \t\n").kind, Kind::blank);
}

TEST(SysctlD, ACommentAfterAValueBelongsToTheValue) {
    EXPECT_EQ(only("vm.swappiness = 10 # less").value, "10 # less");
}

TEST(SysctlD, ALineWithoutAnAssignmentIsInvalidAndTheRestIsRead) {
    const auto lines = parse("vm.swappiness 10\n=5\nvm.page-cluster=0");
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].kind, Kind::invalid);
    EXPECT_EQ(lines[1].kind, Kind::invalid);
    EXPECT_EQ(lines[2].key, "vm/page-cluster");
    EXPECT_EQ(lines[2].line, 3);
}

TEST(SysctlD, LineEndsOfAllKindsCountOnce) {
    const auto lines = parse("a.b=1\r\nc.d=2\re.f=3\n\ng.h=4");
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_EQ(lines[1].value, "2");
    EXPECT_EQ(lines[2].key, "e/f");
    EXPECT_EQ(lines[3].kind, Kind::blank);
    EXPECT_EQ(lines[4].line, 5);
}

TEST(SysctlD, AByteOrderMarkMakesAnotherKey) {
    EXPECT_EQ(only("\xEF\xBB\xBFvm.swappiness=5").key, "\xEF\xBB\xBFvm/swappiness");
}

TEST(SysctlD, BlanksInsideAKeyMakeAnotherKey) {
    EXPECT_EQ(only("vm . swappiness = 5").key, "vm / swappiness");
}

TEST(SysctlD, ReadingEndsAtAnOverlongLine) {
    const auto lines = parse("a.b=1\nc.d=" + std::string(1024 * 1024, '5') + "\ne.f=1\n");
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].kind, Kind::assignment);
    EXPECT_EQ(lines[1].kind, Kind::unread);
    EXPECT_EQ(lines[2].kind, Kind::unread);
}

TEST(SysctlD, BusyBoxTakesBlanksForEqualsAndHashForAComment) {
    const auto line = only("vm.swappiness 10 # less\n", SysctlDialect::busybox);
    EXPECT_EQ(line.kind, Kind::assignment);
    EXPECT_EQ(line.key, "vm/swappiness");
    EXPECT_EQ(line.value, "10");
    EXPECT_EQ(only("# vm.swappiness=1", SysctlDialect::busybox).kind, Kind::comment);
    EXPECT_EQ(only("-vm.swappiness=1", SysctlDialect::busybox).key, "-vm/swappiness");
    EXPECT_EQ(only("net.ipv4.tcp_rmem = 4096 87380 6291456", SysctlDialect::busybox).value, "4096 87380 6291456");
}

TEST(SysctlD, AllSpellingsOfAKeyAreOnePath) {
    for (const char* key :
         {"vm.page-cluster", "vm/page-cluster", "/vm/page-cluster", "vm//page-cluster", "vm/./page-cluster/"}) {
        EXPECT_EQ(sysctl_path(key), "vm/page-cluster") << key;
    }
    EXPECT_EQ(sysctl_path("net.ipv4.conf.eth0/100.mtu"), "net/ipv4/conf/eth0.100/mtu");
    EXPECT_EQ(sysctl_path("net/ipv4/conf/eth0.100/mtu"), "net/ipv4/conf/eth0.100/mtu");
    EXPECT_EQ(sysctl_path(""), "");
}

TEST(SysctlD, ANameLeadsBackToItsPath) {
    EXPECT_EQ(sysctl_name("vm/swappiness"), "vm.swappiness");
    EXPECT_EQ(sysctl_name("net/ipv4/conf/eth0.100/mtu"), "net.ipv4.conf.eth0/100.mtu");
    EXPECT_TRUE(rc::check("sysctl_path(sysctl_name(path)) == path", [] {
        const auto parts = *rc::gen::container<std::vector<std::string>>(
            rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::element('a', '.', '_', '-', '9'))));
        std::string path;
        for (const auto& part : parts) path += (path.empty() ? "" : "/") + part;
        path = sysctl_path("/" + path);
        RC_ASSERT(sysctl_path(sysctl_name(path)) == path);
    }));
}

TEST(SysctlD, GlobsStayInTheirPart) {
    EXPECT_TRUE(is_sysctl_glob("net/ipv4/conf/*/rp_filter"));
    EXPECT_FALSE(is_sysctl_glob("vm/swappiness"));
    EXPECT_TRUE(sysctl_glob_match("net/ipv4/conf/*/rp_filter", "net/ipv4/conf/all/rp_filter"));
    EXPECT_FALSE(sysctl_glob_match("net/*/rp_filter", "net/ipv4/conf/all/rp_filter"));
    EXPECT_TRUE(sysctl_glob_match("vm/dirty_[br]*", "vm/dirty_bytes"));
    EXPECT_FALSE(sysctl_glob_match("vm/[", "vm/swappiness"));
}

TEST(SysctlD, NumbersAreReadAsTheKernelReadsThem) {
    EXPECT_EQ(parse_kernel_number("150"), 150);
    EXPECT_EQ(parse_kernel_number("  150\n"), 150);
    EXPECT_EQ(parse_kernel_number("150 foo"), 150);
    EXPECT_EQ(parse_kernel_number("150\tfoo"), 150);
    EXPECT_EQ(parse_kernel_number("0x64"), 100);
    EXPECT_EQ(parse_kernel_number("0144"), 100);
    EXPECT_EQ(parse_kernel_number("0"), 0);
    EXPECT_EQ(parse_kernel_number("-1"), -1);
    for (const char* text : {"", " ", "abc", "1e2", "60.5", "150#x", "+5", "- 5", "0x", "09", "99999999999999999999"}) {
        EXPECT_EQ(parse_kernel_number(text), std::nullopt) << text;
    }
}

TEST(SysctlD, AnyBytesAreReadWithoutLosingOne) {
    for (const auto dialect : {SysctlDialect::systemd, SysctlDialect::procps, SysctlDialect::busybox}) {
        EXPECT_TRUE(rc::check("render(parse(text)) == text", [dialect] {
            const auto text = *rc::gen::container<std::string>(
                rc::gen::oneOf(rc::gen::element('\n', '\r', '\0', '=', '-', '#', ';', '.', '/', '*', ' ', '\t'),
                               rc::gen::arbitrary<char>()));
            const auto lines = parse_sysctl_d(text, dialect);
            RC_ASSERT(render_sysctl_d(lines) == text);
            int number = 0;
            for (const auto& line : lines) RC_ASSERT(line.line == ++number);
        }));
    }
}

TEST(SysctlD, EveryFileOfTheCorpusIsReadWithoutLosingAByte) {
    const char* shared = std::getenv("STORPOL_SHARED");
    if (shared == nullptr) GTEST_SKIP() << "STORPOL_SHARED does not name the folder that holds corpus/";
    std::size_t files = 0;
    std::size_t assignments = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(shared) + "/corpus/sysctl")) {
        std::ifstream in(entry.path(), std::ios::binary);
        std::stringstream text;
        text << in.rdbuf();
        const auto lines = parse(text.str());
        EXPECT_EQ(render_sysctl_d(lines), text.str()) << entry.path();
        for (const auto& line : lines) assignments += line.kind == Kind::assignment ? 1 : 0;
        ++files;
    }
    EXPECT_GT(files, 10U);
    EXPECT_GT(assignments, files);
}

}  // namespace
}  // namespace storpol
