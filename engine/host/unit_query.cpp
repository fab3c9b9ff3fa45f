// SPDX-License-Identifier: GPL-3.0-or-later
// The one file that talks to the service manager (man 5 org.freedesktop.systemd1).
#include "engine/host/unit_query.h"

#include <systemd/sd-bus.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <map>
#include <thread>

#include "engine/base/handle.h"
#include "engine/host/host.h"
#include "engine/host/late_library.h"

namespace storpol {
namespace {

const LateLibrary libsystemd("libsystemd.so.0");
STORPOL_LATE(libsystemd, sd_bus_call);
STORPOL_LATE(libsystemd, sd_bus_close_unref);
STORPOL_LATE(libsystemd, sd_bus_error_free);
STORPOL_LATE(libsystemd, sd_bus_error_has_name);
STORPOL_LATE(libsystemd, sd_bus_is_ready);
STORPOL_LATE(libsystemd, sd_bus_message_append);
STORPOL_LATE(libsystemd, sd_bus_message_enter_container);
STORPOL_LATE(libsystemd, sd_bus_message_exit_container);
STORPOL_LATE(libsystemd, sd_bus_message_new_method_call);
STORPOL_LATE(libsystemd, sd_bus_message_peek_type);
STORPOL_LATE(libsystemd, sd_bus_message_read_basic);
STORPOL_LATE(libsystemd, sd_bus_message_skip);
STORPOL_LATE(libsystemd, sd_bus_message_unref);
STORPOL_LATE(libsystemd, sd_bus_new);
STORPOL_LATE(libsystemd, sd_bus_path_encode);
STORPOL_LATE(libsystemd, sd_bus_process);
STORPOL_LATE(libsystemd, sd_bus_set_address);
STORPOL_LATE(libsystemd, sd_bus_set_bus_client);
STORPOL_LATE(libsystemd, sd_bus_start);
STORPOL_LATE(libsystemd, sd_bus_wait);

using Clock = std::chrono::steady_clock;

void unref(sd_bus_message* message) {
    sd_bus_message_unref(message);
}

using Message = Handle<sd_bus_message, unref>;

constexpr const char* manager = "org.freedesktop.systemd1";
constexpr std::string_view commands_shape = "a(sasbttttuii)";
constexpr std::string_view conditions_shape = "a(sbbsi)";

// What storpol asks of a unit, of some two hundred properties that a service has.
constexpr std::array<std::string_view, 42> wanted{"Id",
                                                  "LoadState",
                                                  "ActiveState",
                                                  "SubState",
                                                  "UnitFileState",
                                                  "UnitFilePreset",
                                                  "FragmentPath",
                                                  "SourcePath",
                                                  "DropInPaths",
                                                  "NeedDaemonReload",
                                                  "ConditionResult",
                                                  "Result",
                                                  "Transient",
                                                  "Names",
                                                  "WantedBy",
                                                  "Triggers",
                                                  "TriggeredBy",
                                                  "Unit",
                                                  "TimersCalendar",
                                                  "TimersMonotonic",
                                                  "Persistent",
                                                  "AccuracyUSec",
                                                  "RandomizedDelayUSec",
                                                  "FixedRandomDelay",
                                                  "WakeSystem",
                                                  "LastTriggerUSec",
                                                  "NextElapseUSecRealtime",
                                                  "ExecMainStartTimestamp",
                                                  "ExecMainExitTimestamp",
                                                  "ExecMainStatus",
                                                  "IOSchedulingClass",
                                                  "Nice",
                                                  "ExecStart",
                                                  "Conditions",
                                                  "ProtectSystem",
                                                  "ProtectHome",
                                                  "PrivateDevices",
                                                  "PrivateUsers",
                                                  "ReadOnlyPaths",
                                                  "InaccessiblePaths",
                                                  "ReadWritePaths",
                                                  "ActiveEnterTimestamp"};

bool is_wanted(std::string_view name) {
    return std::ranges::find(wanted, name) != wanted.end();
}

// Points in time, in microseconds since 1970; every other *USec is a span.
bool is_timestamp(std::string_view name) {
    return name == "LastTriggerUSec" || name == "NextElapseUSecRealtime" || name.ends_with("Timestamp");
}

std::string render_unsigned(std::string_view name, std::uint64_t value) {
    if (!is_timestamp(name)) return value == UINT64_MAX ? "infinity" : std::to_string(value);
    if (value == 0 || value == UINT64_MAX) return "";  // never
    const auto seconds = static_cast<time_t>(value / 1000000);
    tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    return {text.data(), strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

// One line is one property: a value with a line break cannot be told from two.
std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

template <class T>
int read_basic(sd_bus_message* reply, char type, T& value) {
    return sd_bus_message_read_basic(reply, type, &value);
}

int read_scalar(sd_bus_message* reply, char type, std::string_view name, std::string& text) {
    const char* string = nullptr;
    int number = 0;
    std::uint32_t unsigned32 = 0;
    std::uint64_t unsigned64 = 0;
    int code = 0;
    switch (type) {
        case 's':
        case 'o':
            code = read_basic(reply, type, string);
            if (code > 0) text = one_line(string);
            return code;
        case 'b':
            code = read_basic(reply, type, number);
            text = number != 0 ? "yes" : "no";
            return code;
        case 'i':
            code = read_basic(reply, type, number);
            text = std::to_string(number);
            return code;
        case 'u':
            code = read_basic(reply, type, unsigned32);
            text = std::to_string(unsigned32);
            return code;
        case 't':
            code = read_basic(reply, type, unsigned64);
            text = render_unsigned(name, unsigned64);
            return code;
        default:
            return -EBADMSG;
    }
}

int read_strings(sd_bus_message* reply, std::string& text) {
    int code = sd_bus_message_enter_container(reply, 'a', "s");
    const char* item = nullptr;
    while (code >= 0 && (code = sd_bus_message_read_basic(reply, 's', &item)) > 0)
        text += (text.empty() ? "" : " ") + one_line(item);
    return code < 0 ? code : sd_bus_message_exit_container(reply);
}

// "OnCalendar=weekly" or "OnBootUSec=300000000" (base, value, next elapse), several joined by " ; ".
int read_timers(sd_bus_message* reply, char value_type, std::string& text) {
    const std::string item = std::string("s") + value_type + "t";
    int code = sd_bus_message_enter_container(reply, 'a', ("(" + item + ")").c_str());
    while (code >= 0 && (code = sd_bus_message_enter_container(reply, 'r', item.c_str())) > 0) {
        std::string base;
        std::string value;
        std::string next;
        code = read_scalar(reply, 's', "", base);
        if (code >= 0) code = read_scalar(reply, value_type, "", value);
        if (code >= 0) code = read_scalar(reply, 't', "", next);
        if (code >= 0) code = sd_bus_message_exit_container(reply);
        text += (text.empty() ? "" : " ; ") + base + "=" + value;
    }
    return code < 0 ? code : sd_bus_message_exit_container(reply);
}

// "/sbin/fstrim --verbose" (path, argv, ignore, times, ...): the argv with blanks between, several joined by " ; ".
int read_commands(sd_bus_message* reply, std::string& text) {
    int code = sd_bus_message_enter_container(reply, 'a', "(sasbttttuii)");
    while (code >= 0 && (code = sd_bus_message_enter_container(reply, 'r', "sasbttttuii")) > 0) {
        std::string path;
        std::string words;
        code = read_scalar(reply, 's', "", path);
        if (code >= 0) code = read_strings(reply, words);
        if (code >= 0) code = sd_bus_message_skip(reply, "bttttuii");
        if (code >= 0) code = sd_bus_message_exit_container(reply);
        text += (text.empty() ? "" : " ; ") + words;
    }
    return code < 0 ? code : sd_bus_message_exit_container(reply);
}

// "ConditionPathExists=!/etc/initrd-release" (type, triggering, negated, parameter, state), several joined by " ; ".
int read_conditions(sd_bus_message* reply, std::string& text) {
    int code = sd_bus_message_enter_container(reply, 'a', "(sbbsi)");
    while (code >= 0 && (code = sd_bus_message_enter_container(reply, 'r', "sbbsi")) > 0) {
        std::string type;
        std::string triggering;
        std::string negated;
        std::string parameter;
        code = read_scalar(reply, 's', "", type);
        if (code >= 0) code = read_scalar(reply, 'b', "", triggering);
        if (code >= 0) code = read_scalar(reply, 'b', "", negated);
        if (code >= 0) code = read_scalar(reply, 's', "", parameter);
        if (code >= 0) code = sd_bus_message_skip(reply, "i");
        if (code >= 0) code = sd_bus_message_exit_container(reply);
        text += (text.empty() ? "" : " ; ") + type + "=" + (triggering == "yes" ? "|" : "") +
                (negated == "yes" ? "!" : "") + parameter;
    }
    return code < 0 ? code : sd_bus_message_exit_container(reply);
}

int read_property(sd_bus_message* reply, std::map<std::string, std::string>& into) {
    const char* name = nullptr;
    int code = sd_bus_message_read_basic(reply, 's', &name);
    char type = 0;
    const char* contents = nullptr;
    if (code >= 0) code = sd_bus_message_peek_type(reply, &type, &contents);
    if (code < 0) return code;
    const std::string_view shape(contents == nullptr ? "" : contents);
    const bool is_list = shape == commands_shape || shape == conditions_shape;
    const bool is_readable = shape.size() == 1 || shape == "as" || shape == "a(sst)" || shape == "a(stt)" || is_list;
    if (!is_wanted(name) || !is_readable) return sd_bus_message_skip(reply, "v");
    std::string text;
    code = sd_bus_message_enter_container(reply, 'v', contents);
    if (code < 0) return code;
    if (shape == "as")
        code = read_strings(reply, text);
    else if (shape == commands_shape)
        code = read_commands(reply, text);
    else if (shape == conditions_shape)
        code = read_conditions(reply, text);
    else if (shape.size() > 2)
        code = read_timers(reply, shape[3], text);
    else
        code = read_scalar(reply, shape[0], name, text);
    into[name] = text;
    return code < 0 ? code : sd_bus_message_exit_container(reply);
}

int read_properties(sd_bus_message* reply, std::map<std::string, std::string>& into) {
    int code = sd_bus_message_enter_container(reply, 'a', "{sv}");
    while (code >= 0 && (code = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
        code = read_property(reply, into);
        if (code >= 0) code = sd_bus_message_exit_container(reply);
    }
    return code;
}

std::uint64_t microseconds(Clock::duration span) {
    const auto count = std::chrono::duration_cast<std::chrono::microseconds>(span).count();
    return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

// A manager that is not there: no such name on the bus, or nothing to start it with.
bool is_absent(const sd_bus_error& error) {
    return sd_bus_error_has_name(&error, SD_BUS_ERROR_SERVICE_UNKNOWN) != 0 ||
           sd_bus_error_has_name(&error, SD_BUS_ERROR_NAME_HAS_NO_OWNER) != 0 ||
           sd_bus_error_has_name(&error, "org.freedesktop.DBus.Error.Spawn.ServiceNotFound") != 0 ||
           sd_bus_error_has_name(&error, "org.freedesktop.DBus.Error.Spawn.ExecFailed") != 0;
}

}  // namespace

UnitQuery::UnitQuery(std::string address, std::chrono::milliseconds limit)
    : address_(std::move(address)), limit_(limit) {}

UnitQuery::~UnitQuery() {
    if (bus_ != nullptr) sd_bus_close_unref(bus_);
}

int UnitQuery::connect() {
    if (bus_ != nullptr || broken_ != 0) return broken_;
    if (!libsystemd.is_there()) return broken_ = ENOENT;  // then no manager of its kind runs here
    // The fixed address of the system bus: no environment variable moves it.
    const auto address = address_.empty() ? std::string("unix:path=/run/dbus/system_bus_socket") : address_;
    int code = sd_bus_new(&bus_);
    if (code >= 0) code = sd_bus_set_address(bus_, address.c_str());
    if (code >= 0) code = sd_bus_set_bus_client(bus_, 1);
    if (code >= 0) code = sd_bus_start(bus_);
    const auto deadline = Clock::now() + limit_;
    while (code >= 0 && sd_bus_is_ready(bus_) <= 0) {
        const auto left = microseconds(deadline - Clock::now());
        code = left == 0 ? -ETIMEDOUT : sd_bus_process(bus_, nullptr);
        if (code == 0) code = sd_bus_wait(bus_, left);
    }
    if (code < 0) broken_ = code == -ECONNREFUSED || code == -ENOTCONN || code == -ECONNRESET ? ENOENT : -code;
    return broken_;
}

Answer UnitQuery::answer(const Query& query) {
    if (const int code = connect(); code != 0) return refuse(query, code);
    char* encoded = nullptr;
    if (sd_bus_path_encode("/org/freedesktop/systemd1/unit", query.args.at(0).c_str(), &encoded) < 0)
        return refuse(query, EINVAL);
    const Handle<char, std::free> path(encoded);
    sd_bus_message* raw = nullptr;
    // An empty interface asks for all of them at once; the manager loads the unit by its path.
    int code =
        sd_bus_message_new_method_call(bus_, &raw, manager, path.get(), "org.freedesktop.DBus.Properties", "GetAll");
    const Message call(raw);
    if (code >= 0) code = sd_bus_message_append(call.get(), "s", "");
    sd_bus_error error{};
    sd_bus_message* raw_reply = nullptr;
    if (code >= 0) code = sd_bus_call(bus_, call.get(), microseconds(limit_), &error, &raw_reply);
    const Message reply(raw_reply);
    if (is_absent(error)) code = -ENOENT;
    sd_bus_error_free(&error);
    if (code == -ETIMEDOUT || code == -ENOTCONN || code == -ECONNRESET) broken_ = -code;  // not once more for each unit
    if (code < 0) return refuse(query, -code);
    std::map<std::string, std::string> properties;
    code = read_properties(reply.get(), properties);
    if (code < 0) return refuse(query, -code);
    return Answer{render_properties(properties), "", {}};
}

// Its object is gone as soon as it has ended, however it did.
bool UnitQuery::is_job_there(const std::string& job) {
    sd_bus_message* raw = nullptr;
    int code =
        sd_bus_message_new_method_call(bus_, &raw, manager, job.c_str(), "org.freedesktop.DBus.Properties", "Get");
    const Message call(raw);
    if (code >= 0) code = sd_bus_message_append(call.get(), "ss", "org.freedesktop.systemd1.Job", "State");
    sd_bus_error error{};
    if (code >= 0) code = sd_bus_call(bus_, call.get(), microseconds(limit_), &error, &raw);
    const Message reply(code >= 0 ? raw : nullptr);
    sd_bus_error_free(&error);
    return code >= 0;
}

// A job ends with the unit active, inactive or failed.
int UnitQuery::start(const std::string& unit, bool stop) {
    if (const int code = connect(); code != 0) return code;
    sd_bus_message* raw = nullptr;
    int code = sd_bus_message_new_method_call(bus_, &raw, manager, "/org/freedesktop/systemd1",
                                              "org.freedesktop.systemd1.Manager", stop ? "StopUnit" : "StartUnit");
    const Message call(raw);
    if (code >= 0) code = sd_bus_message_append(call.get(), "ss", unit.c_str(), "replace");
    sd_bus_error error{};
    if (code >= 0) code = sd_bus_call(bus_, call.get(), microseconds(limit_), &error, &raw);
    const Message reply(code >= 0 ? raw : nullptr);
    if (is_absent(error) || sd_bus_error_has_name(&error, "org.freedesktop.systemd1.NoSuchUnit") != 0) code = -ENOENT;
    sd_bus_error_free(&error);
    if (code < 0) return -code;
    const char* job = nullptr;
    if (sd_bus_message_read_basic(reply.get(), SD_BUS_TYPE_OBJECT_PATH, &job) < 0 || job == nullptr) return EPROTO;
    const auto deadline = Clock::now() + std::chrono::seconds(90);
    while (Clock::now() < deadline) {
        // While the job is queued behind others, the unit is still as it was.
        if (is_job_there(job)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            continue;
        }
        const auto answered = answer({QueryKind::unit, {unit}});
        if (answered.refusal) return answered.refusal->code;
        const auto state = parse_properties(answered.text)["ActiveState"];
        if (state == "failed") return ECANCELED;
        if (state == (stop ? "inactive" : "active")) return 0;
        if (!stop && state == "inactive") return ECANCELED;  // a condition was not met, or it ended at once
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return ETIMEDOUT;
}

int UnitQuery::reload() {
    if (const int code = connect(); code != 0) return code;
    sd_bus_message* raw = nullptr;
    int code = sd_bus_message_new_method_call(bus_, &raw, manager, "/org/freedesktop/systemd1",
                                              "org.freedesktop.systemd1.Manager", "Reload");
    const Message call(raw);
    sd_bus_error error{};
    // Generators run in it; the manager itself gives them 90 seconds.
    if (code >= 0) code = sd_bus_call(bus_, call.get(), microseconds(std::chrono::seconds(100)), &error, nullptr);
    if (is_absent(error)) code = -ENOENT;
    sd_bus_error_free(&error);
    return code < 0 ? -code : 0;
}

}  // namespace storpol
