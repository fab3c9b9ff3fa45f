// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/state_store.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/engine/host/temp_tree.h"

namespace storpol {
namespace {

std::unique_ptr<StateStore> store_of(const TempTree& tree) {
    auto made = make_root_state_store(tree.path());
    EXPECT_TRUE(made) << (made ? "" : to_text(made.error()));
    return made ? std::move(*made) : nullptr;
}

void check_contract(StateStore& store) {
    EXPECT_EQ(store.read("applied.json").error().kind, ErrorKind::no_such_file);
    EXPECT_TRUE(store.list("journal")->empty());
    EXPECT_TRUE(store.remove("journal/000001.jsonl"));
    ASSERT_TRUE(store.replace("applied.json", "one"));
    ASSERT_TRUE(store.replace("applied.json", "two"));
    EXPECT_EQ(*store.read("applied.json"), "two");
    ASSERT_TRUE(store.append("journal/000002.jsonl", "a\n"));
    ASSERT_TRUE(store.append("journal/000002.jsonl", "b\n"));
    ASSERT_TRUE(store.append("journal/000001.jsonl", "c\n"));
    EXPECT_EQ(*store.read("journal/000002.jsonl"), "a\nb\n");
    EXPECT_EQ(*store.list("journal"), (std::vector<std::string>{"000001.jsonl", "000002.jsonl"}));
    ASSERT_TRUE(store.remove("journal/000001.jsonl"));
    EXPECT_EQ(*store.list("journal"), std::vector<std::string>{"000002.jsonl"});
    EXPECT_TRUE(store.lock());
    EXPECT_TRUE(store.lock());
}

TEST(StateStore, KeepsWhatItIsGivenInMemory) {
    check_contract(*make_memory_state_store());
}

TEST(StateStore, KeepsWhatItIsGivenOnDisk) {
    const TempTree tree;
    check_contract(*store_of(tree));
    EXPECT_EQ(tree.stat("/var/lib/storpol").st_mode & 07777U, 0755U);
    EXPECT_EQ(tree.stat("/var/lib/storpol/journal").st_mode & 07777U, 0700U);
    EXPECT_EQ(tree.stat("/var/lib/storpol/applied.json").st_mode & 07777U, 0644U);
    EXPECT_EQ(tree.stat("/var/lib/storpol/journal/000002.jsonl").st_mode & 07777U, 0600U);
    EXPECT_EQ(tree.names("/var/lib/storpol"), (std::vector<std::string>{"applied.json", "journal", "lock"}));
}

TEST(StateStore, ReadingMakesNothing) {
    const TempTree tree;
    const auto store = store_of(tree);
    EXPECT_FALSE(store->read("applied.json"));
    EXPECT_TRUE(store->list("journal"));
    EXPECT_TRUE(store->remove("applied.json"));
    EXPECT_TRUE(tree.names("").empty());
}

TEST(StateStore, NamesStayInside) {
    const TempTree tree;
    const auto store = store_of(tree);
    for (const auto* name : {"../x", "/etc/passwd", "a/../../x", "", "a//b", ".", ".hidden"}) {
        EXPECT_EQ(store->replace(name, "x").error().kind, ErrorKind::invalid) << name;
        EXPECT_EQ(store->read(name).error().kind, ErrorKind::invalid) << name;
    }
}

TEST(StateStore, LinksInsideAreNotFollowed) {
    const TempTree tree;
    tree.write("/secret", "s");
    tree.make_directory("/elsewhere");
    tree.link("/var/lib/storpol/applied.json", "/secret");
    tree.link("/var/lib/storpol/journal", "/elsewhere");
    const auto store = store_of(tree);
    EXPECT_EQ(store->read("applied.json").error().code, ELOOP);
    EXPECT_EQ(store->append("applied.json", "x").error().code, ELOOP);
    EXPECT_FALSE(store->append("journal/1", "x"));
    ASSERT_TRUE(store->replace("applied.json", "new"));
    EXPECT_EQ(tree.read("/secret"), "s");
    EXPECT_TRUE(tree.names("/elsewhere").empty());
}

TEST(StateStore, TheWayThereMayBeALinkOfTheImage) {
    const TempTree tree;
    tree.make_directory("/data/var/lib");
    tree.link("/var", "/data/var");
    ASSERT_TRUE(store_of(tree)->replace("applied.json", "x"));
    EXPECT_EQ(tree.read("/data/var/lib/storpol/applied.json"), "x");
}

TEST(StateStore, ADirectoryOthersCanWriteIsNotTrusted) {
    const TempTree tree;
    tree.make_directory("/var/lib/storpol");
    ASSERT_EQ(chmod(tree.at("/var/lib/storpol").c_str(), 0777), 0);
    const auto done = store_of(tree)->replace("applied.json", "x");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::denied);
}

TEST(StateStore, TheSecondLockIsRefusedWithTheHoldersNumber) {
    const TempTree tree;
    const auto first = store_of(tree);
    const auto second = store_of(tree);
    ASSERT_TRUE(first->lock());
    const auto refused = second->lock();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::failed);
    EXPECT_EQ(refused.error().code, EWOULDBLOCK);
    EXPECT_NE(refused.error().what.find(std::to_string(getpid())), std::string::npos) << to_text(refused.error());
}

TEST(StateStore, TheLockEndsWithItsStore) {
    const TempTree tree;
    ASSERT_TRUE(store_of(tree)->lock());
    EXPECT_TRUE(store_of(tree)->lock());
}

TEST(StateStore, AFullDiskLeavesNoTornLine) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.make_directory("/var");
    const bool ran = run_isolated([&] {
        ASSERT_EQ(mount("x", tree.at("/var").c_str(), "tmpfs", 0, "size=64k"), 0);
        const auto store = store_of(tree);
        ASSERT_TRUE(store->append("journal/1.jsonl", "whole\n"));
        const auto done = store->append("journal/1.jsonl", std::string(1 << 20, 'x'));
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, ENOSPC);
        EXPECT_EQ(*store->read("journal/1.jsonl"), "whole\n");
        EXPECT_EQ(store->replace("applied.json", std::string(1 << 20, 'x')).error().code, ENOSPC);
        EXPECT_EQ(tree.names("/var/lib/storpol"), std::vector<std::string>{"journal"});
    });
    if (!ran) GTEST_SKIP() << "no mount namespace can be made here";
}

TEST(StateStore, TheMachinesOwnLiesInVarAndRun) {
    STORPOL_NEEDS_ROOT();
    const bool ran = run_isolated([] {
        ASSERT_EQ(mount("x", "/var", "tmpfs", 0, ""), 0);
        ASSERT_EQ(mount("x", "/run", "tmpfs", 0, ""), 0);
        const auto store = make_state_store();
        ASSERT_TRUE(store->lock());
        ASSERT_TRUE(store->replace("applied.json", "x"));
        EXPECT_EQ(access("/run/storpol/lock", F_OK), 0);
        EXPECT_EQ(access("/var/lib/storpol/applied.json", F_OK), 0);
    });
    if (!ran) GTEST_SKIP() << "no mount namespace can be made here";
}

}  // namespace
}  // namespace storpol
