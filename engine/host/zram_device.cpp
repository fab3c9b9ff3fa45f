// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/zram_device.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "engine/base/handle.h"
#include "engine/base/text.h"
#include "engine/host/program.h"
#include "engine/host/swap_calls.h"
#include "engine/host/zram_state.h"

namespace storpol {
namespace {

constexpr const char* hot_add = "/sys/class/zram-control/hot_add";
constexpr const char* hot_remove = "/sys/class/zram-control/hot_remove";

std::string name_of(int number) {
    return "zram" + std::to_string(number);
}

// Most of these files are write-only, and one write(2) is one value. 0 or the errno.
int put(const std::string& path, const std::string& value) {
    const Fd fd(open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) return errno;
    const auto size = write(fd.get(), value.data(), value.size());
    if (size < 0) return errno;
    return static_cast<std::size_t>(size) == value.size() ? 0 : EIO;
}

tl::unexpected<Error> fail_put(int code, const std::string& path, const std::string& value) {
    auto error = fail_errno(code, "the kernel refused \"" + printable(value) + "\"", path);
    if (code == EBUSY) error.value().fix = "something has the device open or mounted; apply again later";
    if (code == ENOMEM) error.value().fix = "the kernel has no memory to manage so large a device";
    if (code == EINVAL && path.ends_with("/comp_algorithm"))
        error.value().fix = "comp_algorithm lists what this kernel has";
    return error;
}

Result<void> write_value(int number, std::string_view attribute, const std::string& value) {
    const auto path = zram_attribute(name_of(number), attribute);
    const int code = patiently([&] { return put(path, value); });
    if (code != 0) return fail_put(code, path, value);
    return {};
}

Result<void> load_module() {
    if (access("/sys/class/zram-control", F_OK) == 0) return {};
    for (const char* program : {"/usr/sbin/modprobe", "/sbin/modprobe"}) {
        const auto outcome = run_program({{program, "zram"}, std::chrono::seconds(30), 64 << 10});
        if (!outcome) continue;
        if (outcome->exit_code != 0)
            return fail(ErrorKind::unsupported, "the module zram cannot be loaded (" + last_lines(*outcome) + ")",
                        hot_add);
        break;
    }
    if (access("/sys/class/zram-control", F_OK) == 0) return {};
    return fail(ErrorKind::unsupported, "this kernel has no zram", hot_add);
}

Result<void> make_swap(const std::string& device) {
    for (const char* program : {"/usr/sbin/mkswap", "/sbin/mkswap"}) {
        const auto outcome = run_program({{program, device}, std::chrono::seconds(30), 64 << 10});
        if (!outcome && outcome.error().code == ENOENT) continue;
        if (!outcome) return tl::make_unexpected(outcome.error());
        if (outcome->exit_code == 0) return {};
        return fail(ErrorKind::failed, "mkswap failed (" + last_lines(*outcome) + ")", device);
    }
    return fail(ErrorKind::unsupported, "there is no mkswap", device, "install util-linux");
}

bool is_word(std::string_view text, std::string_view more) {
    return std::ranges::all_of(text, [more](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               more.find(c) != std::string_view::npos;
    });
}

}  // namespace

Result<void> add_zram(int number) {
    if (const auto loaded = load_module(); !loaded) return loaded;
    const auto device = "/dev/" + name_of(number);
    if (access(zram_attribute(name_of(number), "disksize").c_str(), F_OK) == 0) return {};
    std::array<char, 32> buffer{};
    const Fd fd(open(hot_add, O_RDONLY | O_CLOEXEC));
    const auto size = fd ? read(fd.get(), buffer.data(), buffer.size()) : -1;
    if (size < 0) return fail_errno(errno, "no zram device could be added", hot_add);
    const std::string made(trim(std::string_view(buffer.data(), static_cast<std::size_t>(size))));
    if (made == std::to_string(number)) return {};
    static_cast<void>(put(hot_remove, made));
    return fail(ErrorKind::failed, "the kernel gave zram" + printable(made) + ", the lowest number that is free",
                device, "name the devices in order: zram" + printable(made) + " first");
}

Result<void> reset_zram(int number) {
    return write_value(number, "reset", "1");
}

Result<void> set_up_zram(int number, const SetUpZram& wanted) {
    Result<void> done;
    if (!wanted.algorithm.empty()) done = write_value(number, "comp_algorithm", wanted.algorithm);
    // All in one write: each takes the place of the whole set.
    if (done && !wanted.parameters.empty())
        done = write_value(number, "algorithm_params", "algo=" + wanted.algorithm + " " + wanted.parameters);
    if (done && wanted.resident_limit != 0)
        done = write_value(number, "mem_limit", std::to_string(wanted.resident_limit));
    if (done) done = write_value(number, "disksize", std::to_string(wanted.size));
    if (!done || !wanted.is_swap) return done;
    const auto device = "/dev/" + name_of(number);
    if (done = make_swap(device); !done) return done;
    if (const int code = swap_on(device, wanted.priority, wanted.discard); code != 0) return fail_swap_on(code, device);
    return {};
}

Result<void> check_zram(const SetUpZram& wanted) {
    const auto number = zram_number(wanted.device);
    const auto invalid = [&](const std::string& what) {
        return fail(ErrorKind::invalid, what, printable(wanted.device));
    };
    if (!number || !wanted.device.starts_with("/dev/")) return invalid("it is no zram device");
    if (!is_word(wanted.algorithm, {})) return invalid("no algorithm: " + printable(wanted.algorithm));
    if (!is_word(wanted.parameters, "=. ")) return invalid("no parameters: " + printable(wanted.parameters));
    if (wanted.algorithm.empty() && !wanted.parameters.empty())
        return invalid("parameters need the name of their algorithm");
    if (const auto fit = check_swap_flags(wanted.device, wanted.priority, wanted.discard); !fit) return fit;
    const auto params = zram_attribute(name_of(*number), "algorithm_params");
    const bool is_there = access(zram_attribute(name_of(*number), "disksize").c_str(), F_OK) == 0;
    if (!wanted.parameters.empty() && is_there && access(params.c_str(), F_OK) != 0)
        return fail(ErrorKind::unsupported, "this kernel takes no parameters of algorithms (Linux 6.12 does)", params);
    return {};
}

}  // namespace storpol
