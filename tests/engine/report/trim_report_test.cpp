// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/report/trim_report.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/engine/report/schema_check.h"

namespace storpol {
namespace {

TrimEntry entry(TrimOutcome outcome) {
    TrimEntry entry;
    entry.target = "/home";
    entry.fstype = "ext4";
    entry.source = "/dev/sda2";
    entry.disks = {"sda"};
    entry.discards = "reaches the device";
    entry.pieces = 80;
    entry.run.outcome = outcome;
    entry.run.bytes = 1288490188;
    entry.run.took = std::chrono::milliseconds(2600);
    entry.run.discards = 812;
    entry.run.discarded_bytes = 1288490188;
    if (outcome != TrimOutcome::trimmed) entry.run.why = "the \x1b reason";
    return entry;
}

TrimReport report(TrimOutcome outcome) {
    TrimReport report;
    report.entries = {entry(outcome)};
    return report;
}

TEST(TrimReport, ALineIsOfTheFormOfFstrim) {
    EXPECT_EQ(
        render_trim_text(report(TrimOutcome::trimmed), {}),
        "/home: 1.2 GiB (1288490188 bytes) trimmed on /dev/sda2 in 2.6 s, 812 discards of 1.2 GiB counted by sda\n");
}

TEST(TrimReport, EveryOtherOutcomeHasItsReasonPrintable) {
    for (const auto outcome :
         {TrimOutcome::interrupted, TrimOutcome::failed, TrimOutcome::lost, TrimOutcome::skipped}) {
        const auto text = render_trim_text(report(outcome), {});
        EXPECT_NE(text.find("the \\x1b reason"), std::string::npos) << text;
        EXPECT_EQ(text.find(" bytes) trimmed on"), std::string::npos) << "nobody takes it for a success: " << text;
    }
}

TEST(TrimReport, ExitCodesTellSuccessFromFailure) {
    EXPECT_EQ(exit_code_of({}), 0);
    EXPECT_EQ(exit_code_of(report(TrimOutcome::trimmed)), 0);
    EXPECT_EQ(exit_code_of(report(TrimOutcome::skipped)), 0);
    EXPECT_EQ(exit_code_of(report(TrimOutcome::interrupted)), 2);
    EXPECT_EQ(exit_code_of(report(TrimOutcome::failed)), 2);
    EXPECT_EQ(exit_code_of(report(TrimOutcome::lost)), 2);
}

TEST(TrimReport, JsonIsAsTheSchemaSays) {
    std::ifstream file(std::string(STORPOL_SOURCE_DIR) + "/docs/storpol-report.schema.json");
    std::stringstream schema;
    schema << file.rdbuf();
    const auto root = nlohmann::json::parse(schema.str());
    for (const bool is_dry : {false, true}) {
        for (const auto outcome : {TrimOutcome::trimmed, TrimOutcome::interrupted, TrimOutcome::failed,
                                   TrimOutcome::lost, TrimOutcome::skipped}) {
            auto one = report(outcome);
            one.entries[0].is_dry = is_dry;
            one.findings.push_back({"trim-record-unreadable", Severity::warning, "not JSON", "/x"});
            const auto text = render_trim_json(one, {"0.1.0", "trim", "host1", "live", ""});
            const auto wrong = test::SchemaChecker(root).check(nlohmann::json::parse(text));
            EXPECT_TRUE(wrong.empty()) << wrong.front();
        }
    }
}

TEST(TrimReport, ProgressSaysHowMuchIsLeft) {
    EXPECT_EQ(render_trim_progress("/home", 0.43, std::chrono::seconds(12), false), "/home: 43 %, about 12.0 s left");
    EXPECT_EQ(render_trim_progress("/home", 2, std::chrono::seconds(0), true),
              "/home: 100 %, keeping out of the way of others");
}

}  // namespace
}  // namespace storpol
