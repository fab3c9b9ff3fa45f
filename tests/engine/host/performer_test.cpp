// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/performer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

#include <cerrno>

#include "engine/base/digest.h"
#include "tests/engine/host/temp_tree.h"

namespace storpol {
namespace {

const std::string absent(no_file_digest);

// A performer on an image, which is the same code as on the running machine.
std::unique_ptr<Performer> performer_of(const TempTree& tree) {
    auto made = make_root_performer(tree.path());
    EXPECT_TRUE(made) << (made ? "" : to_text(made.error()));
    return made ? std::move(*made) : nullptr;
}

ReplaceFile replacing(const std::string& path, const std::string& old, const std::string& bytes) {
    return ReplaceFile{path, digest_of(old), bytes, 0644};
}

ReplaceFile creating(const std::string& path, const std::string& bytes) {
    return ReplaceFile{path, absent, bytes, 0644};
}

TEST(Performer, ReplacesAFileAndLeavesNothingBeside) {
    const TempTree tree;
    tree.write("/etc/fstab", "old\n");
    const auto performer = performer_of(tree);
    const Step step = replacing("/etc/fstab", "old\n", "new\n");
    EXPECT_EQ(*performer->state(step), digest_of("old\n"));
    const auto done = performer->perform(step);
    ASSERT_TRUE(done) << to_text(done.error());
    EXPECT_EQ(*done, digest_of("new\n"));
    EXPECT_EQ(tree.read("/etc/fstab"), "new\n");
    EXPECT_EQ(tree.names("/etc"), std::vector<std::string>{"fstab"});
}

TEST(Performer, KeepsOwnerModeAndAttributes) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/etc/crypttab", "old");
    const auto path = tree.at("/etc/crypttab");
    ASSERT_EQ(chown(path.c_str(), 65534, 12), 0);
    ASSERT_EQ(chmod(path.c_str(), 0640), 0);
    const bool has_attributes = setxattr(path.c_str(), "user.note", "kept", 4, 0) == 0;
    ASSERT_TRUE(performer_of(tree)->perform(replacing("/etc/crypttab", "old", "new")));
    const auto about = tree.stat("/etc/crypttab");
    EXPECT_EQ(about.st_uid, 65534U);
    EXPECT_EQ(about.st_gid, 12U);
    EXPECT_EQ(about.st_mode & 07777U, 0640U);
    char value[8] = {};
    if (has_attributes) {
        EXPECT_EQ(getxattr(path.c_str(), "user.note", value, sizeof value), 4);
        EXPECT_STREQ(value, "kept");
    }
}

TEST(Performer, ANewFileHasItsModeWhateverTheUmask) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.make_directory("/etc");
    const auto before = umask(0777);
    const auto done = performer_of(tree)->perform(creating("/etc/a/b/zz-storpol.conf", "x\n"));
    umask(before);
    ASSERT_TRUE(done) << to_text(done.error());
    EXPECT_EQ(tree.stat("/etc/a/b/zz-storpol.conf").st_mode & 07777U, 0644U);
    EXPECT_EQ(tree.stat("/etc/a/b/zz-storpol.conf").st_uid, 0U);
    EXPECT_EQ(tree.stat("/etc/a").st_mode & 07777U, 0755U);
    EXPECT_EQ(tree.stat("/etc/a/b").st_mode & 07777U, 0755U);
}

TEST(Performer, RefusesWhatIsNoLongerAsItWasRead) {
    const TempTree tree;
    tree.write("/etc/fstab", "edited\n");
    const auto performer = performer_of(tree);
    for (const Step& step :
         std::vector<Step>{replacing("/etc/fstab", "old\n", "new\n"), creating("/etc/fstab", "new\n"),
                           replacing("/etc/none", "old\n", "new\n"), DeleteFile{"/etc/fstab", digest_of("old\n")},
                           DeleteFile{"/etc/none", digest_of("old\n")}}) {
        const auto done = performer->perform(step);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().kind, ErrorKind::changed) << to_text(done.error());
        EXPECT_FALSE(done.error().fix.empty());
    }
    EXPECT_EQ(tree.read("/etc/fstab"), "edited\n");
    EXPECT_EQ(tree.names("/etc"), std::vector<std::string>{"fstab"});
}

TEST(Performer, NeverWritesThroughALink) {
    const TempTree tree;
    tree.write("/etc/real", "old");
    tree.write("/usr/x", "old");
    tree.link("/etc/link", "real");
    tree.link("/etc/masked", "/dev/null");
    tree.link("/etc/dangling", "nowhere");
    tree.link("/etc/outside", "../usr");
    const auto performer = performer_of(tree);
    for (const auto* path : {"/etc/link", "/etc/masked", "/etc/dangling", "/etc/outside/x"}) {
        for (const auto& before : {digest_of("old"), absent}) {
            const auto done = performer->perform(ReplaceFile{path, before, "new", 0644});
            ASSERT_FALSE(done) << path;
            EXPECT_EQ(done.error().kind, ErrorKind::unsupported) << to_text(done.error());
            EXPECT_NE(done.error().what.find("link"), std::string::npos) << to_text(done.error());
        }
        EXPECT_FALSE(performer->state(DeleteFile{path, ""})) << path;
    }
    EXPECT_EQ(tree.read("/etc/real"), "old");
    EXPECT_EQ(tree.read("/usr/x"), "old");
    EXPECT_FALSE(std::filesystem::exists(tree.at("/etc/nowhere")));
}

TEST(Performer, StaysBelowEtcAndBoot) {
    const TempTree tree;
    tree.make_directory("/usr");
    tree.make_directory("/boot");
    tree.make_directory("/etc");
    const auto performer = performer_of(tree);
    for (const auto* path : {"/usr/x", "/etc/../usr/x", "/x", "etc/x", "/etc", "/etcetera/x", "/etc//x", "/etc/", ""}) {
        EXPECT_FALSE(performer->perform(creating(path, "x"))) << path;
        EXPECT_FALSE(performer->state(creating(path, "x"))) << path;
        performer->clean_up(creating(path, "x"));
    }
    EXPECT_TRUE(performer->perform(creating("/boot/cmdline.txt", "x")));
    EXPECT_TRUE(tree.names("/usr").empty());
}

TEST(Performer, ReportsHardLinksInsteadOfBreakingThem) {
    const TempTree tree;
    tree.write("/etc/fstab", "old");
    ASSERT_EQ(::link(tree.at("/etc/fstab").c_str(), tree.at("/etc/other").c_str()), 0);
    const auto done = performer_of(tree)->perform(replacing("/etc/fstab", "old", "new"));
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().what.find("2 hard links"), std::string::npos) << to_text(done.error());
    EXPECT_EQ(tree.read("/etc/other"), "old");
}

TEST(Performer, RefusesDirectoriesAndFifos) {
    const TempTree tree;
    tree.make_directory("/etc/dir");
    ASSERT_EQ(mkfifo(tree.at("/etc/fifo").c_str(), 0644), 0);
    const auto performer = performer_of(tree);
    EXPECT_EQ(performer->perform(creating("/etc/dir", "x")).error().kind, ErrorKind::unsupported);
    EXPECT_EQ(performer->perform(creating("/etc/fifo", "x")).error().kind, ErrorKind::unsupported);
}

TEST(Performer, UndoOfAReplacementGivesEverythingBack) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/etc/crypttab", "old", 0600);
    ASSERT_EQ(chown(tree.at("/etc/crypttab").c_str(), 65534, 12), 0);
    const auto performer = performer_of(tree);
    const Step step = replacing("/etc/crypttab", "old", "new");
    const auto undo = performer->undo_of(step);
    ASSERT_TRUE(undo);
    ASSERT_TRUE(performer->perform(step));
    for (const auto& one : *undo) ASSERT_TRUE(performer->perform(one));
    EXPECT_EQ(tree.read("/etc/crypttab"), "old");
    const auto about = tree.stat("/etc/crypttab");
    EXPECT_EQ(about.st_uid, 65534U);
    EXPECT_EQ(about.st_mode & 07777U, 0600U);
}

TEST(Performer, UndoOfACreationDeletesIt) {
    const TempTree tree;
    tree.make_directory("/etc");
    const auto performer = performer_of(tree);
    const Step step = creating("/etc/sysctl.d/zz-storpol.conf", "x");
    const auto undo = performer->undo_of(step);
    ASSERT_TRUE(undo) << to_text(undo.error());
    EXPECT_EQ(*undo, (std::vector<Step>{DeleteFile{"/etc/sysctl.d/zz-storpol.conf", digest_of("x")}}));
    ASSERT_TRUE(performer->perform(step));
    EXPECT_EQ(*performer->perform(undo->front()), absent);
    EXPECT_TRUE(tree.names("/etc/sysctl.d").empty());
}

TEST(Performer, UndoOfADeletionGivesContentAndModeBack) {
    const TempTree tree;
    tree.write("/etc/own", "old", 0600);
    const auto performer = performer_of(tree);
    const Step step = DeleteFile{"/etc/own", digest_of("old")};
    const auto undo = performer->undo_of(step);
    ASSERT_TRUE(undo);
    EXPECT_EQ(*performer->perform(step), absent);
    EXPECT_FALSE(std::filesystem::exists(tree.at("/etc/own")));
    ASSERT_TRUE(performer->perform(undo->front()));
    EXPECT_EQ(tree.read("/etc/own"), "old");
    EXPECT_EQ(tree.stat("/etc/own").st_mode & 07777U, 0600U);
}

TEST(Performer, AForeignOwnersFileIsNotDeleted) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/etc/own", "old");
    ASSERT_EQ(chown(tree.at("/etc/own").c_str(), 65534, 0), 0);
    EXPECT_EQ(performer_of(tree)->undo_of(DeleteFile{"/etc/own", digest_of("old")}).error().kind,
              ErrorKind::unsupported);
}

TEST(Performer, CleanUpRemovesOnlyItsOwnLeavings) {
    const TempTree tree;
    for (const auto* name : {"/etc/.storpol-a1B2c3", "/etc/.storpol-toolong", "/etc/.storpol-", "/etc/x.conf"})
        tree.write(name, "");
    tree.make_directory("/etc/.storpol-dirdir");
    tree.link("/etc/.storpol-linked", "x.conf");
    performer_of(tree)->clean_up(creating("/etc/zz-storpol.conf", "x"));
    EXPECT_EQ(tree.names("/etc"), (std::vector<std::string>{".storpol-", ".storpol-dirdir", ".storpol-linked",
                                                            ".storpol-toolong", "x.conf"}));
}

// Sets FS_IMMUTABLE_FL or FS_APPEND_FL for its lifetime.
class Mark {
  public:
    Mark(const std::string& path, int flag) : path_(path) { is_set_ = set(flag); }

    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

    ~Mark() { set(0); }

    bool is_set() const { return is_set_; }

  private:
    bool set(int flag) const {
        const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        int flags = 0;
        bool done = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;
        flags = (flags & ~(FS_IMMUTABLE_FL | FS_APPEND_FL)) | flag;
        done = done && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
        if (fd >= 0) close(fd);
        return done;
    }

    std::string path_;
    bool is_set_ = false;
};

TEST(Performer, RefusesMarkedFilesAndDirectories) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/etc/fstab", "old");
    const auto performer = performer_of(tree);
    for (const auto* place : {"/etc/fstab", "/etc"}) {
        for (const int flag : {FS_IMMUTABLE_FL, FS_APPEND_FL}) {
            const Mark mark(tree.at(place), flag);
            if (!mark.is_set()) GTEST_SKIP() << "this filesystem has no immutable mark";
            const auto done = performer->perform(replacing("/etc/fstab", "old", "new"));
            ASSERT_FALSE(done);
            EXPECT_EQ(done.error().code, EPERM);
            EXPECT_NE(done.error().what.find("chattr"), std::string::npos) << to_text(done.error());
            EXPECT_FALSE(performer->perform(DeleteFile{"/etc/fstab", digest_of("old")}));
        }
    }
    EXPECT_EQ(tree.read("/etc/fstab"), "old");
    EXPECT_EQ(tree.names("/etc"), std::vector<std::string>{"fstab"});
}

TEST(Performer, AReadOnlyFilesystemIsNamed) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.make_directory("/etc");
    const bool ran = run_isolated([&] {
        ASSERT_EQ(mount("x", tree.at("/etc").c_str(), "tmpfs", 0, ""), 0);
        tree.write("/etc/fstab", "old");
        ASSERT_EQ(mount(nullptr, tree.at("/etc").c_str(), nullptr, MS_REMOUNT | MS_RDONLY, ""), 0);
        const auto performer = performer_of(tree);
        for (const Step& step :
             std::vector<Step>{replacing("/etc/fstab", "old", "new"), creating("/etc/new", "x"),
                               creating("/etc/dir/new", "x"), DeleteFile{"/etc/fstab", digest_of("old")}}) {
            const auto done = performer->perform(step);
            ASSERT_FALSE(done);
            EXPECT_EQ(done.error().code, EROFS) << to_text(done.error());
            EXPECT_FALSE(done.error().fix.empty());
        }
    });
    if (!ran) GTEST_SKIP() << "no mount namespace can be made here";
}

TEST(Performer, AFullDiskLeavesTheOldFileWhole) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.make_directory("/etc");
    const bool ran = run_isolated([&] {
        ASSERT_EQ(mount("x", tree.at("/etc").c_str(), "tmpfs", 0, "size=64k"), 0);
        tree.write("/etc/fstab", "old");
        const auto done = performer_of(tree)->perform(replacing("/etc/fstab", "old", std::string(1 << 20, 'x')));
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, ENOSPC) << to_text(done.error());
        EXPECT_EQ(tree.read("/etc/fstab"), "old");
        EXPECT_EQ(tree.names("/etc"), std::vector<std::string>{"fstab"});
    });
    if (!ran) GTEST_SKIP() << "no mount namespace can be made here";
}

TEST(Performer, ABindMountedFileIsNotWrittenInPlace) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/etc/fstab", "old");
    tree.write("/source", "old");
    const bool ran = run_isolated([&] {
        ASSERT_EQ(mount(tree.at("/source").c_str(), tree.at("/etc/fstab").c_str(), nullptr, MS_BIND, nullptr), 0);
        const auto performer = performer_of(tree);
        const auto done = performer->perform(replacing("/etc/fstab", "old", "new"));
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().code, EBUSY) << to_text(done.error());
        EXPECT_NE(done.error().fix.find("mount point"), std::string::npos);
        EXPECT_EQ(tree.read("/source"), "old");
        EXPECT_EQ(tree.names("/etc"), std::vector<std::string>{"fstab"});
    });
    if (!ran) GTEST_SKIP() << "no mount namespace can be made here";
}

TEST(Performer, TheRunningMachinesFilesAreReplacedAlike) {
    STORPOL_NEEDS_ROOT();
    const bool ran = run_isolated([] {
        ASSERT_EQ(mount("x", "/etc", "tmpfs", 0, ""), 0);
        const auto performer = make_live_performer();
        ASSERT_TRUE(performer->perform(creating("/etc/sysctl.d/zz-storpol.conf", "a\n")));
        const auto done = performer->perform(replacing("/etc/sysctl.d/zz-storpol.conf", "a\n", "b\n"));
        ASSERT_TRUE(done) << to_text(done.error());
        EXPECT_EQ(*done, digest_of("b\n"));
    });
    if (!ran) GTEST_SKIP() << "no mount namespace can be made here";
}

TEST(Performer, AnImageHasNothingRunning) {
    const TempTree tree;
    const auto performer = performer_of(tree);
    for (const Step& step :
         std::vector<Step>{WriteAttribute{"/proc/sys/vm/swappiness", "1"}, Remount{"/", "1", {}, {}}, DaemonReload{}})
        EXPECT_EQ(performer->perform(step).error().kind, ErrorKind::unsupported);
}

TEST(Performer, AnEditIsNotPerformedByItself) {
    const TempTree tree;
    tree.write("/etc/fstab", "");
    EXPECT_EQ(performer_of(tree)->perform(EditFile{"/etc/fstab", "", OwnLines{}}).error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace storpol
