// SPDX-License-Identifier: GPL-3.0-or-later
// The one file that talks to libdevmapper.
#include "engine/host/device_mapper.h"

#include <libdevmapper.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "engine/base/handle.h"
#include "engine/host/late_library.h"

namespace storpol {
namespace {

const LateLibrary libdevmapper("libdevmapper.so.1.02.1");
STORPOL_LATE(libdevmapper, dm_get_next_target);
STORPOL_LATE(libdevmapper, dm_task_add_target);
STORPOL_LATE(libdevmapper, dm_task_create);
STORPOL_LATE(libdevmapper, dm_task_destroy);
STORPOL_LATE(libdevmapper, dm_task_get_errno);
STORPOL_LATE(libdevmapper, dm_task_get_info);
STORPOL_LATE(libdevmapper, dm_task_get_name);
STORPOL_LATE(libdevmapper, dm_task_get_uuid);
STORPOL_LATE(libdevmapper, dm_task_no_flush);
STORPOL_LATE(libdevmapper, dm_task_no_open_count);
STORPOL_LATE(libdevmapper, dm_task_run);
STORPOL_LATE(libdevmapper, dm_task_secure_data);
STORPOL_LATE(libdevmapper, dm_task_set_cookie);
STORPOL_LATE(libdevmapper, dm_task_set_name);
STORPOL_LATE(libdevmapper, dm_task_set_ro);
STORPOL_LATE(libdevmapper, dm_udev_complete);
STORPOL_LATE(libdevmapper, dm_udev_wait);
STORPOL_LATE(libdevmapper, dm_udev_wait_immediate);
// Spelt out: the header's type carries attributes, which g++ warns about in a template argument.
using SetLogFunction = void(void (*)(int, const char*, int, int, const char*, ...));
const Late<SetLogFunction> dm_log_with_errno_init{libdevmapper, "dm_log_with_errno_init"};

constexpr const char* control_node = "/dev/mapper/control";
constexpr const char* driver_entry = "/sys/class/misc/device-mapper";
constexpr std::size_t longest_name = 127;  // DM_NAME_LEN
constexpr auto udev_limit = std::chrono::seconds(30);

void destroy(dm_task* task) {
    dm_task_destroy(task);
}

using Task = Handle<dm_task, destroy>;

// The library prints its refusals; ours are answers.
extern "C" void storpol_ignore_dm_message(int, const char*, int, int, const char*, ...) {}

// Opening the node would load the kernel module where there is none, and the library would make a missing node.
int look_for_driver() {
    if (access(driver_entry, F_OK) != 0) return ENXIO;
    if (access(control_node, R_OK | W_OK) != 0) return errno == ENOENT ? ENXIO : errno;
    return libdevmapper.is_there() ? 0 : EOPNOTSUPP;
}

Task make_task(int kind, const std::string& name) {
    // Each time: libcryptsetup, in the same process, puts its own there and takes it away again.
    dm_log_with_errno_init(storpol_ignore_dm_message);
    Task task(dm_task_create(kind));
    if (!task || dm_task_set_name(task.get(), name.c_str()) == 0) return {};
    // The buffers of the library and of the kernel are wiped after use: a table may hold a key.
    dm_task_secure_data(task.get());
    dm_task_no_open_count(task.get());
    return task;
}

int run(const Task& task) {
    if (dm_task_run(task.get()) != 0) return 0;
    const int code = dm_task_get_errno(task.get());
    if (code == ENXIO) return ENOENT;  // the kernel's word for a name that no device has
    return code == 0 ? EIO : code;
}

int check_name(const std::string& name) {
    const bool is_one = !name.empty() && name.size() <= longest_name && name.find('/') == std::string::npos &&
                        name.find('\0') == std::string::npos && name != "." && name != "..";
    return is_one ? look_for_driver() : ENOENT;
}

// For tasks that change: created, named, run.
int run_plain(int kind, const std::string& name) {
    if (const int code = check_name(name); code != 0) return code;
    const auto task = make_task(kind, name);
    return task ? run(task) : ENOMEM;
}

void read_targets(const Task& task, DmContent content, DmDevice& device) {
    void* next = nullptr;
    do {
        std::uint64_t start = 0;
        std::uint64_t length = 0;
        char* type = nullptr;
        char* parameters = nullptr;
        next = dm_get_next_target(task.get(), next, &start, &length, &type, &parameters);
        if (type == nullptr) continue;
        const std::string_view text(parameters == nullptr ? "" : parameters);
        device.targets.push_back(
            {start, length, type, content == DmContent::table ? without_key(type, text) : std::string(text)});
    } while (next != nullptr);
}

// A daemon that died must not hold us: the device itself is running by now.
void wait_for_udev(std::uint32_t cookie) {
    if (cookie == 0) return;
    if (!dm_udev_wait_immediate.is_there()) {
        dm_udev_wait(cookie);
        return;
    }
    const auto deadline = std::chrono::steady_clock::now() + udev_limit;
    int ready = 0;
    while (dm_udev_wait_immediate(cookie, &ready) != 0 && ready == 0) {
        if (std::chrono::steady_clock::now() > deadline) {
            dm_udev_complete(cookie);
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace

int read_dm_device(const std::string& name, DmContent content, DmDevice& device) {
    if (const int code = check_name(name); code != 0) return code;
    const int kind = content == DmContent::info    ? DM_DEVICE_INFO
                     : content == DmContent::table ? DM_DEVICE_TABLE
                                                   : DM_DEVICE_STATUS;
    const auto task = make_task(kind, name);
    if (!task) return ENOMEM;
    // A thin pool commits its metadata before it tells its status otherwise (linux drivers/md/dm-thin.c pool_status).
    if (content == DmContent::status) dm_task_no_flush(task.get());
    if (const int code = run(task); code != 0) return code;
    dm_info about{};
    if (dm_task_get_info(task.get(), &about) == 0) return EIO;
    if (about.exists == 0) return ENOENT;
    const auto text_of = [](const char* text) { return std::string(text == nullptr ? "" : text); };
    device.name = text_of(dm_task_get_name(task.get()));
    device.uuid = text_of(dm_task_get_uuid(task.get()));
    device.number = std::to_string(about.major) + ":" + std::to_string(about.minor);
    device.is_suspended = about.suspended != 0;
    device.is_read_only = about.read_only != 0;
    device.has_live_table = about.live_table != 0;
    device.has_inactive_table = about.inactive_table != 0;
    device.targets.clear();
    if (content != DmContent::info && device.has_live_table) read_targets(task, content, device);
    return 0;
}

int load_dm_table(const std::string& name, const std::vector<DmTarget>& targets, bool is_read_only) {
    if (const int code = check_name(name); code != 0) return code;
    const auto task = make_task(DM_DEVICE_RELOAD, name);
    if (!task) return ENOMEM;
    for (const auto& target : targets)
        if (dm_task_add_target(task.get(), target.start, target.length, target.type.c_str(),
                               target.parameters.c_str()) == 0)
            return ENOMEM;
    if (is_read_only && dm_task_set_ro(task.get()) == 0) return ENOMEM;
    return run(task);
}

int clear_dm_table(const std::string& name) {
    return run_plain(DM_DEVICE_CLEAR, name);
}

int resume_dm_device(const std::string& name) {
    if (const int code = check_name(name); code != 0) return code;
    const auto task = make_task(DM_DEVICE_RESUME, name);
    if (!task) return ENOMEM;
    std::uint32_t cookie = 0;
    // Without a cookie the library would make device nodes itself, beside a running udev.
    if (dm_task_set_cookie(task.get(), &cookie, std::uint16_t{0}) == 0) return ENOMEM;
    const int code = run(task);
    wait_for_udev(cookie);
    return code;
}

Answer answer_dm(const Query& query) {
    const bool is_table = query.kind == QueryKind::dm_table;
    DmDevice device;
    const int code = read_dm_device(query.args.at(0), is_table ? DmContent::table : DmContent::status, device);
    if (code != 0) return refuse(query, code);
    return Answer{is_table ? describe_dm_table(device) : describe_dm_status(device), "", {}};
}

}  // namespace storpol
