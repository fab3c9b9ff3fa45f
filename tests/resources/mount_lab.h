// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fcntl.h>
#include <linux/loop.h>
#include <linux/mount.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/handle.h"
#include "engine/base/text.h"
#include "engine/text/mountinfo.h"

// Small filesystems on loop devices that the test makes and takes away, in a mount namespace of its own.
namespace storpol::lab {

inline std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// Exit status, or -1 where it could not be started.
inline int run(std::vector<std::string> argv) {
    std::vector<char*> args;
    for (std::string& arg : argv) args.push_back(arg.data());
    args.push_back(nullptr);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    char* environment[] = {path, nullptr};
    const int error = posix_spawnp(&child, args[0], &quiet, nullptr, args.data(), environment);
    posix_spawn_file_actions_destroy(&quiet);
    int status = 0;
    if (error != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

// A namespace where nothing this process mounts is seen by anybody else. False without the rights.
inline bool enter_private_namespace() {
    static const bool entered =
        geteuid() == 0 && unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    return entered;
}

// A loop device with a number of its own, so that what is done to its queue dies with it.
class LoopDevice {
  public:
    explicit LoopDevice(const std::string& image, bool with_discard) {
        const Fd control(open("/dev/loop-control", O_RDWR | O_CLOEXEC));
        if (!control) return;
        for (int number = 200; number < 260 && number_ < 0; ++number)
            number_ = ioctl(control.get(), LOOP_CTL_ADD, number);
        if (number_ < 0) return;
        device_ = Fd(open(path().c_str(), O_RDWR | O_CLOEXEC));
        const Fd backing(open(image.c_str(), O_RDWR | O_CLOEXEC));
        loop_config config{};
        config.fd = static_cast<__u32>(backing.get());
        if (!device_ || !backing || ioctl(device_.get(), LOOP_CONFIGURE, &config) != 0) return;
        ready_ = true;
        if (!with_discard) std::ofstream(queue("discard_max_bytes")) << "0";
    }

    LoopDevice(const LoopDevice&) = delete;
    LoopDevice& operator=(const LoopDevice&) = delete;

    ~LoopDevice() {
        if (number_ < 0) return;
        if (device_) ioctl(device_.get(), LOOP_CLR_FD, 0);
        device_.reset();
        const Fd control(open("/dev/loop-control", O_RDWR | O_CLOEXEC));
        for (int i = 0; i < 50 && ioctl(control.get(), LOOP_CTL_REMOVE, number_) != 0; ++i) usleep(20000);
    }

    bool ready() const { return ready_; }

    std::string name() const { return "loop" + std::to_string(number_); }

    std::string path() const { return "/dev/" + name(); }

    bool discards() const { return trim(read_text(queue("discard_max_bytes"))) != "0"; }

    bool rotational() const { return trim(read_text(queue("rotational"))) == "1"; }

  private:
    std::string queue(const std::string& attribute) const { return "/sys/block/" + name() + "/queue/" + attribute; }

    int number_ = -1;
    Fd device_;
    bool ready_ = false;
};

class TemporaryFolder {
  public:
    TemporaryFolder() {
        char name[] = "/tmp/storpol-mounts-XXXXXX";
        if (mkdtemp(name) != nullptr) path_ = name;
    }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// Words given to the kernel one by one, as fsconfig(2) takes them.
inline int configure(int context, const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        const std::string key = word.substr(0, equals);
        const bool flag = equals == std::string::npos;
        const std::string value = flag ? "" : word.substr(equals + 1);
        const long done = syscall(SYS_fsconfig, context, flag ? FSCONFIG_SET_FLAG : FSCONFIG_SET_STRING, key.c_str(),
                                  flag ? nullptr : value.c_str(), 0);
        if (done != 0) return errno;
    }
    return 0;
}

inline int mount_with(const std::string& fstype,
                      const std::string& device,
                      const std::string& target,
                      const std::vector<std::string>& words,
                      unsigned attributes) {
    const Fd context(static_cast<int>(syscall(SYS_fsopen, fstype.c_str(), FSOPEN_CLOEXEC)));
    if (!context) return errno;
    if (const int error = configure(context.get(), {"source=" + device})) return error;
    if (const int error = configure(context.get(), words)) return error;
    if (syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return errno;
    const Fd mount(static_cast<int>(syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, attributes)));
    if (!mount) return errno;
    return syscall(SYS_move_mount, mount.get(), "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH) == 0 ? 0 : errno;
}

inline int reconfigure(const std::string& target, const std::vector<std::string>& words) {
    const Fd context(
        static_cast<int>(syscall(SYS_fspick, AT_FDCWD, target.c_str(), FSPICK_CLOEXEC | FSPICK_NO_AUTOMOUNT)));
    if (!context) return errno;
    if (const int error = configure(context.get(), words)) return error;
    return syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_RECONFIGURE, nullptr, nullptr, 0) == 0 ? 0 : errno;
}

inline int change_attributes(const std::string& target, unsigned long long set, unsigned long long clear) {
    mount_attr attributes{};
    attributes.attr_set = set;
    attributes.attr_clr = clear;
    return syscall(SYS_mount_setattr, AT_FDCWD, target.c_str(), 0, &attributes, sizeof attributes) == 0 ? 0 : errno;
}

inline std::optional<MountInfo> mount_at(const std::string& target) {
    std::optional<MountInfo> found;
    const MountInfoTable table = parse_mountinfo(read_text("/proc/thread-self/mountinfo"));
    for (const MountInfo& mount : table.mounts) {
        if (mount.target == target) found = mount;
    }
    return found;
}

}  // namespace storpol::lab
