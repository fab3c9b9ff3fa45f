// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/user_files.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/engine/host/temp_tree.h"

namespace storpol {
namespace {

// SUDO_UID for one check.
class SudoCaller {
  public:
    explicit SudoCaller(const char* uid) { setenv("SUDO_UID", uid, 1); }

    SudoCaller(const SudoCaller&) = delete;
    SudoCaller& operator=(const SudoCaller&) = delete;

    ~SudoCaller() { unsetenv("SUDO_UID"); }
};

void own(const TempTree& tree, const std::string& below, uid_t user, gid_t group) {
    ASSERT_EQ(lchown(tree.at(below).c_str(), user, group), 0);
}

// What refuses a policy, or nothing.
std::string refusal_of(const std::string& path) {
    const auto bytes = read_user_file(path, Trust::controlled);
    return bytes ? "" : to_text(bytes.error());
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(ControlledFile, RootsOwnIsTaken) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/p.toml", "version = 1\n");
    tree.link("/alias.toml", "p.toml");
    EXPECT_EQ(*read_user_file(tree.at("/p.toml"), Trust::controlled), "version = 1\n");
    tree.make_directory("/x");
    EXPECT_EQ(*read_user_file(tree.at("/./x/../p.toml"), Trust::controlled), "version = 1\n");
    EXPECT_EQ(*read_user_file(tree.at("/alias.toml"), Trust::controlled), "version = 1\n");
}

TEST(ControlledFile, OwnersAndModesAreNamed) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/d/p.toml", "x");
    const auto path = tree.at("/d/p.toml");
    own(tree, "/d/p.toml", 65534, 0);
    EXPECT_TRUE(has(refusal_of(path), "does not belong to root (owner 65534, group 0, mode 0644)")) << refusal_of(path);
    own(tree, "/d/p.toml", 0, 0);
    chmod(path.c_str(), 0646);
    EXPECT_TRUE(has(refusal_of(path), "everybody can write it")) << refusal_of(path);
    EXPECT_TRUE(has(refusal_of(path), "chmod o-w " + path));
    chmod(path.c_str(), 0664);
    EXPECT_EQ(refusal_of(path), "");  // group 0
    own(tree, "/d/p.toml", 0, 50);
    chmod(path.c_str(), 0664);
    EXPECT_TRUE(has(refusal_of(path), "a group can write it")) << refusal_of(path);
    chmod(path.c_str(), 0644);
    EXPECT_EQ(refusal_of(path), "");
}

TEST(ControlledFile, EveryDirectoryAboveCounts) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/d/e/p.toml", "x");
    const auto path = tree.at("/d/e/p.toml");
    chmod(tree.at("/d").c_str(), 0777);
    EXPECT_TRUE(has(refusal_of(path), tree.at("/d:") + " everybody can write it")) << refusal_of(path);
    chmod(tree.at("/d").c_str(), 01777);
    EXPECT_EQ(refusal_of(path), "");
    chmod(tree.at("/d").c_str(), 0755);
    own(tree, "/d", 65534, 65534);
    EXPECT_TRUE(has(refusal_of(path), tree.at("/d:"))) << refusal_of(path);
    own(tree, "/d", 0, 50);
    chmod(tree.at("/d").c_str(), 01775);  // sticky helps against others, not against a group
    EXPECT_TRUE(has(refusal_of(path), "a group can write it")) << refusal_of(path);
}

TEST(ControlledFile, LinksAreFollowedThroughTrustedHandsOnly) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/good/p.toml", "x");
    tree.write("/bad/p.toml", "x");
    chmod(tree.at("/bad").c_str(), 0777);
    tree.link("/good/into-bad.toml", "../bad/p.toml");
    tree.link("/good/absolute.toml", tree.at("/good/p.toml"));
    tree.link("/good/foreign.toml", "p.toml");
    own(tree, "/good/foreign.toml", 65534, 65534);
    tree.link("/good/loop.toml", "loop.toml");
    tree.link("/good/dir.toml", ".");
    EXPECT_TRUE(has(refusal_of(tree.at("/good/into-bad.toml")), tree.at("/bad:")));
    EXPECT_EQ(refusal_of(tree.at("/good/absolute.toml")), "");
    EXPECT_TRUE(has(refusal_of(tree.at("/good/foreign.toml")), "foreign.toml"));
    EXPECT_EQ(read_user_file(tree.at("/good/loop.toml"), Trust::controlled).error().code, ELOOP);
    EXPECT_TRUE(has(refusal_of(tree.at("/good/dir.toml")), "directory"));
    EXPECT_EQ(read_user_file(tree.at("/none"), Trust::controlled).error().code, ENOENT);
    EXPECT_EQ(read_user_file(tree.at("/good/p.toml/x"), Trust::controlled).error().code, ENOTDIR);
}

TEST(ControlledFile, OnlyARegularFileIsTaken) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    ASSERT_EQ(mkfifo(tree.at("/fifo").c_str(), 0600), 0);
    EXPECT_TRUE(has(refusal_of(tree.at("/fifo")), "no regular file")) << refusal_of(tree.at("/fifo"));
    EXPECT_EQ(read_user_file("-", Trust::controlled).error().kind, ErrorKind::denied);
    EXPECT_FALSE(read_user_file("/dev/zero", Trust::controlled));
}

TEST(ControlledFile, TheSudoCallersFileIsTakenWithTheirGroup) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/home/p.toml", "x");
    own(tree, "/home", 1234, 1234);
    own(tree, "/home/p.toml", 1234, 1234);
    chmod(tree.at("/home").c_str(), 0775);
    chmod(tree.at("/home/p.toml").c_str(), 0664);
    EXPECT_NE(refusal_of(tree.at("/home/p.toml")), "");
    const SudoCaller caller("1234");
    EXPECT_EQ(refusal_of(tree.at("/home/p.toml")), "");
    own(tree, "/home/p.toml", 1235, 1234);
    EXPECT_NE(refusal_of(tree.at("/home/p.toml")), "");
    own(tree, "/home/p.toml", 1234, 50);
    chmod(tree.at("/home/p.toml").c_str(), 0664);
    EXPECT_TRUE(has(refusal_of(tree.at("/home/p.toml")), "a group can write it"));
}

TEST(ControlledFile, NonsenseInTheEnvironmentTrustsNobody) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/p.toml", "x");
    own(tree, "/p.toml", 1234, 1234);
    for (const auto* text : {"", "abc", "-1", "0", "1234x", "4294968530", "99999999999999999999"}) {
        const SudoCaller caller(text);
        EXPECT_NE(refusal_of(tree.at("/p.toml")), "") << text;
    }
}

TEST(PolicySource, IncludesOfTheSudoCallerStayBelowTheirPolicy) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    for (const auto* name : {"/home/policies/a.toml", "/home/policies/sub/b.toml", "/home/other.toml"}) {
        tree.write(name, "x");
        own(tree, name, 1234, 1234);
    }
    for (const auto* name : {"/home", "/home/policies", "/home/policies/sub"}) own(tree, name, 1234, 1234);
    tree.write("/root.toml", "x");
    tree.link("/home/policies/out.toml", "../other.toml");
    own(tree, "/home/policies/out.toml", 1234, 1234);
    const SudoCaller caller("1234");
    DiskPolicySource source(Trust::controlled);
    const auto first = source.open(tree.at("/home/policies/a.toml"), "");
    ASSERT_TRUE(first) << to_text(first.error());
    const auto below = source.open("sub/b.toml", first->name);
    ASSERT_TRUE(below) << to_text(below.error());
    EXPECT_TRUE(source.open("../a.toml", below->name));
    EXPECT_FALSE(source.open("../other.toml", first->name));
    EXPECT_FALSE(source.open("../../other.toml", below->name));
    EXPECT_FALSE(source.open("out.toml", first->name));
    EXPECT_TRUE(source.open(tree.at("/root.toml"), first->name));
    // A file of root's that is included does not lend its place to the caller's.
    const auto roots = source.open(tree.at("/root.toml"), "");
    ASSERT_TRUE(roots);
    EXPECT_TRUE(source.open("home/other.toml", roots->name));
}

TEST(PolicySource, NamesAndIdentities) {
    const TempTree tree;
    tree.write("/a.toml", "a");
    tree.write("/sub/b.toml", "b");
    tree.link("/same.toml", "a.toml");
    DiskPolicySource source(Trust::any);
    const auto a = source.open(tree.at("/a.toml"), "");
    ASSERT_TRUE(a);
    EXPECT_EQ(a->bytes, "a");
    EXPECT_EQ(a->name, tree.at("/a.toml"));
    EXPECT_EQ(source.open("same.toml", a->name)->identity, a->identity);
    const auto b = source.open("sub/b.toml", a->name);
    ASSERT_TRUE(b);
    EXPECT_EQ(b->name, tree.at("/sub/b.toml"));
    EXPECT_NE(b->identity, a->identity);
    EXPECT_EQ(source.open("../a.toml", b->name)->identity, a->identity);
}

TEST(PolicySource, RefusesWhatIsNoPolicy) {
    const TempTree tree;
    tree.write("/a.toml", "a");
    tree.write("/passwd", "x");
    tree.write("/large.toml", "");
    ASSERT_EQ(truncate(tree.at("/large.toml").c_str(), (1 << 20) + 1), 0);
    ASSERT_EQ(mkfifo(tree.at("/fifo.toml").c_str(), 0600), 0);
    DiskPolicySource source(Trust::any);
    const auto a = source.open(tree.at("/a.toml"), "");
    ASSERT_TRUE(a);
    EXPECT_TRUE(has(source.open("passwd", a->name).error().what, ".toml"));
    EXPECT_TRUE(has(source.open("fifo.toml", a->name).error().what, "no regular file"));
    EXPECT_TRUE(has(source.open(tree.at("/large.toml"), "").error().what, "1 MiB"));
    EXPECT_EQ(source.open(tree.at("/none.toml"), "").error().code, ENOENT);
    EXPECT_EQ(source.open(tree.path(), "").error().code, EISDIR);
    EXPECT_FALSE(source.open(std::string("a\0b", 3), ""));
    EXPECT_TRUE(has(source.open("builtin:no-such", "").error().what, "ready policy"));
    EXPECT_EQ(source.open("other.toml", "builtin:default").error().kind, ErrorKind::invalid);
}

TEST(PolicySource, EveryBuiltinPolicyOpens) {
    DiskPolicySource source(Trust::controlled);
    for (const auto& name : builtin_names()) {
        const auto opened = source.open("builtin:" + name, "");
        ASSERT_TRUE(opened) << name;
        EXPECT_EQ(opened->identity, "builtin:" + name);
        EXPECT_FALSE(opened->bytes.empty());
    }
}

TEST(UserFile, WritesWholeWithItsMode) {
    const TempTree tree;
    const auto before = umask(022);
    ASSERT_TRUE(write_user_file(tree.at("/capture"), "one", 0600));
    ASSERT_TRUE(write_user_file(tree.at("/plan"), "two", 0644));
    umask(before);
    EXPECT_EQ(tree.read("/capture"), "one");
    EXPECT_EQ(tree.stat("/capture").st_mode & 07777U, 0600U);
    EXPECT_EQ(tree.stat("/plan").st_mode & 07777U, 0644U);
    EXPECT_EQ(tree.names(""), (std::vector<std::string>{"capture", "plan"}));
    EXPECT_FALSE(write_user_file(tree.at("/none/x"), "x", 0600));
    EXPECT_FALSE(write_user_file(tree.at("/"), "x", 0600));
}

TEST(UserFile, AUsersLinkStaysALink) {
    const TempTree tree;
    tree.write("/real", "old");
    tree.link("/link", "real");
    ASSERT_TRUE(write_user_file(tree.at("/link"), "new", 0600));
    EXPECT_EQ(tree.read("/real"), "new");
    EXPECT_TRUE(S_ISLNK(tree.stat("/link").st_mode));
    EXPECT_TRUE(write_user_file("/dev/null", "x", 0600));

    struct stat device {};

    ASSERT_EQ(stat("/dev/null", &device), 0);
    EXPECT_TRUE(S_ISCHR(device.st_mode));
}

TEST(UserFile, ExistsOrNot) {
    const TempTree tree;
    tree.write("/x", "");
    EXPECT_TRUE(user_file_exists(tree.at("/x")));
    EXPECT_FALSE(user_file_exists(tree.at("/y")));
    EXPECT_EQ(read_user_file(tree.at("/y"), Trust::any).error().kind, ErrorKind::no_such_file);
}

TEST(Surroundings, AreReadFromTheEnvironment) {
    setenv("NO_COLOR", "1", 1);
    setenv("COLUMNS", "132", 1);
    EXPECT_TRUE(read_surroundings().no_color);
    EXPECT_EQ(read_surroundings().columns, 132);
    setenv("COLUMNS", "1x", 1);
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    EXPECT_TRUE(read_surroundings().no_color);
    EXPECT_GE(read_surroundings().columns, 20);
    setenv("TERM", "xterm", 1);
    EXPECT_FALSE(read_surroundings().no_color);
    unsetenv("COLUMNS");
    EXPECT_EQ(read_surroundings().is_root, geteuid() == 0);
}

}  // namespace
}  // namespace storpol
