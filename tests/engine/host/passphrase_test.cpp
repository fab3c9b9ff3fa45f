// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/passphrase.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace storpol {
namespace {

class Terminal : public testing::Test {
  protected:
    void SetUp() override {
        std::array<char, 256> name{};
        if (openpty(&master_, &slave_, name.data(), nullptr, nullptr) != 0) GTEST_SKIP() << "no pseudo-terminal here";
        name_ = name.data();
    }

    void TearDown() override {
        close(master_);
        close(slave_);
    }

    bool echoes() const {
        termios now{};
        tcgetattr(slave_, &now);
        return (now.c_lflag & ECHO) != 0;
    }

    void wait_until_silent() const {
        for (int tries = 0; echoes() && tries < 500; ++tries) usleep(10000);
    }

    int master_ = -1;
    int slave_ = -1;
    std::string name_;
};

TEST_F(Terminal, TakesALineWithoutEcho) {
    std::thread typist([this] {
        wait_until_silent();
        EXPECT_EQ(write(master_, "open sesame\n", 12), 12);
    });
    const auto passphrase = ask_passphrase("Passphrase: ", name_.c_str());
    typist.join();
    ASSERT_TRUE(passphrase.has_value()) << to_text(passphrase.error());
    EXPECT_EQ((*passphrase)->bytes(), "open sesame");
    EXPECT_TRUE(echoes());
    std::array<char, 256> shown{};
    const auto size = read(master_, shown.data(), shown.size());
    EXPECT_EQ(std::string(shown.data(), static_cast<std::size_t>(size)).find("sesame"), std::string::npos);
}

TEST_F(Terminal, IsAsItWasAfterASignal) {
    const auto main_thread = pthread_self();
    std::thread typist([&] {
        wait_until_silent();
        usleep(50000);
        pthread_kill(main_thread, SIGTERM);
    });
    std::signal(SIGTERM, [](int) {});
    const auto passphrase = ask_passphrase("Passphrase: ", name_.c_str());
    typist.join();
    std::signal(SIGTERM, SIG_DFL);
    EXPECT_FALSE(passphrase.has_value());
    EXPECT_TRUE(echoes());
}

TEST(Passphrase, NeedsATerminal) {
    EXPECT_EQ(ask_passphrase("x", "/nonexistent").error().kind, ErrorKind::unsupported);
    EXPECT_EQ(ask_passphrase("x", "/dev/null").error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace storpol
