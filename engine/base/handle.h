// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <unistd.h>

#include <memory>
#include <utility>

// Owners of what C hands out: Handle for library objects, Fd for file descriptors. Both release on every path.
namespace storpol {

template <auto release>
struct Release {
    template <class T>
    void operator()(T* object) const noexcept {
        release(object);
    }
};

template <class T, auto release>
using Handle = std::unique_ptr<T, Release<release>>;

class Fd {
  public:
    Fd() = default;

    explicit Fd(int fd) : fd_(fd) {}

    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) reset(std::exchange(other.fd_, -1));
        return *this;
    }

    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;

    ~Fd() { reset(); }

    int get() const { return fd_; }

    explicit operator bool() const { return fd_ >= 0; }

    void reset(int fd = -1) {
        if (fd_ >= 0) ::close(fd_);
        fd_ = fd;
    }

    int release() { return std::exchange(fd_, -1); }

  private:
    int fd_ = -1;
};

}  // namespace storpol
