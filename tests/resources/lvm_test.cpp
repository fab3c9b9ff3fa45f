// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/lvm.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "engine/host/host.h"
#include "tests/resources/domain_run.h"

namespace storpol {
namespace {

constexpr const char* address = "lvm.issue-discards";
constexpr const char* main_file = "/etc/lvm/lvm.conf";
constexpr const char* local_file = "/etc/lvm/lvmlocal.conf";

DomainRun run(const std::string& value, Host& host) {
    return {make_lvm_resource(), "[discard]\nlvm-issue-discards = " + value + "\n", host};
}

TEST(Lvm, ValueOfTheMainFileIsEditedInItsPlace) {
    MemoryHost host;
    host.put_file(main_file, "devices {\n\t# issue_discards = 0\n\tissue_discards = 1\t# why\n}\n");
    const auto it = run("false", host);
    EXPECT_EQ(it.verdict(address, Plane::persisted), "drift");
    EXPECT_EQ(it.source(address, Plane::persisted), "/etc/lvm/lvm.conf:3");
    ASSERT_NE(it.action(Verb::edit, main_file), nullptr);
    EXPECT_EQ(it.file_after(main_file), "devices {\n\t# issue_discards = 0\n\tissue_discards = 0\t# why\n}\n");
}

TEST(Lvm, LocalFileBeatsTheMainOne) {
    MemoryHost host;
    host.put_file(main_file, "devices/issue_discards = 1\n");
    host.put_file(local_file, "devices { issue_discards=0 }\n");
    EXPECT_EQ(run("false", host).verdict(address, Plane::persisted), "in-sync");
    const auto it = run("true", host);
    EXPECT_EQ(it.source(address, Plane::persisted), "/etc/lvm/lvmlocal.conf:1");
    EXPECT_EQ(it.file_after(local_file), "devices { issue_discards=1 }\n");
    EXPECT_EQ(it.file_after(main_file), "");
}

TEST(Lvm, UnsetIsLvmsDefault) {
    MemoryHost host;
    host.put_file(main_file, "devices {\n}\n");
    EXPECT_EQ(run("false", host).verdict(address, Plane::persisted), "in-sync");
    const auto it = run("true", host);
    EXPECT_EQ(it.verdict(address, Plane::persisted), "drift");
    ASSERT_NE(it.action(Verb::create, local_file), nullptr);
    EXPECT_EQ(it.file_after(local_file), "devices/issue_discards = 1\n");
    host.put_file(local_file, "local {\n}");
    EXPECT_EQ(run("true", host).file_after(local_file), "local {\n}\ndevices/issue_discards = 1\n")
        << "the last line gets its end";
}

TEST(Lvm, HostWithoutLvmHasNoSuchPlane) {
    MemoryHost host;
    const auto it = run("true", host);
    EXPECT_EQ(it.verdict(address, Plane::persisted), "absent");
    EXPECT_TRUE(it.evaluation.plan.actions.empty());
}

TEST(Lvm, FileThatLvmRefusesIsUnknownAndLeftAlone) {
    MemoryHost host;
    for (const char* text : {"devices {\n issue_discards = 1\n", "devices issue_discards = 1\n", "}\n"}) {
        host.put_file(main_file, text);
        const auto it = run("false", host);
        EXPECT_EQ(it.verdict(address, Plane::persisted), "unknown") << text;
        EXPECT_TRUE(it.evaluation.plan.actions.empty()) << text;
    }
    host.put_file(main_file, "devices { issue_discards = \"perhaps\" }\n");
    EXPECT_EQ(run("false", host).verdict(address, Plane::persisted), "unknown");
    host.refuse({QueryKind::file, {main_file}}, EACCES);
    EXPECT_EQ(run("false", host).verdict(address, Plane::persisted), "unknown");
}

TEST(Lvm, HostTagMayDecideOtherwise) {
    MemoryHost host;
    host.put_file(main_file, "tags { hosttags = 1 }\n");
    host.put_file("/etc/lvm/lvm_san.conf", "devices { issue_discards = 1 }\n");
    const auto it = run("false", host);
    EXPECT_EQ(it.verdict(address, Plane::persisted), "unknown");
    EXPECT_EQ(it.source(address, Plane::persisted), "/etc/lvm/lvm_san.conf:1");
}

}  // namespace
}  // namespace storpol
