// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/unit_query.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>

#include <cerrno>
#include <cstring>

#include "engine/host/host.h"
#include "tests/engine/host/temp_tree.h"

namespace storpol {
namespace {

const Query timer{QueryKind::unit, {"fstrim.timer"}};

int listen_at(const std::string& path) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(fd, 1), 0);
    return fd;
}

// What a manager of systemd 252 answers for fstrim.timer, shortened, and one property that is not asked for.
int answer(sd_bus_message* message, void*, sd_bus_error*) {
    if (sd_bus_message_is_method_call(message, "org.freedesktop.DBus", "Hello"))
        return sd_bus_reply_method_return(message, "s", ":1.1") < 0 ? -1 : 1;
    if (sd_bus_message_is_method_call(message, "org.freedesktop.systemd1.Manager", "Reload"))
        return sd_bus_reply_method_return(message, "") < 0 ? -1 : 1;
    if (!sd_bus_message_is_method_call(message, "org.freedesktop.DBus.Properties", "GetAll")) return 0;
    const bool is_right =
        std::strcmp(sd_bus_message_get_path(message), "/org/freedesktop/systemd1/unit/fstrim_2etimer") == 0;
    const int code = sd_bus_reply_method_return(
        message, "a{sv}", 11, "Id", "s", is_right ? "fstrim.timer" : "wrong.path", "ActiveState", "s", "active",
        "NeedDaemonReload", "b", 0, "DropInPaths", "as", 2, "/etc/a.conf", "/etc/b.conf", "LastTriggerUSec", "t",
        UINT64_C(1764374400000000), "NextElapseUSecRealtime", "t", UINT64_C(0), "AccuracyUSec", "t",
        UINT64_C(3600000000), "TimersCalendar", "a(sst)", 1, "OnCalendar", "weekly", UINT64_C(1), "ExecStart",
        "a(sasbttttuii)", 1, "/sbin/fstrim", 2, "/sbin/fstrim", "--verbose", 0, UINT64_C(1), UINT64_C(2), UINT64_C(3),
        UINT64_C(4), 5U, 1, 0, "Conditions", "a(sbbsi)", 1, "ConditionPathExists", 0, 1, "/etc/initrd-release", 1,
        "NotAsked", "a{ss}", 1, "a", "b");
    return code < 0 ? -1 : 1;
}

// Serves one connection, then ends.
pid_t serve(int listener) {
    const pid_t child = fork();
    if (child != 0) return child;
    alarm(20);
    const int fd = accept(listener, nullptr, nullptr);
    sd_bus* bus = nullptr;
    sd_id128_t id{};
    id.bytes[0] = 1;
    if (sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, fd, fd) < 0 || sd_bus_set_server(bus, 1, id) < 0 ||
        sd_bus_add_filter(bus, nullptr, answer, nullptr) < 0 || sd_bus_start(bus) < 0)
        _exit(1);
    for (;;) {
        const int code = sd_bus_process(bus, nullptr);
        if (code < 0) _exit(0);
        if (code == 0 && sd_bus_wait(bus, UINT64_MAX) < 0) _exit(0);
    }
}

TEST(UnitQuery, PropertiesAsLines) {
    const TempTree tree;
    const int listener = listen_at(tree.at("/bus"));
    const pid_t server = serve(listener);
    {
        UnitQuery units("unix:path=" + tree.at("/bus"));
        const auto found = units.answer(timer);
        ASSERT_FALSE(found.refusal) << to_text(*found.refusal);
        EXPECT_EQ(parse_properties(found.text),
                  (std::map<std::string, std::string>{{"Id", "fstrim.timer"},
                                                      {"ActiveState", "active"},
                                                      {"NeedDaemonReload", "no"},
                                                      {"DropInPaths", "/etc/a.conf /etc/b.conf"},
                                                      {"LastTriggerUSec", "2025-11-29T00:00:00Z"},
                                                      {"NextElapseUSecRealtime", ""},
                                                      {"AccuracyUSec", "3600000000"},
                                                      {"TimersCalendar", "OnCalendar=weekly"},
                                                      {"ExecStart", "/sbin/fstrim --verbose"},
                                                      {"Conditions", "ConditionPathExists=!/etc/initrd-release"}}));
        EXPECT_FALSE(units.answer(timer).refusal);
        EXPECT_EQ(units.reload(), 0);
    }
    kill(server, SIGKILL);
    waitpid(server, nullptr, 0);
    close(listener);
}

TEST(UnitQuery, AnAbsentBusIsNoManager) {
    const TempTree tree;
    UnitQuery units("unix:path=" + tree.at("/none"));
    const auto found = units.answer(timer);
    ASSERT_TRUE(found.refusal);
    EXPECT_EQ(found.refusal->code, ENOENT);
    EXPECT_EQ(units.reload(), ENOENT);
}

TEST(UnitQuery, AClosedBusIsNoManagerEither) {
    const TempTree tree;
    close(listen_at(tree.at("/bus")));
    UnitQuery units("unix:path=" + tree.at("/bus"));
    const auto found = units.answer(timer);
    ASSERT_TRUE(found.refusal);
    EXPECT_EQ(found.refusal->code, ENOENT) << to_text(*found.refusal);
}

TEST(UnitQuery, AHangingBusCostsItsTimeOnce) {
    const TempTree tree;
    const int listener = listen_at(tree.at("/bus"));  // takes connections and never says a word
    UnitQuery units("unix:path=" + tree.at("/bus"), std::chrono::milliseconds(200));
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i) {
        const auto found = units.answer(timer);
        ASSERT_TRUE(found.refusal);
        EXPECT_EQ(found.refusal->code, ETIMEDOUT) << to_text(*found.refusal);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
    close(listener);
}

}  // namespace
}  // namespace storpol
