// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "engine/base/handle.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/host/generators.h"
#include "engine/host/live_steps.h"
#include "engine/host/lvm.h"
#include "engine/host/program.h"
#include "engine/host/tree_host.h"

namespace storpol {
namespace {

// A generator has no state of its own: run once more it makes the same.
constexpr const char* generated = "generated";

constexpr auto generator_limit = std::chrono::minutes(15);  // an initramfs is minutes on a slow machine
constexpr auto change_limit = std::chrono::seconds(60);

bool is_volume_name(std::string_view text) {
    const auto is_one = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '_' ||
               c == '.' || c == '-';  // man 8 lvm, "Valid names"
    };
    return !text.empty() && text.front() != '-' && std::ranges::all_of(text, is_one);
}

Result<void> check_pool(const ChangeThinPool& step) {
    const auto parts = split(step.pool, '/');
    if (parts.size() != 2 || !is_volume_name(parts[0]) || !is_volume_name(parts[1]))
        return fail(ErrorKind::invalid, "no name of a thin pool (VG/POOL)", printable(step.pool));
    if (step.discards == "passdown" || step.discards == "nopassdown" || step.discards == "ignore") return {};
    return fail(ErrorKind::invalid, "no way of a thin pool to treat discards: " + printable(step.discards),
                printable(step.pool));
}

struct PoolState {
    std::string discards;
    bool is_active = false;
};

Result<PoolState> read_pool(const ChangeThinPool& step) {
    if (const auto fit = check_pool(step); !fit) return tl::make_unexpected(fit.error());
    const auto lines = read_lvs();
    if (!lines) return tl::make_unexpected(lines.error());
    auto pool = volume_of(*lines, step.pool);
    if (pool.empty()) return fail(ErrorKind::no_such_file, "LVM knows no such volume", printable(step.pool));
    if (pool["type"] != "thin-pool")
        return fail(ErrorKind::changed, "it is no thin pool but " + pool["type"], printable(step.pool), "plan again");
    return PoolState{pool["discards"], !pool["active"].empty()};
}

struct ImageSpace {
    std::uint64_t free = 0;
    std::uint64_t largest = 0;
};

// The directory that images are made in, and the largest of them.
std::optional<ImageSpace> read_space(const std::string& directory) {
    struct statvfs filesystem {};

    if (statvfs(directory.c_str(), &filesystem) != 0) return std::nullopt;
    ImageSpace space{filesystem.f_bavail * filesystem.f_frsize, 0};
    TreeHost tree{PathWalk(), false};
    const auto names = tree.answer({QueryKind::list, {directory}});
    for (const auto name : split_lines(names.text)) {
        struct stat found {};

        const bool is_image = name.starts_with("initrd") || name.starts_with("initramfs");
        const auto path = directory + "/" + std::string(name);
        if (is_image && stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode))
            space.largest = std::max(space.largest, static_cast<std::uint64_t>(found.st_size));
    }
    return space;
}

// A full /boot leaves an image cut short, and a machine that does not start.
Result<void> check_space(const RunGenerator& step) {
    const auto slash = step.target.rfind('/');
    const bool is_path = step.target.starts_with("/boot/") || step.target.starts_with("/efi/");
    const auto directory = is_path ? step.target.substr(0, slash) : std::string("/boot");
    const auto space = read_space(directory);
    if (!space || space->free >= 2 * space->largest) return {};
    return fail(ErrorKind::failed,
                "there are " + std::to_string(space->free >> 20U) + " MiB free and a new image may need " +
                    std::to_string(2 * space->largest >> 20U),
                printable(directory), "remove old kernels, then apply again");
}

tl::unexpected<Error> fail_program(const std::string& doing, const ProgramOutcome& outcome, const std::string& where) {
    const auto lines = last_lines(outcome);
    return fail(ErrorKind::failed,
                doing + " ended with exit code " + std::to_string(outcome.exit_code) +
                    (lines.empty() ? "" : " (" + lines + ")"),
                printable(where));
}

}  // namespace

Result<std::string> state_of(const ChangeThinPool& step) {
    const auto pool = read_pool(step);
    if (!pool) return tl::make_unexpected(pool.error());
    return pool->discards;
}

Result<std::vector<Step>> undo_of(const ChangeThinPool& step) {
    const auto pool = read_pool(step);
    if (!pool) return tl::make_unexpected(pool.error());
    return std::vector<Step>{ChangeThinPool{step.pool, pool->discards}};
}

Result<std::string> perform(const ChangeThinPool& step) {
    const auto pool = read_pool(step);
    if (!pool) return tl::make_unexpected(pool.error());
    if (pool->discards == step.discards) return pool->discards;
    // "Cannot change support for discards while pool volume is active" (lvm2 tools/lvchange.c).
    if (pool->is_active && (step.discards == "ignore" || pool->discards == "ignore"))
        return fail(ErrorKind::failed, "LVM changes to or from \"ignore\" only while the pool is not active",
                    printable(step.pool),
                    "unmount its volumes, run 'lvchange -an' on them and on the pool, then apply again");
    const auto outcome = run_program({{"/usr/sbin/lvchange", "--discards", step.discards, step.pool}, change_limit});
    if (!outcome) return tl::make_unexpected(outcome.error());
    if (outcome->exit_code != 0) return fail_program("lvchange", *outcome, step.pool);
    const auto now = state_of(step);
    if (now && *now != step.discards)
        return fail(ErrorKind::failed, "lvchange answered success, and the pool is still " + printable(*now),
                    printable(step.pool));
    return now;
}

Result<std::string> state_of(const RunGenerator& step) {
    if (const auto artefact = check_generator(step); !artefact) return tl::make_unexpected(artefact.error());
    return std::string(generated);
}

Result<std::vector<Step>> undo_of(const RunGenerator& step) {
    return std::vector<Step>{step};  // once more, when the files it reads are put back
}

Result<std::string> perform(const RunGenerator& step) {
    const auto artefact = check_generator(step);
    if (!artefact) return tl::make_unexpected(artefact.error());
    if (*artefact == Artefact::initramfs)
        if (const auto room = check_space(step); !room) return tl::make_unexpected(room.error());
    Program program{{step.program}, generator_limit, 64 << 10};
    program.arguments.insert(program.arguments.end(), step.options.begin(), step.options.end());
    const auto outcome = run_program(program);
    if (!outcome) return tl::make_unexpected(outcome.error());
    if (outcome->exit_code != 0) return fail_program(step.program, *outcome, step.target);
    return std::string(generated);
}

}  // namespace storpol
