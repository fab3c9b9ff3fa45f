// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/thin_pool.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "engine/host/host.h"
#include "tests/resources/domain_run.h"

namespace storpol {
namespace {

constexpr const char* address = R"(thin-pool["vg-a/pool"].discards)";
constexpr const char* mapping = "vg--a-pool-tpool";

// vg-a/pool, active, over a linear volume on sda.
MemoryHost machine(const std::string& metadata, const std::string& status) {
    MemoryHost host;
    host.put_file("/sys/block/sda/dev", "8:0\n");
    host.put_file("/sys/block/sda/queue/discard_max_bytes", "2147450880\n");
    host.put_file("/sys/block/dm-1/dev", "253:1\n");
    host.put_file("/sys/block/dm-1/dm/name", "vg--a-pool_tdata\n");
    host.put_file("/sys/block/dm-1/dm/uuid", "LVM-abc-tdata\n");
    host.put_file("/sys/block/dm-1/queue/discard_max_bytes", "2147450880\n");
    host.put_link("/sys/block/dm-1/slaves/sda", "../../../../pci0/block/sda");
    host.put_file("/sys/block/dm-2/dev", "253:2\n");
    host.put_file("/sys/block/dm-2/dm/name", std::string(mapping) + "\n");
    host.put_file("/sys/block/dm-2/dm/uuid", "LVM-abc-tpool\n");
    host.put_link("/sys/block/dm-2/slaves/dm-1", "../../../virtual/block/dm-1");
    host.put({QueryKind::dm_status, {mapping}}, {"features=" + status + "\n", "", {}});
    host.put({QueryKind::lvs, {}},
             {"vg-a/root type=linear\nvg-a/pool type=thin-pool discards=" + metadata + " data-percent=6.11\n", "", {}});
    return host;
}

DomainRun run(const std::string& wanted, Host& host) {
    return {make_thin_pool_resource(), "[discard]\nlvm-thin = \"" + wanted + "\"\n", host};
}

TEST(ThinPool, OneChangeBringsBothPlanes) {
    auto host = machine("nopassdown", "no_discard_passdown");
    const auto it = run("passdown", host);
    EXPECT_EQ(it.verdict(address, Plane::live), "drift");
    EXPECT_EQ(it.verdict(address, Plane::persisted), "drift");
    ASSERT_EQ(it.evaluation.plan.actions.size(), 1U);
    const auto* change = it.action(Verb::change_thin_pool, "vg-a/pool");
    ASSERT_NE(change, nullptr);
    EXPECT_EQ(change->serves.size(), 2U);
    EXPECT_EQ(std::get<ChangeThinPool>(change->step), (ChangeThinPool{"vg-a/pool", "passdown"}));
}

TEST(ThinPool, PassdownThatTheKernelTurnedOffComesBackWithTheTable) {
    auto host = machine("passdown", "no_discard_passdown");
    const auto it = run("passdown", host);
    EXPECT_EQ(it.verdict(address, Plane::live), "drift");
    EXPECT_EQ(it.verdict(address, Plane::persisted), "in-sync");
    const auto* reload = it.action(Verb::reload_table, mapping);
    ASSERT_NE(reload, nullptr);
    EXPECT_EQ(std::get<ReloadTable>(reload->step).dm_uuid, "LVM-abc-tpool");
}

TEST(ThinPool, NothingHelpsWhileTheDataDeviceIsDeaf) {
    auto host = machine("passdown", "no_discard_passdown");
    host.put_file("/sys/block/dm-1/queue/discard_max_bytes", "0\n");
    const auto it = run("passdown", host);
    EXPECT_TRUE(it.evaluation.plan.actions.empty());
    EXPECT_NE(it.cannot(address, Plane::live).find("vg--a-pool_tdata"), std::string::npos);
}

TEST(ThinPool, ActivePoolIsNeverChangedToOrFromIgnore) {
    auto host = machine("ignore", "ignore_discard");
    const auto from = run("passdown", host);
    EXPECT_TRUE(from.evaluation.plan.actions.empty());
    EXPECT_NE(from.cannot(address, Plane::persisted).find("lvchange --discards passdown vg-a/pool"), std::string::npos);
    auto other = machine("passdown", "discard_passdown");
    EXPECT_TRUE(run("ignore", other).evaluation.plan.actions.empty());
}

TEST(ThinPool, WhatCannotBeAskedIsUnknownAndLeftAlone) {
    auto host = machine("passdown", "discard_passdown");
    host.refuse({QueryKind::lvs, {}}, ENOENT);
    host.refuse({QueryKind::dm_status, {mapping}}, EACCES);
    const auto it = run("nopassdown", host);
    EXPECT_EQ(it.verdict(address, Plane::live), "unknown");
    EXPECT_EQ(it.verdict(address, Plane::persisted), "unknown");
    EXPECT_TRUE(it.evaluation.plan.actions.empty());
}

TEST(ThinPool, PoolThatIsNotActiveHasItsMetadataAlone) {
    MemoryHost host;
    host.put({QueryKind::lvs, {}}, {"vg/p type=thin-pool discards=ignore\n", "", {}});
    const auto it = run("passdown", host);
    EXPECT_EQ(it.verdict(R"(thin-pool["vg/p"].discards)", Plane::live), "absent");
    EXPECT_NE(it.action(Verb::change_thin_pool, "vg/p"), nullptr) << "an inactive pool changes from ignore too";
}

}  // namespace
}  // namespace storpol
