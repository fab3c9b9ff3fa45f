// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/mman.h>

namespace storpol {

// No page of ours may have to come from a device while that is suspended, as it can be the one that holds them. What is
// allocated later (a key derivation takes up to a gigabyte) stays unlocked. Without the right to lock all goes on.
class LockedMemory {
  public:
    LockedMemory() : is_locked_(mlockall(MCL_CURRENT) == 0) {}

    LockedMemory(const LockedMemory&) = delete;
    LockedMemory& operator=(const LockedMemory&) = delete;

    ~LockedMemory() {
        if (is_locked_) munlockall();
    }

  private:
    bool is_locked_;
};

}  // namespace storpol
