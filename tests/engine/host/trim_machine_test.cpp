// SPDX-License-Identifier: GPL-3.0-or-later
// What a trim asks of the machine around it: the supply, other trims, the journal, signals, the call itself.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "engine/host/trim_call.h"
#include "engine/host/trim_conditions.h"
#include "engine/host/trim_journal.h"
#include "engine/host/trim_stop.h"

namespace storpol {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void put_supply(MemoryHost& host, const std::string& name, const std::map<std::string, std::string>& attributes) {
    for (const auto& [key, value] : attributes)
        host.put_file("/sys/class/power_supply/" + name + "/" + key, value + "\n");
}

TEST(OnBattery, AMachineWithoutSuppliesIsPluggedIn) {
    MemoryHost host;
    EXPECT_FALSE(is_on_battery(host));
}

TEST(OnBattery, ADischargingBatteryWithoutMainsIs) {
    MemoryHost host;
    put_supply(host, "BAT0", {{"type", "Battery"}, {"status", "Discharging"}});
    EXPECT_TRUE(is_on_battery(host));
    put_supply(host, "AC", {{"type", "Mains"}, {"online", "0"}});
    EXPECT_TRUE(is_on_battery(host));
    put_supply(host, "AC", {{"type", "Mains"}, {"online", "1"}});
    EXPECT_FALSE(is_on_battery(host));
}

TEST(OnBattery, ChargedByUsbItIsNot) {
    MemoryHost host;
    put_supply(host, "BAT0", {{"type", "Battery"}, {"status", "Discharging"}});
    put_supply(host, "ucsi-source-psy-1", {{"type", "USB"}, {"online", "1"}});
    EXPECT_FALSE(is_on_battery(host));
}

TEST(OnBattery, TheBatteryOfAMouseDoesNotCount) {
    MemoryHost host;
    put_supply(host, "hidpp_battery_0", {{"type", "Battery"}, {"status", "Discharging"}, {"scope", "Device"}});
    EXPECT_FALSE(is_on_battery(host));
}

TEST(OtherTrim, SeesAProcessAndAUnit) {
    MemoryHost host;
    host.put_file("/proc/1/comm", "systemd\n");
    host.put_file("/proc/self/cgroup", "0::/user.slice\n");
    EXPECT_EQ(other_trim(host), "");
    host.put_file("/proc/812/comm", "fstrim\n");
    host.put({QueryKind::stat, {"/proc/812"}},
             {"type=dir\nmode=0555\nuid=65534\ngid=65534\nsize=0\nnlink=9\n", "", {}});
    EXPECT_EQ(other_trim(host), "") << "anybody may call a program so";
    host.put({QueryKind::stat, {"/proc/812"}}, {"type=dir\nmode=0555\nuid=0\ngid=0\nsize=0\nnlink=9\n", "", {}});
    EXPECT_EQ(other_trim(host), "fstrim (process 812)");
    host.put(Query{QueryKind::unit, {"fstrim.service"}}, Answer{"ActiveState=activating\n", "", {}});
    EXPECT_EQ(other_trim(host), "fstrim.service");
}

TEST(OtherTrim, TheUnitThatRunsThisProcessIsNobodyElse) {
    MemoryHost host;
    host.put_file("/proc/self/cgroup", "0::/system.slice/fstrim.service\n");
    host.put(Query{QueryKind::unit, {"fstrim.service"}}, Answer{"ActiveState=activating\n", "", {}});
    EXPECT_EQ(other_trim(host), "");
}

TEST(TrimJournal, ValuesWithNewlinesCarryTheirLength) {
    EXPECT_EQ(render_journal_entry({{"MESSAGE", "a"}, {"PRIORITY", "6"}}), "MESSAGE=a\nPRIORITY=6\n");
    EXPECT_EQ(render_journal_entry({{"A", "b\nc"}}), std::string("A\n\3\0\0\0\0\0\0\0b\nc\n", 14));
}

TEST(TrimJournal, SendsOneDatagram) {
    const auto path = "/tmp/storpol-journal-" + std::to_string(getpid());
    EXPECT_FALSE(send_to_journal({{"MESSAGE", "a"}}, path)) << "nobody listens";
    const Fd socket_fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_TRUE(send_to_journal({{"MESSAGE", "a"}}, path));
    std::string text(100, '\0');
    const auto size = recv(socket_fd.get(), text.data(), text.size(), MSG_DONTWAIT);
    std::filesystem::remove(path);
    ASSERT_GT(size, 0);
    EXPECT_EQ(text.substr(0, static_cast<std::size_t>(size)), "MESSAGE=a\n");
}

TEST(StopSignals, EndAWaitAtOnce) {
    const StopSignals stop;
    EXPECT_FALSE(stop.asked());
    EXPECT_TRUE(stop.wait(milliseconds(5)));
    std::raise(SIGTERM);
    EXPECT_TRUE(stop.asked());
    EXPECT_EQ(stop.name(), "SIGTERM");
    const auto began = monotonic_now();
    EXPECT_FALSE(stop.wait(seconds(30)));
    EXPECT_LT(monotonic_now() - began, seconds(5));
}

TEST(FitrimCall, AnswersTheKernelsRefusal) {
    const StopSignals stop;
    const Fd fd(open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(fd);
    TrimRequest request;
    request.range = {0, 1 << 30};
    request.limit = seconds(20);
    const auto call = call_fitrim(fd.get(), request, stop);
    EXPECT_EQ(call.code, ENOTTY);
    EXPECT_EQ(call.bytes, 0U);
    EXPECT_FALSE(call.is_stuck);
    EXPECT_FALSE(call.slept);
}

TEST(OpenMounted, KnowsTheMountByItsId) {
    const auto wrong = open_mounted("/proc", "99999999");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().kind, ErrorKind::changed);
    const auto gone = open_mounted("/no/such/place", "1");
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().kind, ErrorKind::no_such_file);
}

}  // namespace
}  // namespace storpol
