// SPDX-License-Identifier: GPL-3.0-or-later
// The hosts that look at real files: the running machine and a mounted image.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>

#include "engine/host/host.h"
#include "tests/engine/host/temp_tree.h"

namespace storpol {
namespace {

std::unique_ptr<Host> root_host(const TempTree& tree) {
    auto host = make_root_host(tree.path());
    EXPECT_TRUE(host) << (host ? "" : to_text(host.error()));
    return host ? std::move(*host) : nullptr;
}

TEST(LiveHost, ReadsFilesAndSaysWhereTheyLie) {
    const TempTree tree;
    tree.write("/a/real", "text\n");
    tree.link("/a/link", "real");
    tree.link("/a/absolute", tree.at("/a/real"));
    tree.link("/b", "a");
    tree.link("/a/up", "../b/./link");
    const auto host = make_live_host();
    for (const auto* name : {"/a/real", "/a/link", "/a/absolute", "/b/link", "/a/up", "/a/../b//real", "/a/./real"}) {
        const auto file = host->read_file_resolved(tree.at(name));
        ASSERT_TRUE(file) << name << to_text(file.error());
        EXPECT_EQ(file->bytes, "text\n");
        EXPECT_EQ(file->path, tree.at("/a/real")) << name;
    }
}

TEST(LiveHost, RefusalsAreErrnos) {
    const TempTree tree;
    tree.write("/file", "");
    tree.link("/loop", "loop");
    tree.link("/dangling", "nowhere");
    const auto host = make_live_host();
    EXPECT_EQ(host->read_file(tree.at("/none")).error().code, ENOENT);
    EXPECT_EQ(host->read_file(tree.at("/dangling")).error().code, ENOENT);
    EXPECT_EQ(host->read_file(tree.at("/loop")).error().code, ELOOP);
    EXPECT_EQ(host->read_file(tree.at("/file/below")).error().code, ENOTDIR);
    EXPECT_EQ(host->read_file(tree.path()).error().code, EISDIR);
    EXPECT_EQ(host->list(tree.at("/file")).error().code, ENOTDIR);
    EXPECT_EQ(host->read_link(tree.at("/file")).error().code, EINVAL);
    EXPECT_EQ(*host->read_link(tree.at("/dangling")), "nowhere");
    EXPECT_EQ(host->read_file("relative").error().code, EINVAL);
    EXPECT_EQ(host->read_file(std::string_view("/a\0b", 4)).error().code, EINVAL);
    EXPECT_EQ(host->read_file("").error().code, EINVAL);
}

TEST(LiveHost, ALinkToTheNullDeviceIsAnEmptyFile) {
    const TempTree tree;
    tree.link("/masked.conf", "/dev/null");
    tree.link("/zero.conf", "/dev/zero");
    const auto host = make_live_host();
    const auto masked = host->read_file_resolved(tree.at("/masked.conf"));
    ASSERT_TRUE(masked);
    EXPECT_EQ(masked->bytes, "");
    EXPECT_EQ(masked->path, "/dev/null");
    const auto endless = host->read_file_resolved(tree.at("/zero.conf"));
    ASSERT_TRUE(endless);
    EXPECT_EQ(endless->bytes, "");
    EXPECT_EQ(endless->path, "/dev/zero");
    EXPECT_EQ(host->stat(tree.at("/masked.conf"))->type, "char");
}

TEST(LiveHost, FifosAndSocketsNeverHoldIt) {
    const TempTree tree;
    ASSERT_EQ(mkfifo(tree.at("/fifo").c_str(), 0600), 0);
    const auto host = make_live_host();
    const auto fifo = host->read_file_resolved(tree.at("/fifo"));
    ASSERT_TRUE(fifo);
    EXPECT_EQ(fifo->bytes, "");
    EXPECT_EQ(host->stat(tree.at("/fifo"))->type, "other");
}

TEST(LiveHost, SecretsAreRefusedUnderAnyName) {
    const TempTree tree;
    tree.link("/innocent", "/etc/shadow");
    tree.write("/root.key", "secret");
    const auto host = make_live_host();
    for (const auto& path :
         {std::string("/etc/shadow"), tree.at("/innocent"), std::string("/etc/../etc/gshadow"),
          std::string("/sys/class/zram-control/hot_add"), std::string("/proc/kmsg"), tree.at("/root.key")}) {
        const auto answer = host->ask({QueryKind::file, {path}});
        ASSERT_TRUE(answer.refusal) << path;
        EXPECT_EQ(answer.refusal->code, EPERM) << path;
        EXPECT_EQ(answer.text, "");
    }
    EXPECT_NE(host->read_file("/etc/shadow").error().what.find("secret"), std::string::npos);
}

TEST(LiveHost, AnEndlessFileIsRefused) {
    const TempTree tree;
    tree.write("/large", "");
    ASSERT_EQ(truncate(tree.at("/large").c_str(), (16 << 20) + 1), 0);
    const auto host = make_live_host();
    EXPECT_EQ(host->read_file(tree.at("/large")).error().code, EFBIG);
    ASSERT_EQ(truncate(tree.at("/large").c_str(), 16 << 20), 0);
    EXPECT_EQ(host->read_file(tree.at("/large"))->size(), 16U << 20);
}

TEST(LiveHost, KernelFilesWithoutSizeAreReadWhole) {
    const auto host = make_live_host();
    const auto mounts = host->read_file_resolved("/proc/self/mountinfo");
    ASSERT_TRUE(mounts);
    EXPECT_EQ(mounts->path, "/proc/self/mountinfo");
    EXPECT_NE(mounts->bytes.find(" / "), std::string::npos);
    EXPECT_EQ(host->read_file_resolved("/proc/mounts")->path, "/proc/self/mounts");
    EXPECT_EQ(host->read_file("/proc/sys/kernel/ostype"), "Linux\n");
    EXPECT_TRUE(host->read_file("/proc/cpuinfo"));
    EXPECT_TRUE(host->read_file("/sys/kernel/mm/transparent_hugepage/enabled") ||
                host->read_file("/sys/kernel/mm/transparent_hugepage/enabled").error().code == ENOENT);
}

TEST(LiveHost, ListsAreSortedByByte) {
    const TempTree tree;
    for (const auto* name : {"/d/b", "/d/a", "/d/B", "/d/.hidden", "/d/10", "/d/9"}) tree.write(name, "");
    const auto host = make_live_host();
    EXPECT_EQ(*host->list(tree.at("/d")), (std::vector<std::string>{".hidden", "10", "9", "B", "a", "b"}));
    tree.write("/d/two\nlines", "");
    EXPECT_EQ(host->list(tree.at("/d")).error().code, EILSEQ);
}

TEST(LiveHost, StatFollowsLinks) {
    const TempTree tree;
    tree.write("/f", "12345", 0640);
    tree.link("/l", "f");
    const auto host = make_live_host();
    const auto found = host->stat(tree.at("/l"));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->type, "file");
    EXPECT_EQ(found->mode, 0640U);
    EXPECT_EQ(found->size, 5);
    EXPECT_EQ(found->nlink, 1U);
    EXPECT_EQ(found->path, tree.at("/f"));
    EXPECT_EQ(host->stat(tree.path())->type, "dir");
    EXPECT_EQ(host->stat("/")->path, "/");
}

TEST(LiveHost, TellsProgramsFromOtherFiles) {
    const TempTree tree;
    tree.write("/plain", "", 0644);
    tree.write("/tool", "", 0755);
    const auto host = make_live_host();
    const auto ask = [&](const std::string& path) { return host->ask({QueryKind::program_exists, {path}}).text; };
    EXPECT_EQ(ask("/bin/sh"), "yes");
    EXPECT_EQ(ask(tree.at("/tool")), "yes");
    EXPECT_EQ(ask(tree.at("/plain")), "no");
    EXPECT_EQ(ask(tree.at("/none")), "no");
    EXPECT_EQ(ask(tree.path()), "no");
}

TEST(LiveHost, KnowsClockAndUser) {
    const auto host = make_live_host();
    const auto now = host->now();
    ASSERT_TRUE(now);
    EXPECT_EQ(now->size(), std::string("2026-11-30T12:00:00Z").size());
    EXPECT_EQ(now->back(), 'Z');
    EXPECT_EQ(host->ask({QueryKind::uid, {}}).text, std::to_string(geteuid()));
}

TEST(LiveHost, OpensNothingBelowAFuseMountAndFollowsNoLinkThere) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.make_directory("/remote");
    tree.link("/into", "remote/file");
    tree.link("/around", "remote/../plain");
    tree.write("/plain", "text");
    const bool ran = run_isolated([&] {
        // A FUSE mount whose server never answers: any access to it would hang for ever.
        const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
        const auto options = "fd=" + std::to_string(device) + ",rootmode=40000,user_id=0,group_id=0";
        if (device < 0 || mount("x", tree.at("/remote").c_str(), "fuse", 0, options.c_str()) != 0) _exit(77);
        alarm(20);
        const auto host = make_live_host();
        for (const auto* path : {"/remote", "/remote/file", "/into", "/around", "/remote/../plain"}) {
            EXPECT_EQ(host->read_file(tree.at(path)).error().code, EREMOTE) << path;
            EXPECT_EQ(host->stat(tree.at(path)).error().code, EREMOTE) << path;
            EXPECT_EQ(host->list(tree.at(path)).error().code, EREMOTE) << path;
        }
        EXPECT_EQ(*host->read_link(tree.at("/into")), "remote/file");
        EXPECT_EQ(*host->read_file(tree.at("/plain")), "text");
    });
    if (!ran) GTEST_SKIP() << "no FUSE mount can be made here";
}

// Makes openat2(2) answer `code` from here on, as kernels before 5.6 and old container filters do.
bool forbid_openat2(unsigned code) {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{4, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(LiveHost, AnswersAlikeWithoutOpenat2) {
    STORPOL_NEEDS_ROOT();
    const TempTree tree;
    tree.write("/a/real", "text\n");
    tree.link("/b", "a");
    tree.link("/a/up", "../b/./real");
    tree.link("/loop", "loop");
    for (const auto code : {static_cast<unsigned>(ENOSYS), static_cast<unsigned>(EPERM)}) {
        const bool ran = run_isolated([&] {
            const auto before = make_live_host()->ask({QueryKind::stat, {tree.at("/b/up")}});
            if (!forbid_openat2(code)) _exit(77);
            const auto host = make_live_host();
            EXPECT_EQ(host->read_file_resolved(tree.at("/b/up"))->path, tree.at("/a/real"));
            EXPECT_EQ(*host->read_file(tree.at("/a/real")), "text\n");
            EXPECT_EQ(host->read_file(tree.at("/loop")).error().code, ELOOP);
            EXPECT_EQ(*host->read_link(tree.at("/b/up")), "../b/./real");
            EXPECT_EQ(host->ask({QueryKind::stat, {tree.at("/b/up")}}), before);
            EXPECT_TRUE(host->read_file("/proc/self/mountinfo"));
            EXPECT_EQ(*host->list(tree.at("/b")), (std::vector<std::string>{"real", "up"}));
        });
        if (!ran) GTEST_SKIP() << "no filter can be set here";
    }
}

TEST(RootHost, LinksStayInside) {
    const TempTree tree;
    tree.write("/etc/os-release", "ID=image\n");
    tree.link("/etc/absolute", "/etc/os-release");
    tree.link("/etc/escape", "../../../../../../etc/os-release");
    tree.link("/a/b/deep", "/../../etc/absolute");
    tree.link("/etc/dangling", "/etc/none");
    const auto host = root_host(tree);
    for (const auto* path : {"/etc/os-release", "/etc/absolute", "/etc/escape", "/a/b/deep", "/../../etc/os-release"}) {
        const auto file = host->read_file_resolved(path);
        ASSERT_TRUE(file) << path << to_text(file.error());
        EXPECT_EQ(file->bytes, "ID=image\n");
        EXPECT_EQ(file->path, "/etc/os-release") << path;
    }
    EXPECT_EQ(host->read_file("/etc/dangling").error().code, ENOENT);
    EXPECT_EQ(*host->read_link("/etc/escape"), "../../../../../../etc/os-release");
    EXPECT_EQ(host->read_file("/tmp").error().code, ENOENT);
    EXPECT_EQ(*host->list("/"), (std::vector<std::string>{"a", "etc"}));
    EXPECT_EQ(host->stat("/etc/escape")->path, "/etc/os-release");
}

TEST(RootHost, TheMachinesOwnTreesAreNotTheImages) {
    const TempTree tree;
    tree.write("/proc/sys/vm/swappiness", "1\n");
    tree.write("/sys/x", "1\n");
    tree.write("/dev/x", "1\n");
    tree.link("/etc/trap", "/proc/sys/vm/swappiness");
    tree.link("/etc/magic", "/proc/self/root/etc/os-release");
    tree.link("/etc/parts", "../sys/x");
    const auto host = root_host(tree);
    for (const auto* path :
         {"/proc/sys/vm/swappiness", "/sys/x", "/dev/x", "/etc/trap", "/etc/magic", "/etc/parts", "/proc"}) {
        EXPECT_EQ(host->read_file(path).error().kind, ErrorKind::not_captured) << path;
        EXPECT_EQ(host->stat(path).error().kind, ErrorKind::not_captured) << path;
        EXPECT_EQ(host->list(path).error().kind, ErrorKind::not_captured) << path;
    }
}

TEST(RootHost, AMaskNeedsNoDeviceInTheImage) {
    const TempTree tree;
    tree.link("/etc/sysctl.d/10-x.conf", "/dev/null");
    tree.link("/etc/sysctl.d/20-y.conf", "../../dev/null");
    const auto host = root_host(tree);
    for (const auto* path : {"/etc/sysctl.d/10-x.conf", "/etc/sysctl.d/20-y.conf"}) {
        const auto file = host->read_file_resolved(path);
        ASSERT_TRUE(file) << path;
        EXPECT_EQ(file->bytes, "");
        EXPECT_EQ(file->path, "/dev/null");
        EXPECT_EQ(host->stat(path)->type, "char");
    }
}

TEST(RootHost, TheImagesSecretsAreRefusedToo) {
    const TempTree tree;
    tree.write("/etc/shadow", "root:x\n");
    tree.link("/etc/alias", "shadow");
    const auto host = root_host(tree);
    EXPECT_EQ(host->read_file("/etc/shadow").error().code, EPERM);
    EXPECT_EQ(host->read_file("/etc/alias").error().code, EPERM);
}

TEST(RootHost, HasNoManagerButAClock) {
    const TempTree tree;
    const auto host = root_host(tree);
    EXPECT_EQ(host->unit("fstrim.timer").error().kind, ErrorKind::not_captured);
    EXPECT_TRUE(host->now());
    EXPECT_EQ(host->ask({QueryKind::uid, {}}).text, std::to_string(geteuid()));
    EXPECT_EQ(host->ask({QueryKind::program_exists, {"/bin/sh"}}).text, "no");
}

TEST(RootHost, WithoutADirectoryThereIsNone) {
    const TempTree tree;
    tree.write("/file", "");
    EXPECT_EQ(make_root_host(tree.at("/none")).error().code, ENOENT);
    EXPECT_EQ(make_root_host(tree.at("/file")).error().code, ENOTDIR);
}

}  // namespace
}  // namespace storpol
