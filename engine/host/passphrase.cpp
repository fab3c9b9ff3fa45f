// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/passphrase.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "engine/base/handle.h"
#include "engine/host/io.h"

namespace storpol {
namespace {

constexpr std::array ending_signals{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};

volatile std::sig_atomic_t caught = 0;

extern "C" void storpol_note_signal(int number) {
    caught = number;
}

// While it lives those signals only end the read; at its end the one that came has its usual effect.
class HeldSignals {
  public:
    HeldSignals() {
        caught = 0;

        struct sigaction note {};

        note.sa_handler = storpol_note_signal;  // without SA_RESTART: the read must end
        for (std::size_t i = 0; i < ending_signals.size(); ++i) sigaction(ending_signals[i], &note, &old_[i]);
    }

    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    ~HeldSignals() {
        for (std::size_t i = 0; i < ending_signals.size(); ++i) sigaction(ending_signals[i], &old_[i], nullptr);
        if (caught != 0) raise(caught);
    }

  private:
    std::array<struct sigaction, ending_signals.size()> old_{};
};

class SilentTerminal {
  public:
    explicit SilentTerminal(int fd) : fd_(fd) {
        is_terminal_ = tcgetattr(fd, &old_) == 0;
        if (!is_terminal_) return;
        auto silent = old_;
        silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        silent.c_lflag |= ICANON | ECHONL | ISIG;
        is_terminal_ = tcsetattr(fd, TCSAFLUSH, &silent) == 0;
    }

    SilentTerminal(const SilentTerminal&) = delete;
    SilentTerminal& operator=(const SilentTerminal&) = delete;

    ~SilentTerminal() {
        if (is_terminal_) tcsetattr(fd_, TCSAFLUSH, &old_);
    }

    bool is_terminal() const { return is_terminal_; }

  private:
    int fd_;
    termios old_{};
    bool is_terminal_ = false;
};

Result<void> read_line(int fd, Passphrase& into) {
    for (;;) {
        char byte = 0;
        const auto got = read(fd, &byte, 1);
        if (got < 0 && errno == EINTR && caught == 0) continue;
        if (got < 0 && errno == EINTR) return fail(ErrorKind::failed, "interrupted while asking for the passphrase");
        if (got < 0) return fail_errno(errno, "cannot read the passphrase", "");
        if (got == 0 || byte == '\n') return {};
        const bool fits = into.append(byte);
        explicit_bzero(&byte, 1);
        if (!fits) return fail(ErrorKind::invalid, "the passphrase is longer than 512 bytes");
    }
}

}  // namespace

Passphrase::Passphrase() {
    mlock(bytes_.data(), bytes_.size());
    madvise(bytes_.data(), bytes_.size(), MADV_DONTDUMP);  // of whole pages only; where it cannot, the wiping is all
}

Passphrase::~Passphrase() {
    explicit_bzero(bytes_.data(), bytes_.size());
    munlock(bytes_.data(), bytes_.size());
}

bool Passphrase::append(char byte) {
    if (size_ == bytes_.size()) return false;
    bytes_.at(size_++) = byte;
    return true;
}

Result<std::unique_ptr<Passphrase>> ask_passphrase(const std::string& prompt, const char* terminal) {
    const Fd fd(open(terminal, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!fd)
        return fail(ErrorKind::unsupported, "there is no terminal to ask for the passphrase at", terminal,
                    "run apply at a terminal, or name a key file in crypttab");
    auto passphrase = std::make_unique<Passphrase>();
    const HeldSignals signals;
    const SilentTerminal silent(fd.get());
    if (!silent.is_terminal()) return fail(ErrorKind::unsupported, "cannot switch off its echo", terminal);
    if (const int code = write_whole(fd.get(), prompt); code != 0) return fail_errno(code, "cannot write", terminal);
    if (const auto read = read_line(fd.get(), *passphrase); !read) return tl::make_unexpected(read.error());
    return passphrase;
}

}  // namespace storpol
