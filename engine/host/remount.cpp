// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/remount.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>

#include "engine/base/text.h"
#include "engine/host/network_mounts.h"

namespace storpol {
namespace {

// One word of the mount's own flags: the bits it takes away and the bits it sets.
struct Flag {
    std::string_view word;
    std::uint64_t clear;
    std::uint64_t set;
};

// linux/mount.h; the atime modes are one field, of which relatime is the zero.
constexpr std::array flags{
    Flag{"ro", 0, MOUNT_ATTR_RDONLY},
    Flag{"rw", MOUNT_ATTR_RDONLY, 0},
    Flag{"nosuid", 0, MOUNT_ATTR_NOSUID},
    Flag{"suid", MOUNT_ATTR_NOSUID, 0},
    Flag{"nodev", 0, MOUNT_ATTR_NODEV},
    Flag{"dev", MOUNT_ATTR_NODEV, 0},
    Flag{"noexec", 0, MOUNT_ATTR_NOEXEC},
    Flag{"exec", MOUNT_ATTR_NOEXEC, 0},
    Flag{"nodiratime", 0, MOUNT_ATTR_NODIRATIME},
    Flag{"diratime", MOUNT_ATTR_NODIRATIME, 0},
    Flag{"nosymfollow", 0, MOUNT_ATTR_NOSYMFOLLOW},
    Flag{"symfollow", MOUNT_ATTR_NOSYMFOLLOW, 0},
    Flag{"relatime", MOUNT_ATTR__ATIME, MOUNT_ATTR_RELATIME},
    Flag{"noatime", MOUNT_ATTR__ATIME, MOUNT_ATTR_NOATIME},
    Flag{"strictatime", MOUNT_ATTR__ATIME, MOUNT_ATTR_STRICTATIME},
};

const Flag* find_flag(std::string_view word) {
    const auto found = std::ranges::find(flags, word, &Flag::word);
    return found == flags.end() ? nullptr : &*found;
}

struct MountLine {
    std::string id;
    std::vector<std::string> flags;
    std::vector<std::string> parameters;
    std::string flags_text;
    std::string parameters_text;
};

std::vector<std::string> options_of(std::string_view text) {
    const auto parts = split(text, ',');
    return {parts.begin(), parts.end()};
}

// 36 35 98:0 / /mnt/data rw,noatime shared:1 - ext4 /dev/sda1 rw,commit=300
Result<MountLine> find_mount(const std::string& target) {
    const auto mountinfo = read_own_mountinfo();
    std::optional<MountLine> found;  // a later mount on the same point covers the earlier one
    for (const auto line : split_lines(mountinfo)) {
        const auto separator = line.find(" - ");
        const auto before = split_words(line.substr(0, separator));
        if (separator == std::string_view::npos || before.size() < 6 || unmangle_mount_path(before[4]) != target)
            continue;
        const auto after = split_words(line.substr(separator + 3));
        const auto parameters = after.size() > 2 ? after[2] : std::string_view();
        found = MountLine{std::string(before[0]), options_of(before[5]), options_of(parameters), std::string(before[5]),
                          std::string(parameters)};
    }
    if (!found) return fail(ErrorKind::no_such_file, "nothing is mounted there", printable(target));
    return *found;
}

std::string render(const MountLine& mount) {
    return mount.id + " " + mount.flags_text + " " + mount.parameters_text;
}

bool holds(const std::vector<std::string>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

Result<void> check_mount(const MountLine& mount, const Remount& step) {
    if (mount.id == step.mount_id) return {};
    return fail(ErrorKind::changed, "another mount lies there than the plan was made for", printable(step.target),
                "plan again");
}

// The word that now holds in the field that `word` would change.
std::string old_flag(const MountLine& mount, const Flag& flag) {
    if (flag.clear == MOUNT_ATTR__ATIME)
        return holds(mount.flags, "noatime") ? "noatime" : holds(mount.flags, "relatime") ? "relatime" : "strictatime";
    const auto bit = flag.clear | flag.set;
    std::string unset;
    for (const auto& other : flags) {
        if ((other.clear | other.set) != bit) continue;
        // Only the words that set a bit are shown ("rw" stands for none).
        if (other.set != 0 && holds(mount.flags, other.word)) return std::string(other.word);
        if (other.set == 0) unset = other.word;
    }
    return unset;
}

// The parameter that gives back what is shown now; none when the old value is a default that nothing shows.
std::optional<std::string> old_parameter(const MountLine& mount, const std::string& parameter) {
    const auto key = parameter.substr(0, parameter.find('='));
    const auto has_key = [&](const std::string& shown) { return shown.substr(0, shown.find('=')) == key; };
    const auto shown = std::ranges::find_if(mount.parameters, has_key);
    if (shown != mount.parameters.end()) return *shown;
    if (parameter.size() != key.size()) return std::nullopt;
    const auto opposite = key.starts_with("no") ? key.substr(2) : "no" + key;
    const auto is_opposite = [&](const std::string& one) { return one.substr(0, one.find('=')) == opposite; };
    const auto other = std::ranges::find_if(mount.parameters, is_opposite);
    if (other != mount.parameters.end()) return *other;
    return key.starts_with("no") ? key : opposite;
}

// The kernel's own sentences about the last refusal ("e ext4: Unknown parameter 'bogus'").
std::string read_messages(int context) {
    std::string all;
    std::array<char, 1024> buffer{};
    for (int count = 0; count < 20; ++count) {
        const auto size = read(context, buffer.data(), buffer.size());
        if (size <= 2) break;
        all += (all.empty() ? "" : "; ") +
               printable(trim(std::string_view(buffer.data(), static_cast<std::size_t>(size)).substr(2)));
    }
    return all;
}

tl::unexpected<Error> fail_remount(int code,
                                   const std::string& doing,
                                   const std::string& says,
                                   const std::string& target) {
    auto error = fail_errno(code, doing, printable(target));
    if (!says.empty()) error.value().what += " (" + says + ")";
    if (code == EPERM) error.value().fix = "apply as root on the host itself, not in a container";
    if (code == ENOSYS) error.value().fix = "this kernel lacks the mount API (Linux 5.12); remount by hand";
    return error;
}

Result<void> set_parameters(int mount, const Remount& step) {
    if (step.parameters.empty()) return {};
    const Fd context(
        static_cast<int>(syscall(SYS_fspick, mount, "", FSPICK_EMPTY_PATH | FSPICK_NO_AUTOMOUNT | FSPICK_CLOEXEC)));
    if (!context) return fail_remount(errno, "cannot pick the filesystem", "", step.target);
    for (const auto& parameter : step.parameters) {
        const auto equals = parameter.find('=');
        const auto key = parameter.substr(0, equals);
        const bool has_value = equals != std::string::npos;
        const auto value = has_value ? parameter.substr(equals + 1) : std::string();
        const auto command = has_value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;
        if (syscall(SYS_fsconfig, context.get(), command, key.c_str(), has_value ? value.c_str() : nullptr, 0) != 0) {
            const int code = errno;
            return fail_remount(code, "the filesystem refused " + printable(parameter), read_messages(context.get()),
                                step.target);
        }
    }
    if (syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_RECONFIGURE, nullptr, nullptr, 0) == 0) return {};
    const int code = errno;
    return fail_remount(code, "the filesystem refused " + printable(join(step.parameters, ",")),
                        read_messages(context.get()), step.target);
}

Result<void> set_flags(int mount, const Remount& step) {
    mount_attr change{};
    for (const auto& word : step.flags) {
        const auto* flag = find_flag(word);
        if (flag == nullptr)
            return fail(ErrorKind::invalid, "no flag of a mount: " + printable(word), printable(step.target));
        change.attr_set = (change.attr_set & ~flag->clear) | flag->set;
        change.attr_clr |= flag->clear;
    }
    if (step.flags.empty() || syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH, &change, sizeof change) == 0)
        return {};
    return fail_remount(errno, "cannot set " + printable(join(step.flags, ",")), "", step.target);
}

// The descriptor must be of the mount that mountinfo showed, not of one that came over it since.
Result<Fd> open_mount(PathWalk& walk, const Remount& step) {
    auto opened = walk.open_exact(step.target, O_PATH);
    if (opened.code != 0) return fail_errno(opened.code, "cannot open the mount point", printable(step.target));

    struct statx found {};

    if (statx(opened.fd.get(), "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_MNT_ID, &found) != 0)
        return fail_errno(errno, "cannot look at the mount point", printable(step.target));
    if ((found.stx_mask & STATX_MNT_ID) != 0 && std::to_string(found.stx_mnt_id) != step.mount_id)
        return fail(ErrorKind::changed, "another mount lies there than the plan was made for", printable(step.target),
                    "plan again");
    return std::move(opened.fd);
}

}  // namespace

Result<std::string> mount_state(const std::string& target) {
    const auto mount = find_mount(target);
    if (!mount) return tl::make_unexpected(mount.error());
    return render(*mount);
}

Result<std::vector<Step>> undo_of_remount(const Remount& step) {
    const auto mount = find_mount(step.target);
    if (!mount) return tl::make_unexpected(mount.error());
    const auto same = check_mount(*mount, step);
    if (!same) return tl::make_unexpected(same.error());
    Remount undo{step.target, step.mount_id, {}, {}};
    for (const auto& word : step.flags) {
        const auto* flag = find_flag(word);
        if (flag == nullptr)
            return fail(ErrorKind::invalid, "no flag of a mount: " + printable(word), printable(step.target));
        undo.flags.push_back(old_flag(*mount, *flag));
    }
    for (const auto& parameter : step.parameters) {
        const auto old = old_parameter(*mount, parameter);
        if (!old)
            return fail(ErrorKind::unsupported, "the kernel does not show the old value of " + printable(parameter),
                        printable(step.target), "give the undo with the action");
        undo.parameters.push_back(*old);
    }
    return std::vector<Step>{undo};
}

Result<std::string> remount(PathWalk& walk, const Remount& step) {
    const auto mount = find_mount(step.target);
    if (!mount) return tl::make_unexpected(mount.error());
    const auto same = check_mount(*mount, step);
    if (!same) return tl::make_unexpected(same.error());
    const auto fd = open_mount(walk, step);
    if (!fd) return tl::make_unexpected(fd.error());
    // Parameters first: the filesystem takes all of them or none, and only then the flags follow.
    const auto set = set_parameters(fd->get(), step);
    if (!set) return tl::make_unexpected(set.error());
    const auto flagged = set_flags(fd->get(), step);
    if (!flagged) return tl::make_unexpected(flagged.error());
    return mount_state(step.target);
}

}  // namespace storpol
