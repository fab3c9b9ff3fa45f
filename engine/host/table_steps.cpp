// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cerrno>

#include "engine/base/text.h"
#include "engine/host/attribute_writer.h"
#include "engine/host/device_mapper.h"
#include "engine/host/live_steps.h"
#include "engine/host/locked_memory.h"

namespace storpol {
namespace {

// Targets whose table, as the kernel shows it, makes the same device once more. crypt and integrity hold keys; those of
// snapshots hand an exception store over, and multipath and vdo have a manager of their own.
constexpr std::array<std::string_view, 6> reloadable{"linear", "striped", "thin-pool", "thin", "raid", "cache"};

// What a new table resets (linux block/blk-settings.c disk_update_readahead).
constexpr std::array<std::string_view, 2> kept_attributes{"read_ahead_kb", "nr_requests"};

std::string queue_file(const DmDevice& device, std::string_view attribute) {
    return "/sys/dev/block/" + device.number + "/queue/" + std::string(attribute);
}

tl::unexpected<Error> fail_dm(int code, std::string_view doing, const std::string& mapping) {
    auto error = fail_errno(code, doing, printable(mapping));
    if (code == EACCES || code == EPERM) error.value().fix = "apply as root on the host itself, not in a container";
    return error;
}

Result<DmDevice> read_mapping(const ReloadTable& step, DmContent content) {
    DmDevice device;
    const int code = read_dm_device(step.mapping, content, device);
    if (code != 0) return fail_dm(code, "cannot ask device-mapper", step.mapping);
    if (device.uuid != step.dm_uuid)
        return fail(ErrorKind::changed,
                    "another device has that name than the plan was made for: " + printable(device.uuid),
                    printable(step.mapping), "plan again");
    return device;
}

Result<void> check_reloadable(const DmDevice& device) {
    if (device.is_suspended)
        return fail(ErrorKind::failed, "something else holds the device suspended", printable(device.name),
                    "let that finish, or run 'dmsetup resume' once it is known to be dead");
    if (device.has_inactive_table)
        return fail(ErrorKind::failed, "something else has loaded a table that waits to be swapped in",
                    printable(device.name), "let that finish, then apply again");
    if (!device.has_live_table || device.targets.empty())
        return fail(ErrorKind::failed, "the device has no table", printable(device.name));
    for (const auto& target : device.targets) {
        if (std::ranges::find(reloadable, target.type) == reloadable.end())
            return fail(ErrorKind::unsupported, "a table of target " + printable(target.type) + " is not reloaded raw",
                        printable(device.name), "close and open it again, or reboot");
    }
    return {};
}

struct KeptAttribute {
    std::string path;
    std::string value;
};

std::vector<KeptAttribute> read_kept(const DmDevice& device) {
    std::vector<KeptAttribute> kept;
    for (const auto attribute : kept_attributes) {
        auto path = queue_file(device, attribute);
        if (auto value = read_attribute(path)) kept.push_back({std::move(path), *value});
    }
    return kept;
}

Result<void> restore(const std::vector<KeptAttribute>& kept) {
    for (const auto& [path, value] : kept) {
        const auto now = read_attribute(path);
        if (now && *now == value) continue;
        const auto written = write_attribute({path, value});
        if (!written) return tl::make_unexpected(written.error());
    }
    return {};
}

// Loaded first and only then suspended, by the resume itself: a table that the kernel refuses never stops the device.
int swap_table(const DmDevice& device) {
    const LockedMemory locked;
    int code = load_dm_table(device.name, device.targets, device.is_read_only);
    if (code == 0) code = resume_dm_device(device.name);
    if (code == 0) return 0;
    clear_dm_table(device.name);
    resume_if_suspended(device.name);
    return code;
}

}  // namespace

Result<std::string> state_of(const ReloadTable& step) {
    const auto device = read_mapping(step, DmContent::info);
    if (!device) return tl::make_unexpected(device.error());
    return read_attribute(queue_file(*device, "discard_max_bytes"));
}

Result<std::vector<Step>> undo_of(const ReloadTable&) {
    return std::vector<Step>{};  // the same table: there is nothing to put back
}

Result<std::string> perform(const ReloadTable& step) {
    const auto device = read_mapping(step, DmContent::table);
    if (!device) return tl::make_unexpected(device.error());
    if (const auto fit = check_reloadable(*device); !fit) return tl::make_unexpected(fit.error());
    const auto kept = read_kept(*device);
    if (const int code = swap_table(*device); code != 0)
        return fail_dm(code, "the kernel refused the table it has, loaded once more; the old one is still in use",
                       step.mapping);
    if (const auto restored = restore(kept); !restored) return tl::make_unexpected(restored.error());
    return state_of(step);
}

void resume_if_suspended(const std::string& mapping) {
    DmDevice device;
    if (read_dm_device(mapping, DmContent::info, device) == 0 && device.is_suspended) resume_dm_device(mapping);
}

}  // namespace storpol
