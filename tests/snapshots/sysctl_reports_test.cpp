// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "tests/snapshots/golden.h"
#include "tests/snapshots/sysctl_machine.h"

namespace storpol::test {
namespace {

constexpr const char* laptop =
    "version = 1\n"
    "\n"
    "[vm]\n"
    "swappiness = 150\n"
    "page-cluster = 0\n"
    "vfs_cache_pressure = { at-least = 1 }\n";

class Snapshots : public testing::Test {
  protected:
    Snapshots() { put_debian(host); }

    MemoryHost host;
};

using SysctlReports = Snapshots;

TEST_F(SysctlReports, PlanOfAFreshHost) {
    const Seen result = look(host, laptop);
    expect_golden("plan-fresh.txt", render_plan_text(result.evaluation, head("plan"), TextStyle{}));
}

TEST_F(SysctlReports, PlanOfAFreshHostAsJson) {
    const Seen result = look(host, laptop);
    expect_golden("plan-fresh.json", render_json(result.evaluation, head("plan")));
}

TEST_F(SysctlReports, PlanVerboseInColour) {
    const Seen result = look(host, laptop);
    TextStyle style;
    style.color = true;
    style.verbose = true;
    expect_golden("plan-verbose-colour.txt", render_plan_text(result.evaluation, head("plan"), style));
}

TEST_F(SysctlReports, PlanInSync) {
    host.put_file("/proc/sys/vm/swappiness", "150\n");
    host.put_file("/etc/sysctl.d/99-local.conf", "vm.swappiness = 150\n");
    const Seen result = look(host, "version = 1\n[vm]\nswappiness = 150\n");
    expect_golden("plan-in-sync.txt", render_plan_text(result.evaluation, head("plan"), TextStyle{}));
}

TEST_F(SysctlReports, DriftSinceTheLastApply) {
    host.put_file("/etc/sysctl.d/zz-storpol.conf", "vm.swappiness = 150\n");
    Record record;
    record.applied_at = "2026-11-29T12:00:00Z";
    record.applied = {{{"sysctl[\"vm.swappiness\"]", Plane::live}, "", Is{std::int64_t{150}, 0}, "150"},
                      {{"sysctl[\"vm.swappiness\"]", Plane::persisted}, "", Is{std::int64_t{150}, 0}, "150"}};
    EvaluateOptions options;
    options.record = &record;
    const Seen result = look(host, "version = 1\n[vm]\nswappiness = 150\n", options);
    expect_golden("drift-moved.txt", render_drift_text(result.evaluation, head("drift"), TextStyle{}));
}

TEST_F(SysctlReports, DriftThatIsAcceptedAndAnAcceptThatMatchesNothing) {
    const Seen result =
        look(host,
             "version = 1\n[vm]\nswappiness = 150\n"
             "[[accept]]\naddress = 'sysctl[\"vm.swappiness\"]'\nuntil = 2027-03-01\nreason = \"tested in March\"\n"
             "[[accept]]\naddress = 'sysctl[\"vm.zone*\"]'\nuntil = 2027-03-01\nreason = \"nothing\"\n");
    expect_golden("drift-accepted.txt", render_drift_text(result.evaluation, head("drift"), TextStyle{}));
}

TEST_F(SysctlReports, UnreadableHostIsUnknownWithReasons) {
    host.refuse({QueryKind::file, {"/proc/sys/vm/swappiness"}}, 13);
    host.refuse({QueryKind::file, {"/etc/sysctl.d/99-local.conf"}}, 13);
    const Seen result = look(host, "version = 1\n[vm]\nswappiness = 150\n");
    expect_golden("drift-unknown.txt", render_drift_text(result.evaluation, head("drift"), TextStyle{}));
}

TEST_F(SysctlReports, UnreadableHostAsJson) {
    host.refuse({QueryKind::file, {"/proc/sys/vm/swappiness"}}, 13);
    const Seen result = look(host, "version = 1\n[vm]\nswappiness = 150\n");
    expect_golden("drift-unknown.json", render_json(result.evaluation, head("drift")));
}

TEST_F(SysctlReports, ExplainOfOneSetting) {
    const Seen result = look(host, laptop);
    expect_golden("explain-swappiness.txt",
                  render_explain_text(selected(result.evaluation, "vm.swappiness"), result.loaded.policy, TextStyle{}));
}

TEST_F(SysctlReports, ImageHasNoLivePlane) {
    EvaluateOptions options;
    options.image = true;
    const Seen result = look(host, laptop, options);
    expect_golden("plan-image.txt", render_plan_text(result.evaluation, head("plan"), TextStyle{}));
}

TEST_F(SysctlReports, ControlBytesOfTheHostAreEscaped) {
    host.put_file("/etc/sysctl.d/99-local.conf", "vm.swappiness = 10\x1b[2J\n");
    const Seen result = look(host, "version = 1\n[vm]\nswappiness = 150\n");
    expect_golden("drift-hostile.txt", render_drift_text(result.evaluation, head("drift"), TextStyle{}));
}

constexpr const char* wrong =
    "version = 1\n"
    "\n"
    "[vm]\n"
    "swapiness = 150\n"
    "page-cluster = \"zero\"\n"
    "swappiness = 900\n"
    "\n"
    "[zram]\n"
    "size = \"50%\"\n";

TEST(PolicyErrors, AllInOneRun) {
    MemoryHost host;
    expect_golden("errors.txt", render_errors_text(look(host, wrong).loaded.errors));
}

TEST(PolicyErrors, AllInOneRunAsJson) {
    MemoryHost host;
    expect_golden("errors.json", render_json(look(host, wrong).loaded.errors, head("validate")));
}

TEST(PolicyErrors, ASyntaxErrorIsTheOnlyOneOfItsFile) {
    MemoryHost host;
    expect_golden("errors-syntax.txt",
                  render_errors_text(look(host, "version = 1\n[vm\nswappiness = 150\n").loaded.errors));
}

TEST(PolicyErrors, AContradictionNamesBothLines) {
    MemoryHost host;
    const Seen result = look(host, "version = 1\n[vm]\ndirty_ratio = 10\ndirty_bytes = \"256MiB\"\n");
    EXPECT_TRUE(result.loaded.errors.empty());
    expect_golden("errors-contradiction.txt", render_errors_text(result.evaluation.errors));
}

}  // namespace
}  // namespace storpol::test
