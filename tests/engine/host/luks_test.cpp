// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "engine/host/host.h"
#include "engine/host/live_steps.h"
#include "engine/host/luks_header.h"
#include "engine/host/program.h"
#include "tests/engine/host/temp_tree.h"

// Headers as cryptsetup(8) makes them, in plain files: no device-mapper is needed for any of this.
namespace storpol {
namespace {

constexpr const char* cryptsetup = "/usr/sbin/cryptsetup";
constexpr const char* control_node = "/dev/mapper/control";

int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), cryptsetup);
    const auto outcome = run_program({arguments, std::chrono::seconds(60)});
    return outcome ? outcome->exit_code : -1;
}

class Luks : public testing::Test {
  protected:
    void SetUp() override {
        if (access(cryptsetup, X_OK) != 0) GTEST_SKIP() << "cryptsetup(8) is not installed";
        tree_.write("/key", "secret");
    }

    // The library makes /dev/mapper/control where there is none, also on a machine without device-mapper.
    void TearDown() override {
        if (had_no_control_ && access("/sys/class/misc/device-mapper", F_OK) != 0) unlink(control_node);
    }

    std::string make(const std::string& type) {
        tree_.write("/" + type, "");
        const auto path = tree_.at("/" + type);
        std::filesystem::resize_file(path, 32 << 20);
        EXPECT_EQ(run({"luksFormat", "--type", type, "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "-q",
                       "--uuid", uuid_, path, tree_.at("/key")}),
                  0);
        return path;
    }

    static Answer ask(const std::string& path) {
        PathWalk walk;
        return answer_luks(walk, {QueryKind::luks, {path}});
    }

    static void overwrite(const std::string& path, off_t at, const std::string& bytes) {
        const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
        EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), at), static_cast<ssize_t>(bytes.size()));
        close(fd);
    }

    std::string uuid_ = "6c2a41f4-4b39-4c5a-9d1c-0a2f6b6a1c11";
    TempTree tree_;
    bool had_no_control_ = access(control_node, F_OK) != 0;
};

TEST_F(Luks, AnswersWhatAHeaderSays) {
    EXPECT_EQ(ask(make("luks1")).text, "version=1\nuuid=" + uuid_ + "\nflags=\n");
    const auto two = make("luks2");
    EXPECT_EQ(ask(two).text, "version=2\nuuid=" + uuid_ + "\nflags=\n");
    tree_.write("/token.json", R"({"type":"clevis","keyslots":["0"]})");
    ASSERT_EQ(run({"token", "import", "--json-file", tree_.at("/token.json"), two}), 0);
    EXPECT_EQ(ask(two).text, "version=2\nuuid=" + uuid_ + "\nflags=\ntokens=clevis\n");
}

TEST_F(Luks, EitherCopyOfTheHeaderIsEnough) {
    const auto path = make("luks2");
    const auto whole = ask(path).text;
    overwrite(path, 0, std::string(4096, '\0'));
    EXPECT_EQ(ask(path).text, whole);
    overwrite(path, 0x4000 + 5000, "damage");
    EXPECT_EQ(ask(path).refusal->code, EINVAL);
}

TEST_F(Luks, ReadingChangesNothing) {
    const auto path = make("luks2");
    overwrite(path, 0x4000, std::string(4096, '\0'));
    const auto before = tree_.read("/luks2");
    EXPECT_FALSE(ask(path).refusal.has_value());
    EXPECT_TRUE(tree_.read("/luks2") == before) << "a damaged copy was repaired";
}

TEST_F(Luks, WhatHasNoHeaderIsRefused) {
    const auto path = make("luks2");
    std::filesystem::resize_file(path, 0x4000);
    EXPECT_FALSE(ask(path).refusal.has_value()) << "the first copy is whole";
    std::filesystem::resize_file(path, 5000);
    EXPECT_EQ(ask(path).refusal->code, EINVAL);
    tree_.write("/text", "no header");
    tree_.write("/empty", "");
    EXPECT_EQ(ask(tree_.at("/text")).refusal->code, EINVAL);
    EXPECT_EQ(ask(tree_.at("/empty")).refusal->code, EINVAL);
    EXPECT_EQ(ask(tree_.path()).refusal->code, EINVAL);
    EXPECT_EQ(ask(tree_.at("/nothing")).refusal->code, ENOENT);
    ASSERT_EQ(mkfifo(tree_.at("/fifo").c_str(), 0600), 0);
    EXPECT_EQ(ask(tree_.at("/fifo")).refusal->code, EINVAL);
    EXPECT_EQ(ask("/dev/null").refusal->code, EINVAL);
}

TEST_F(Luks, FlagsAreSetAndTakenOutByTheirNames) {
    const auto path = make("luks2");
    const SetLuksFlags step{"data", path, uuid_, {"no-read-workqueue", "allow-discards"}, {}};
    EXPECT_EQ(*state_of(step), "");
    const auto undo = undo_of(step);
    ASSERT_TRUE(undo.has_value());
    const auto done = perform(step);
    ASSERT_TRUE(done.has_value()) << to_text(done.error());
    EXPECT_EQ(*done, "allow-discards,no-read-workqueue");
    EXPECT_EQ(ask(path).text, "version=2\nuuid=" + uuid_ + "\nflags=allow-discards,no-read-workqueue\n");
    // One more: the others stay, and its undo takes out only what it added.
    const SetLuksFlags more{"data", path, uuid_, {"allow-discards", "same-cpu-crypt"}, {"no-journal"}};
    const auto less = undo_of(more);
    ASSERT_TRUE(less.has_value());
    EXPECT_EQ(*perform(more), "allow-discards,no-read-workqueue,same-cpu-crypt");
    EXPECT_EQ(std::get<SetLuksFlags>(less->at(0)), (SetLuksFlags{"data", path, uuid_, {}, {"same-cpu-crypt"}}));
    EXPECT_EQ(*perform(std::get<SetLuksFlags>(less->at(0))), "allow-discards,no-read-workqueue");
    EXPECT_EQ(*perform(std::get<SetLuksFlags>(undo->at(0))), "");
}

TEST_F(Luks, FlagsAreRefusedWhereTheyCannotBe) {
    const auto one = make("luks1");
    EXPECT_EQ(perform(SetLuksFlags{"data", one, uuid_, {"allow-discards"}, {}}).error().kind, ErrorKind::unsupported);
    const auto two = make("luks2");
    EXPECT_EQ(perform(SetLuksFlags{"data", two, "other", {"allow-discards"}, {}}).error().kind, ErrorKind::changed);
    EXPECT_EQ(perform(SetLuksFlags{"data", two, uuid_, {"discard"}, {}}).error().kind, ErrorKind::invalid);
    EXPECT_EQ(perform(SetLuksFlags{"data", tree_.at("/no"), uuid_, {"allow-discards"}, {}}).error().kind,
              ErrorKind::no_such_file);
}

TEST_F(Luks, AMappingThatIsNotOpenIsNotRefreshed) {
    const RefreshMapping step{
        "storpol-no-such-mapping", "CRYPT-LUKS2-x", {"allow-discards"}, {}, KeyFile{"/key", 0, 0}};
    EXPECT_FALSE(perform(step).has_value());
    EXPECT_FALSE(state_of(step).has_value());
    resume_if_suspended(step.mapping);
    EXPECT_FALSE(perform(ReloadTable{"storpol-no-such-mapping", "LVM-x"}).has_value());
}

TEST(LuksHeader, AnyBytesAreSurvived) {
    EXPECT_TRUE(rc::check("any bytes behind the magic", [](const std::string& bytes) {
        for (const char version : {'\1', '\2'}) {
            const auto text = std::string("LUKS\xba\xbe\0", 7) + version + bytes;
            const auto read_at = [&](std::uint64_t at, std::size_t size, std::string& into) {
                into = at < text.size() ? text.substr(at, size) : std::string();
                return 0;
            };
            RC_ASSERT(parse_luks_header(read_at).has_value() == (version == 1 && text.size() >= 592));
        }
    }));
    const auto broken = [](std::uint64_t, std::size_t, std::string&) { return EIO; };
    EXPECT_EQ(parse_luks_header(broken).error().code, EIO);
}

}  // namespace
}  // namespace storpol
