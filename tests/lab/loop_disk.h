// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

#include "tests/lab/lab.h"

namespace storpol::lab {

// A filesystem on a loop device over a sparse file, mounted in the test's namespace; all of it goes with this object.
class LoopDisk {
  public:
    LoopDisk(const std::string& fstype, const std::string& target, const std::string& options = "defaults")
        : target_(target) {
        image_ = "/tmp/storpol-lab-" + std::to_string(getpid()) + "-" + fstype + ".img";
        const std::string size = fstype == "xfs" ? "320M" : "128M";
        ok_ = run({"/usr/bin/truncate", "-s", size, image_}).code == 0 && make_filesystem(fstype);
        if (!ok_) return;
        const Ran setup = run({"/usr/sbin/losetup", "-f", "--show", image_});
        device_ = setup.out.substr(0, setup.out.find('\n'));
        std::filesystem::create_directories(target);
        ok_ = setup.code == 0;
        if (ok_ && !fstype.empty() && fstype != "none") ok_ = mount(options).code == 0;
    }

    ~LoopDisk() {
        unmount();
        if (!device_.empty()) run({"/usr/sbin/losetup", "-d", device_});
        std::error_code ignored;
        std::filesystem::remove(image_, ignored);
        std::filesystem::remove(target_, ignored);
    }

    LoopDisk(const LoopDisk&) = delete;
    LoopDisk& operator=(const LoopDisk&) = delete;

    bool ok() const { return ok_; }

    const std::string& device() const { return device_; }

    std::string name() const { return device_.substr(5); }

    Ran mount(const std::string& options) const { return run({"/usr/bin/mount", "-o", options, device_, target_}); }

    Ran unmount() const { return run({"/usr/bin/umount", target_}); }

    // Its line of mountinfo.
    std::string shown() const {
        const std::string text = read_text("/proc/self/mountinfo");
        const auto at = text.find(" " + target_ + " ");
        if (at == std::string::npos) return "";
        const auto begin = text.rfind('\n', at);
        return text.substr(begin + 1, text.find('\n', at) - begin - 1);
    }

  private:
    bool make_filesystem(const std::string& fstype) const {
        if (fstype == "none") return true;
        const std::string force = fstype == "ext4" ? "-F" : "-f";
        return run({"/usr/sbin/mkfs." + fstype, force, image_}).code == 0;
    }

    std::string target_;
    std::string image_;
    std::string device_;
    bool ok_ = false;
};

}  // namespace storpol::lab
