// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/host.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace storpol {
namespace {

std::unique_ptr<Host> snapshot(std::string_view text) {
    auto host = make_snapshot_host(text, "x.capture");
    EXPECT_TRUE(host) << (host ? "" : to_text(host.error()));
    return host ? std::move(*host) : nullptr;
}

TEST(SnapshotHost, AnswersWhatItHoldsAndNothingElse) {
    const auto host = snapshot(
        "storpol-capture 1 0.1.0 2026-11-30T12:00:00Z\n"
        "file /etc/fstab resolved=/etc/fstab.real\n|a\nfile /etc/crypttab !ENOENT\nnow 2026-11-30T12:00:00Z\n");
    const auto file = host->read_file_resolved("/etc/fstab");
    ASSERT_TRUE(file);
    EXPECT_EQ(file->bytes, "a\n");
    EXPECT_EQ(file->path, "/etc/fstab.real");
    EXPECT_EQ(host->read_file("/etc/crypttab").error().kind, ErrorKind::no_such_file);
    EXPECT_EQ(host->read_file("/etc/other").error().kind, ErrorKind::not_captured);
    EXPECT_EQ(host->read_link("/etc/fstab").error().kind, ErrorKind::not_captured);
    EXPECT_EQ(host->list("/etc").error().kind, ErrorKind::not_captured);
    EXPECT_EQ(host->stat("/etc/fstab").error().kind, ErrorKind::not_captured);
    EXPECT_EQ(*host->now(), "2026-11-30T12:00:00Z");
}

TEST(SnapshotHost, TwoAnswersToOneQuestionAreAnError) {
    const auto host = make_snapshot_host("storpol-capture 1 0.1.0 T\nuid 0\nnow A\nuid 1\n", "x.capture");
    ASSERT_FALSE(host);
    EXPECT_EQ(host.error().where, "x.capture:4");
    EXPECT_NE(host.error().what.find("line 2 and line 4"), std::string::npos) << host.error().what;
}

TEST(SnapshotHost, RefusesAnotherFormat) {
    const auto host = make_snapshot_host("storpol-capture 2 9.0 T\nuid 0\n", "x.capture");
    ASSERT_FALSE(host);
    EXPECT_EQ(host.error().kind, ErrorKind::unsupported);
}

TEST(SnapshotHost, LeavesOutQuestionsOfANewerRelease) {
    const auto host = snapshot("dm-table root target=crypt\nfile /a 1\n");
    EXPECT_EQ(*host->read_file("/a"), "1\n");
}

TEST(SnapshotHost, ATornCaptureIsNamedByLine) {
    const auto host = make_snapshot_host("storpol-capture 1 0.1.0 T\nfile /a\n|\\x4", "x.capture");
    ASSERT_FALSE(host);
    EXPECT_EQ(host.error().where, "x.capture:3");
}

class CountingHost final : public Host {
  public:
    int asked = 0;

  private:
    Answer do_ask(const Query& query) override {
        ++asked;
        if (query.args.empty()) return Answer{std::to_string(asked), "", {}};
        return Answer{query.args[0] + "\n", query.args[0], {}};
    }
};

TEST(Picture, AsksEachQuestionOnce) {
    CountingHost machine;
    Picture picture(machine);
    EXPECT_EQ(*picture.now(), "1");
    EXPECT_EQ(*picture.now(), "1");
    EXPECT_EQ(machine.asked, 1);
    EXPECT_EQ(picture.questions(), 1U);
}

TEST(Picture, CaptureIsSortedAndReadsBackAlike) {
    MemoryHost machine;
    machine.put_file("/etc/b", "b");
    machine.put_file("/etc/a", "a\n");
    Picture picture(machine);
    for (const auto* path : {"/etc/b", "/etc/a", "/etc/none"}) picture.ask({QueryKind::file, {path}});
    picture.ask({QueryKind::list, {"/etc"}});
    picture.ask({QueryKind::stat, {"/etc/a"}});
    picture.ask({QueryKind::now, {}});  // not captured: left out
    const auto text = picture.capture("0.1.0", "2026-11-30T12:00:00Z");
    EXPECT_TRUE(
        text.starts_with("storpol-capture 1 0.1.0 2026-11-30T12:00:00Z\nfile /etc/a resolved=/etc/a\n|a\n"
                         "file /etc/b resolved=/etc/b\n|b\\\nfile /etc/none !ENOENT\nlist /etc "))
        << text;
    EXPECT_EQ(text.find("now"), std::string::npos);
    const auto replayed = snapshot(text);
    for (const auto* path : {"/etc/b", "/etc/a", "/etc/none"})
        EXPECT_EQ(replayed->ask({QueryKind::file, {path}}), picture.ask({QueryKind::file, {path}}));
    EXPECT_EQ(replayed->ask({QueryKind::list, {"/etc"}}), picture.ask({QueryKind::list, {"/etc"}}));
    EXPECT_EQ(replayed->ask({QueryKind::stat, {"/etc/a"}}), picture.ask({QueryKind::stat, {"/etc/a"}}));
    EXPECT_EQ(replayed->ask({QueryKind::now, {}}), picture.ask({QueryKind::now, {}}));
}

TEST(Picture, NoCaptureHoldsASecret) {
    CountingHost careless;
    Picture picture(careless);
    for (const auto* path : {"/etc/shadow", "/etc/cryptsetup-keys.d/root.key", "/etc/fstab"})
        picture.ask({QueryKind::file, {path}});
    const auto text = picture.capture("0.1.0", "T");
    EXPECT_EQ(text.find("shadow"), std::string::npos);
    EXPECT_EQ(text.find("root.key"), std::string::npos);
    EXPECT_NE(text.find("/etc/fstab"), std::string::npos);
}

TEST(MemoryHost, HasFilesLinksAndTheirDirectories) {
    MemoryHost host;
    host.put_file("/etc/sysctl.conf", "vm.swappiness=1\n");
    host.put_link("/etc/sysctl.d/99-sysctl.conf", "../sysctl.conf");
    host.put_link("/etc/sysctl.d/masked.conf", "/dev/null");
    host.put_link("/lib", "usr/lib");
    host.put_file("/usr/lib/x", "x");
    EXPECT_EQ(*host.list("/etc"), (std::vector<std::string>{"sysctl.conf", "sysctl.d"}));
    EXPECT_EQ(*host.list("/etc/sysctl.d"), (std::vector<std::string>{"99-sysctl.conf", "masked.conf"}));
    EXPECT_EQ(host.read_file_resolved("/etc/sysctl.d/99-sysctl.conf")->path, "/etc/sysctl.conf");
    EXPECT_EQ(host.read_file_resolved("/etc/sysctl.d/masked.conf")->path, "/dev/null");
    EXPECT_EQ(host.read_file_resolved("/lib/x")->path, "/usr/lib/x");
    EXPECT_EQ(*host.read_link("/etc/sysctl.d/masked.conf"), "/dev/null");
    EXPECT_EQ(host.stat("/lib")->type, "dir");
    EXPECT_EQ(host.stat("/lib")->path, "/usr/lib");
    EXPECT_EQ(host.stat("/usr/lib/x")->mode, 0644U);
    EXPECT_EQ(host.read_file("/none").error().code, ENOENT);
    EXPECT_EQ(host.list("/none").error().code, ENOENT);
    EXPECT_EQ(host.list("/usr/lib/x").error().code, ENOTDIR);
    EXPECT_EQ(host.read_file("/etc").error().code, EISDIR);
    EXPECT_EQ(host.read_link("/usr/lib/x").error().code, EINVAL);
    host.remove("/usr/lib/x");
    EXPECT_EQ(host.read_file("/lib/x").error().code, ENOENT);
}

TEST(MemoryHost, LoopsAreRefused) {
    MemoryHost host;
    host.put_link("/a", "b");
    host.put_link("/b", "a");
    EXPECT_EQ(host.read_file("/a").error().code, ELOOP);
}

TEST(MemoryHost, AnswersAndRefusalsPutByATestWin) {
    MemoryHost host;
    host.put_file("/etc/fstab", "");
    host.put_link("/etc/alias", "fstab");
    host.refuse({QueryKind::file, {"/etc/fstab"}}, EACCES);
    host.put({QueryKind::unit, {"fstrim.timer"}}, Answer{"ActiveState=active\n", "", {}});
    EXPECT_EQ(host.read_file("/etc/fstab").error().kind, ErrorKind::denied);
    EXPECT_EQ(host.read_file("/etc/alias").error().kind, ErrorKind::denied);
    EXPECT_EQ(host.unit("fstrim.timer")->at("ActiveState"), "active");
    EXPECT_EQ(host.unit("other.timer").error().kind, ErrorKind::not_captured);
}

TEST(Properties, LinesWithoutEqualsAreLeftOut) {
    const auto properties = parse_properties("a=1\nnonsense\nb=x=y\na=2\n");
    EXPECT_EQ(properties, (std::map<std::string, std::string>{{"a", "2"}, {"b", "x=y"}}));
    EXPECT_EQ(render_properties(properties), "a=2\nb=x=y\n");
}

TEST(Host, AMalformedStatAnswerIsAnError) {
    const auto host = snapshot("stat /a type=file mode=0999 uid=0 gid=0 size=1 nlink=1\nstat /b type=file\n");
    EXPECT_EQ(host->stat("/a").error().kind, ErrorKind::invalid);
    EXPECT_EQ(host->stat("/b").error().kind, ErrorKind::invalid);
}

}  // namespace
}  // namespace storpol
