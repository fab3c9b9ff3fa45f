// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fcntl.h>
#include <sys/file.h>

#include "engine/base/handle.h"

namespace storpol {

// Numbers of zram devices are the whole machine's, and tests run side by side: held by the one whose turn it is.
class ZramTurn {
  public:
    ZramTurn() : control_(open("/sys/class/zram-control", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        if (control_) flock(control_.get(), LOCK_EX);
    }

  private:
    Fd control_;
};

}  // namespace storpol
